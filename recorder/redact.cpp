#include "recorder/redact.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>

#include "base/json_text.h"
#include "recorder/secret_text.h"

namespace inquest::recorder {
namespace {

constexpr std::string_view kAlways = "kubectl.kubernetes.io/last-applied-configuration";
constexpr int kMaxDepth = 200;

using Cut = SecretCut;

bool matches(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return pattern == name || (pattern.find_first_of("*?[") != std::string::npos &&
                               ::fnmatch(pattern.c_str(), std::string(name).c_str(), 0) == 0);
  });
}

// Of an audit event: in user.extra, a list; in annotations.
bool is_credential(std::string_view key) {
  return key == "authentication.kubernetes.io/credential-id" ||
         key == "authentication.kubernetes.io/issued-credential-id";
}

std::string_view replacement(const Cut& cut) { return cut.kind == SecretKind::kText ? kRedactedText : kRedacted; }

// In order, none within another; those of texts beside those of whole values.
void add_texts(std::string_view body, std::vector<Cut>& cuts) {
  const size_t values = cuts.size();
  std::vector<TextSecret> texts;
  find_text_secrets(body, texts);
  for (const TextSecret& text : texts) cuts.push_back({text.begin, text.end, SecretKind::kText});
  if (values == 0) return;  // they come in order
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const Cut& cut : cuts) {
    if (kept > 0 && cut.begin < cuts[kept - 1].end) {
      Cut& last = cuts[kept - 1];
      last.end = std::max(last.end, cut.end);
      if (cut.kind != SecretKind::kText) last.kind = cut.kind;
    } else {
      cuts[kept++] = cut;
    }
  }
  cuts.resize(kept, cuts.front());
}

// One body, walked once; false at the first thing that is no JSON.
class Walk {
 public:
  Walk(std::string_view body, const std::vector<std::string>& patterns, std::vector<Cut>& cuts)
      : p_(body.data()), end_(p_ + body.size()), patterns_(&patterns), cuts_(&cuts) {}

  bool document() {
    blanks();
    if (p_ == end_ || *p_ != '{' || !value(Role::kPlain)) return false;
    commit(0);  // of no kind at all: better redacted
    blanks();
    return p_ == end_;
  }

  // Values one behind the other, with commas; a piece of a list.
  bool items() {
    for (;;) {
      blanks();
      if (p_ < end_ && *p_ == ',') {
        ++p_;
        continue;
      }
      if (p_ == end_ || *p_ != '{') break;
      if (!value(Role::kPlain)) return false;
      commit(0);
    }
    return p_ == end_ || *p_ == ']';
  }

 private:
  enum class Role : uint8_t { kPlain, kEnvList, kEnvEntry, kAnnotations, kData, kPatch, kPatchEntry };
  enum class Kind : uint8_t { kNone, kSecret, kOther };

