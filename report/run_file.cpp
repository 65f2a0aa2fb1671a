#include "report/run_file.h"

#include <simdjson.h>

#include "report/json.h"
#include "report/run_fields.h"

namespace inquest::report {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kMaxDepth = 32;

// Reads what fields() names. After the first error nothing more is read.
class FieldsIn {
 public:
  explicit FieldsIn(dom::object object) : object_(object) {}

  template <typename T>
  void operator()(std::string_view name, T& value) {
    dom::element found;
    if (!error_.empty()) return;
    path_.emplace_back(name);
    if (object_.at_key(name).get(found) == simdjson::SUCCESS) {
      get(found, value);
    } else {
      fail("is missing");
    }
    path_.pop_back();
  }
  template <typename T>
  void maybe(std::string_view name, std::optional<T>& value) {
    dom::element found;
    if (object_.at_key(name).get(found) == simdjson::SUCCESS) (*this)(name, value.emplace());
  }

  // "run.faults[0].text is missing"; empty: all is well.
  const std::string& error() const { return error_; }

 private:
  void fail(std::string_view what) {
    if (!error_.empty()) return;
    for (const std::string& part : path_) error_ += (error_.empty() || part.front() == '[' ? "" : ".") + part;
    error_ += " " + std::string(what);
  }

  template <typename T>
  void take(dom::element from, T& value, std::string_view what) {
    if (from.get(value) != simdjson::SUCCESS) fail(what);
  }

  void get(dom::element from, std::string& value) {
    std::string_view text;
    take(from, text, "is no text");
    value = text;
  }
  void get(dom::element from, bool& value) { take(from, value, "is neither true nor false"); }
  void get(dom::element from, uint64_t& value) { take(from, value, "is no whole number from 0 on"); }
  void get(dom::element from, int64_t& value) { take(from, value, "is no whole number"); }
  void get(dom::element from, uint16_t& value) {
    uint64_t wide = 0;
    get(from, wide);
    if (wide > UINT16_MAX) fail("is above 65535");
    value = static_cast<uint16_t>(wide);
  }
  void get(dom::element from, Time& value) {
    within(from, [&] { (*this)("ns", value.ns); });
  }
  template <typename T>
  void get(dom::element from, std::optional<T>& value) {
    if (from.is_null()) return;
    value = T{};
    get(from, *value);
  }
  template <typename T>
  void get(dom::element from, std::vector<T>& values) {
    dom::array array;
    take(from, array, "is no list");
    if (!error_.empty()) return;
    for (const dom::element one : array) {
      path_.push_back("[" + std::to_string(values.size()) + "]");
      get(one, values.emplace_back());
      path_.pop_back();
      if (!error_.empty()) return;
    }
  }
  template <typename T>
  void get(dom::element from, std::vector<std::pair<std::string, T>>& values) {
    dom::object object;
    take(from, object, "is no object");
    if (!error_.empty()) return;
    for (const auto& [name, value] : object) {
      path_.emplace_back(name.empty() ? "''" : name);
      get(value, values.emplace_back(name, T{}).second);
      path_.pop_back();
      if (!error_.empty()) return;
    }
  }
  template <typename T>
  void get(dom::element from, T& value) {
    within(from, [&] { fields(*this, value); });
  }

  // Reads from the fields of another object meanwhile.
  template <typename Read>
  void within(dom::element from, const Read& read) {
    const dom::object outer = object_;
    take(from, object_, "is no object");
    if (error_.empty()) read();
    object_ = outer;
  }

  dom::object object_;
  std::vector<std::string> path_;
  std::string error_;
};

Error not_a_run(const std::string& name, std::string why) {
  return {ErrorCode::kInput, std::move(why), name, "a run file is what replay -o writes"};
}

Result<void> check_version(dom::object document, const std::string& name) {
  int64_t version = 0;
  std::string_view verb;
  if (document.at_key("schema_version").get(version) != simdjson::SUCCESS ||
      document.at_key("verb").get(verb) != simdjson::SUCCESS || verb != "replay") {
    return not_a_run(name, "is no run file");
  }
  if (version > kSchemaVersion) {
    return Error{ErrorCode::kNewer,
                 "was made by a newer version (schema_version " + std::to_string(version) + ", this one reads up to " +
                     std::to_string(kSchemaVersion) + ")",
                 name, "update inquest"};
  }
  if (version < 1) return not_a_run(name, "schema_version " + std::to_string(version) + " never was");
  return {};
}

}  // namespace

Result<RunFile> parse_run_file(std::string_view text, const std::string& name) {
  if (text.size() > kMaxRunFile) {
    return Error{ErrorCode::kOutOfLimit, "is longer than a run file may be (256 MiB)", name, ""};
  }
  if (text.starts_with("SQLite format 3")) return not_a_run(name, "is a trace, no run file");
  dom::parser parser;
  dom::object document;
  auto failed = parser.allocate(text.size() + 1, kMaxDepth);
  if (failed == simdjson::SUCCESS) failed = parser.parse(text.data(), text.size()).get(document);
  if (failed == simdjson::INCORRECT_TYPE) return not_a_run(name, "is no run file");
  if (failed != simdjson::SUCCESS) {
    return not_a_run(name, std::string("is no whole JSON document: ") + simdjson::error_message(failed));
  }
  INQUEST_TRY_VOID(check_version(document, name));
  RunFile out;
  FieldsIn in(document);
  in("trace", out.trace);
  fields(in, out);
  if (!in.error().empty()) return not_a_run(name, in.error());
  return out;
}

bool begins_like_run_file(std::string_view text) {
  constexpr std::string_view kBegin = "{\n  \"schema_version\": ", kVerb = ",\n  \"verb\": \"replay\"";
  if (!text.starts_with(kBegin)) return false;
  const size_t digits = text.find_first_not_of("0123456789", kBegin.size());
  return digits != std::string_view::npos && digits > kBegin.size() && text.substr(digits).starts_with(kVerb);
}

}  // namespace inquest::report
