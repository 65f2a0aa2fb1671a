// FaultBuilder: takes a fault together, field by field, and checks it as a whole. Private to the folder.
#pragma once

#include <array>
#include <string_view>

#include "replayer/plan_language.h"

namespace inquest::replayer {

// Errors have no place yet: the parser knows it.
class FaultBuilder {
 public:
  explicit FaultBuilder(FaultKind kind);

  // A field by its name, as in YAML.
  Result<void> set(std::string_view name, std::string_view value);
  // A word of a flag: name=value, or one that says by itself what it is (pods, DELETED, @43, +12s, lost).
  Result<void> word(std::string_view word);
  // Words that blanks separate.
  Result<void> words(std::string_view text);

  // Errors: what is missing, contradicts itself or can never fire.
  Result<Fault> build();

 private:
  const FieldSpec* find(std::string_view name) const;
  Result<void> set(const FieldSpec& field, std::string_view value);

  const KindSpec& kind_;
  Fault fault_;
  std::array<const FieldSpec*, kFieldIds> said_{};  // by Says: who said it
};

}  // namespace inquest::replayer