  void blanks() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
  }

  // escaped_: whether `text` says something else than it reads.
  bool string(std::string_view& text) {
    const char* close = end_of_string(p_ + 1, end_, escaped_);
    if (close == nullptr) return false;
    text = {p_ + 1, static_cast<size_t>(close - p_ - 1)};
    p_ = close + 1;
    return true;
  }

  // Passes over a value of any type.
  bool skip() {
    int depth = 0;
    do {
      if (p_ == end_) return false;
      const char c = *p_;
      if (c == '"') {
        const char* close = end_of_string(p_ + 1, end_);
        if (close == nullptr) return false;
        p_ = close + 1;
      } else if (c == '{' || c == '[') {
        ++depth;
        ++p_;
      } else if (c == '}' || c == ']') {
        if (--depth < 0) return false;
        ++p_;
      } else if (depth > 0) {
        ++p_;
      } else {
        return scalar();
      }
    } while (depth > 0);
    return true;
  }

  static bool ends_scalar(char c) {
    switch (c) {
      case ',':
      case '}':
      case ']':
      case ' ':
      case '\t':
      case '\r':
      case '\n':
      case '"':
      case '{':
      case '[':
      case ':':
      case '\0':
        return true;
      default:
        return false;
    }
  }

  bool scalar() {
    const char* begin = p_;
    while (p_ < end_ && !ends_scalar(*p_)) ++p_;
    return p_ > begin;
  }

  bool cut(SecretKind kind) {
    const char* begin = p_;
    if (!skip()) return false;
    const std::string_view text(begin, static_cast<size_t>(p_ - begin));
    if (text == "\"\"" || text == "null" || text == kRedacted) return true;
    auto& to = kind == SecretKind::kSecret ? pending_ : *cuts_;
    to.push_back({begin, p_, kind});
    return true;
  }

  void commit(size_t mark) {
    cuts_->insert(cuts_->end(), pending_.begin() + static_cast<ptrdiff_t>(mark), pending_.end());
    pending_.resize(mark);
  }

  bool value(Role role) {
    if (p_ == end_) return false;
    if (*p_ == '{') return object(role);
    if (*p_ == '[') return array(role);
    if (*p_ != '"') return scalar();
    if (end_ - p_ > 8 && std::memcmp(p_, "\"Bearer ", 8) == 0) return cut(SecretKind::kToken);
    std::string_view text;
    return string(text);
  }

  bool array(Role role) {
    if (++depth_ > kMaxDepth) return false;
    ++p_;
    blanks();
    for (bool first = true; p_ < end_ && *p_ != ']'; first = false) {
      if (!first && !comma()) return false;
      const Role entry = role == Role::kEnvList ? Role::kEnvEntry
                         : role == Role::kPatch ? Role::kPatchEntry
                                                : Role::kPlain;
      if (!value(entry)) return false;
      blanks();
    }
    if (p_ == end_) return false;
    ++p_;
    --depth_;
    return true;
  }

  bool comma() {
    if (*p_ != ',') return false;
    ++p_;
    blanks();
    return p_ < end_;
  }

  bool object(Role role) {
    if (++depth_ > kMaxDepth) return false;
    const size_t mark = pending_.size();
    Kind kind = Kind::kNone;
    if (role == Role::kPatchEntry) patched_secret_ = false;
    ++p_;
    blanks();
    for (bool first = true; p_ < end_ && *p_ != '}'; first = false) {
      if (!first && !comma()) return false;
      if (*p_ != '"') return false;
      std::string_view key;
      if (!string(key)) return false;
      const bool escaped = escaped_;
      blanks();
      if (p_ == end_ || *p_ != ':') return false;
      ++p_;
      blanks();
      if (!field(role, key, escaped, kind)) return false;
      blanks();
    }
    if (p_ == end_) return false;
    ++p_;
    --depth_;
    // Without a kind of its own (an item of a list, the object of a frame), what is around it decides.
    if (kind == Kind::kSecret || (role == Role::kPatch && kind == Kind::kNone)) commit(mark);
    if (role == Role::kPatchEntry) patched_secret_ ? commit(mark) : pending_.resize(mark);
    if (kind == Kind::kOther) pending_.resize(mark);
    return true;
  }

  bool field(Role role, std::string_view key, bool escaped, Kind& kind) {
    if (escaped) {
      unescaped_.clear();
      unescape(key, unescaped_);
      key = unescaped_;
    }
    if (p_ == end_) return false;
    if (role == Role::kData) return cut(SecretKind::kSecret);
    if (role == Role::kAnnotations && matches(*patterns_, key)) return cut(SecretKind::kAnnotation);
    if (role == Role::kEnvEntry && key == "value") return cut(SecretKind::kEnv);
    if (role == Role::kPatchEntry && key == "value") return cut(SecretKind::kSecret);
    const bool data = key == "data" || key == "stringData";
    if (is_credential(key)) return cut(SecretKind::kToken);
    if (data && *p_ != '{') return cut(SecretKind::kSecret);  // of a Secret that is none as it should be
    if (*p_ == '"') {
      if (key == "kind") return read_kind(kind);
      if (role == Role::kPatchEntry && key == "path") return read_path();
      if (secret_key(key)) return cut(SecretKind::kToken);
      return value(Role::kPlain);
    }
    if (key == "managedFields") return skip();  // names of fields, no values
    // What was sent may be a patch: an object without a kind, or a list of operations.
    if (key == "requestObject") return value(Role::kPatch);
    if (*p_ == '[') return value(key == "env" ? Role::kEnvList : Role::kPlain);
    if (key == "annotations") return value(Role::kAnnotations);
    return value(data ? Role::kData : Role::kPlain);
  }

  // Of an operation of a JSON patch: what it changes.
  bool read_path() {
    std::string_view text;
    if (!string(text)) return false;
    patched_secret_ = text.empty() || escaped_ || text.substr(0, 5) == "/data" || text.substr(0, 11) == "/stringData" ||
                      text.find("/env") != std::string_view::npos ||
                      text.find("/annotations") != std::string_view::npos;
    return true;
  }

  bool read_kind(Kind& kind) {
    std::string_view text;
    if (!string(text)) return false;
    if (escaped_) {
      unescaped_.clear();
      unescape(text, unescaped_);
      text = unescaped_;
    }
    // Of several kinds, which readers of JSON take differently, the one that hides more.
    if (kind == Kind::kSecret || text == "Secret" || text == "SecretList") {
      kind = Kind::kSecret;
    } else {
      kind = Kind::kOther;
    }
    return true;
  }

  const char* p_;
  const char* end_;
  const std::vector<std::string>* patterns_;
  std::vector<Cut>* cuts_;
  std::vector<Cut> pending_;  // values of data, until the kind of the object is known
  std::string unescaped_;
  bool escaped_ = false;
  bool patched_secret_ = false;  // of the operation that is read
  int depth_ = 0;
};

void write(std::string_view body, const std::vector<Cut>& cuts, std::string& out) {
  out.clear();
  const char* from = body.data();
  for (const Cut& cut : cuts) {
    out.append(from, cut.begin).append(replacement(cut));
    from = cut.end;
  }
  out.append(from, body.data() + body.size());
}

