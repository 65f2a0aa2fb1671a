// Redactor: takes secrets out of bodies, in place: only the bytes of a secret value are replaced, by kRedacted; every
// other byte stays as it came.
//
// What counts as secret: `value` of the entries of any `env` list (in pods and in templates; valueFrom stays, for it is
// only a reference); annotations whose name matches a pattern; data and stringData of Secrets, also within lists; the
// values of keys named token, password, authorization and their like (secret_text.h), and strings that begin with
// "Bearer "; the ids of credentials that an audit event names; and in any text, be it a message, a path, an argument or
// a name, what secret_text.h knows by its look: there only the secret is cut, by [redacted] without quotes.
// Empty strings, nulls and what is redacted already stay. Bytes that are no JSON are read leniently and lose more
// rather than less: any value of a key named value, and everything behind a key data or stringData.
// Limits: a secret that neither its place nor its look betrays (a bare word among the arguments of a command, the value
// of a label, of a ConfigMap) is not recognised.
// Linear in the body; memory in the number of secrets. Not thread-safe; a result is valid until the next call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace inquest::recorder {

inline constexpr std::string_view kRedacted = "\"[redacted]\"";  // as it stands in a body
inline constexpr std::string_view kRedactedText = "[redacted]";  // within a string of it, or in a text

enum class Redact : uint8_t { kOn, kOff };

struct RedactRules {
  Redact redact = Redact::kOn;
  // Patterns with * and ?, beside the one that is always there (last-applied-configuration repeats whole objects).
  std::vector<std::string> annotations;
};

enum class SecretKind : uint8_t { kEnv, kAnnotation, kSecret, kToken, kText };
inline constexpr std::array<const char*, 5> kSecretKinds = {"env values", "annotations", "values of Secrets", "tokens",
                                                            "secrets in texts"};

struct SecretCut {  // of a body
  const char* begin;
  const char* end;
  SecretKind kind;
};

class Redactor {
 public:
  explicit Redactor(const RedactRules& rules);

  // The body without its secrets: the very same view if it has none.
  std::string_view redact(std::string_view body);

  // The same of a text that is no JSON: a path, a message, a name. Valid until the next text. Not counted: it repeats
  // what a body or a line says.
  std::string_view redact_text(std::string_view text);

  // The same of a piece of a list: whole objects, with commas before, between or behind them, perhaps the end of the
  // list.
  std::string_view redact_items(std::string_view piece);

  // The form of a line, without the text of its body, which stood at `hole` (recorder/envelope.h): `hole` is moved
  // along. Empty if a secret reaches over the hole: the form is then lost.
  std::string_view redact_form(std::string_view form, size_t& hole);

  // So far, by SecretKind.
  const std::array<uint64_t, kSecretKinds.size()>& counts() const { return counts_; }
  bool on() const { return on_; }

 private:
  std::vector<SecretCut> find(std::string_view body) const;
  std::vector<SecretCut> find_in_items(std::string_view piece) const;
  std::string_view apply(std::string_view body, const std::vector<SecretCut>& cuts);

  bool on_;
  std::vector<std::string> patterns_;
  std::array<uint64_t, kSecretKinds.size()> counts_{};
  std::string out_, line_, text_;
};

// Writes the trace `in` again as `out`, redacted by these rules: the same records under the same numbers. What was
// redacted is counted in its notes. Errors: as of reading, writing; `out` exists already and is not to be replaced.
struct RedactedTrace {
  std::array<uint64_t, kSecretKinds.size()> counts{};
};
enum class Existing : uint8_t { kRefuse, kReplace };
Result<RedactedTrace> redact_trace(const std::string& in, const std::string& out, const RedactRules& rules,
                                   Existing existing = Existing::kRefuse);

}  // namespace inquest::recorder
