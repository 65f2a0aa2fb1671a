#include "report/json.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/rfc3339.h"
#include "report/text.h"

namespace inquest::report {

JsonWriter::JsonWriter(std::string_view verb) {
  begin_object();
  field("schema_version", kSchemaVersion);
  field("verb", verb);
}

// What stands between the last thing written and the next.
void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  INQUEST_CHECK(levels_.back().close == ']', "a value in an object needs a key");
  if (!levels_.back().empty) out_ += ',';
  levels_.back().empty = false;
  out_ += '\n';
  out_.append(levels_.size() * 2, ' ');
}

JsonWriter& JsonWriter::key(std::string_view name) {
  INQUEST_CHECK(!levels_.empty() && levels_.back().close == '}' && !after_key_, name);
  if (!levels_.back().empty) out_ += ',';
  levels_.back().empty = false;
  out_ += '\n';
  out_.append(levels_.size() * 2, ' ');
  quote(name);
  out_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  levels_.push_back({bracket == '{' ? '}' : ']', true});
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  INQUEST_CHECK(!levels_.empty() && levels_.back().close == bracket && !after_key_, bracket);
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) {
    out_ += '\n';
    out_.append(levels_.size() * 2, ' ');
  }
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  out_ += text;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::begin_text() { return raw("\""); }

JsonWriter& JsonWriter::more_text(std::string_view piece) {
  escape(piece);
  return *this;
}

JsonWriter& JsonWriter::end_text() {
  out_ += '"';
  return *this;
}

void JsonWriter::quote(std::string_view text) {
  out_ += '"';
  escape(text);
  out_ += '"';
}

void JsonWriter::escape(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (c.length == 0) {
      out_ += "\uFFFD";
      text.remove_prefix(1);
      continue;
    }
    if (c.value == '"' || c.value == '\\') {
      out_ += '\\';
      out_ += static_cast<char>(c.value);
    } else if (c.value < 0x20 || (c.value >= 0x7f && c.value < 0xa0)) {
      out_ += fmt::format("\\u{:04x}", c.value);
    } else {
      out_ += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
}

JsonWriter& JsonWriter::instant(Time time, Time origin) {
  begin_object();
  field("time", format_rfc3339(time));
  field("ns", time.ns);
  field("offset_ns", (time - origin).ns);
  return end_object();
}

std::string JsonWriter::finish() {
  end_object();
  INQUEST_CHECK(levels_.empty(), levels_.size());
  return std::move(out_) + "\n";
}

}  // namespace inquest::report