// HTML or XML, as a proxy answers.
bool begins_page(std::string_view text) {
  for (const std::string_view tag : {"<html", "<HTML", "<!doctype", "<!DOCTYPE", "<?xml"}) {
    if (text.substr(0, tag.size()) == tag) return true;
  }
  return false;
}

// Bytes that are no JSON, or not from their beginning to their end.
void cut_leniently(std::string_view body, const std::vector<std::string>& patterns, std::vector<Cut>& cuts) {
  const char* p = body.data();
  const char* end = p + body.size();
  while (p < end && std::strchr(" \t\r\n", *p) != nullptr && *p != '\0') ++p;
  if (p < end && !begins_page({p, static_cast<size_t>(end - p)}) &&
      (*p == '\0' || std::strchr("{[,:}]\"", *p) == nullptr)) {  // within a string, as it seems
    const void* quote = std::memchr(p, '"', static_cast<size_t>(end - p));
    const char* stop = quote == nullptr ? end : static_cast<const char*>(quote);
    cuts.push_back({p, stop, SecretKind::kToken});
    p = stop == end ? end : stop + 1;
  }
  bool armed = false, data = false;
  SecretKind kind = SecretKind::kToken;
  while (p < end) {
    const void* quote = std::memchr(p, '"', static_cast<size_t>(end - p));
    if (quote == nullptr) return;
    const char* open = static_cast<const char*>(quote);
    const char* close = end_of_string(open + 1, end);
    const char* behind = close == nullptr ? end : close + 1;
    const std::string_view text(open + 1, static_cast<size_t>((close == nullptr ? end : close) - open - 1));
    p = behind;
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
    if (p < end && *p == ':' && close != nullptr) {
      std::string key;
      unescape(text, key);
      data = data || key == "data" || key == "stringData";
      const bool annotation = matches(patterns, key);
      armed = key == "value" || secret_key(key) || is_credential(key) || annotation;
      kind = annotation ? SecretKind::kAnnotation : key == "value" ? SecretKind::kEnv : SecretKind::kToken;
      continue;
    }
    const bool bearer = text.substr(0, 7) == "Bearer ";
    const bool keep = text.empty() || std::string_view(open, static_cast<size_t>(behind - open)) == kRedacted;
    if ((armed || data || bearer) && !keep) cuts.push_back({open, behind, armed ? kind : SecretKind::kSecret});
    armed = false;
  }
}

}  // namespace

Redactor::Redactor(const RedactRules& rules) : on_(rules.redact == Redact::kOn), patterns_(rules.annotations) {
  patterns_.emplace_back(kAlways);
}

std::string_view Redactor::redact(std::string_view body) {
  if (!on_ || body.empty()) return body;
  return apply(body, find(body));
}

std::string_view Redactor::redact_text(std::string_view text) {
  if (!on_) return text;
  std::vector<Cut> cuts;
  add_texts(text, cuts);
  if (cuts.empty()) return text;
  write(text, cuts, text_);
  return text_;
}

std::vector<Cut> Redactor::find(std::string_view body) const {
  std::vector<Cut> cuts;
  if (!Walk(body, patterns_, cuts).document()) {
    cuts.clear();
    cut_leniently(body, patterns_, cuts);
  }
  add_texts(body, cuts);
  return cuts;
}

std::vector<Cut> Redactor::find_in_items(std::string_view piece) const {
  std::vector<Cut> cuts;
  if (!Walk(piece, patterns_, cuts).items()) {
    cuts.clear();
    cut_leniently(piece, patterns_, cuts);
  }
  add_texts(piece, cuts);
  return cuts;
}

std::string_view Redactor::redact_form(std::string_view form, size_t& hole) {
  if (!on_ || form.empty() || hole > form.size()) return form;
  constexpr char kFill = '0';  // a value where a body that is no string stood; a character of one that is
  line_.assign(form).insert(hole, 1, kFill);
  const std::vector<Cut> cuts = find(line_);
  if (cuts.empty()) return form;
  const char* fill = line_.data() + hole;
  size_t moved = hole;
  for (const Cut& cut : cuts) {
    if (cut.begin <= fill && fill < cut.end) return {};
    if (cut.end <= fill) moved = moved + replacement(cut).size() - static_cast<size_t>(cut.end - cut.begin);
  }
  apply(line_, cuts);
  out_.erase(moved, 1);
  hole = moved;
  return out_;
}

std::string_view Redactor::redact_items(std::string_view piece) {
  if (!on_ || piece.empty()) return piece;
  return apply(piece, find_in_items(piece));
}

std::string_view Redactor::apply(std::string_view body, const std::vector<Cut>& cuts) {
  if (cuts.empty()) return body;
  for (const Cut& cut : cuts) ++counts_[static_cast<size_t>(cut.kind)];
  write(body, cuts, out_);
  return out_;
}

}  // namespace inquest::recorder
