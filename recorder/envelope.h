// The form of a capture line: how the fields that a record keeps are written as the line they came from.
//
// Nearly every line has one form: compact, the fields in a fixed order, the body escaped the shortest way. It can be
// written from the record alone. Any other line leaves its envelope, the line without the text of its body, in a
// kSource record behind (recorder/source.h), so that export gives back the very bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_text.h"
#include "schema/record.h"

namespace inquest::recorder {

// What a line says besides its body.
struct LineFields {
  Time t;
  std::string_view stream, kind, path, reason;
  uint16_t status = 0;
};
// Of a record of a capture; views into the catalog and the stream's name.
LineFields fields_of(const trace::Record& record, std::string_view stream, const Catalog& catalog);

// The usual form up to the body's text, and behind it.
void usual_head(const LineFields& fields, bool has_body, std::string& out);
std::string_view usual_tail(bool has_body);

// An unusual one.
struct Envelope {
  std::string text;  // the line without the text of its body
  size_t hole = 0;   // where that text stood
  int style = 0;     // of Escapes, or kRawBody
};
inline constexpr int kRawBody = 100;  // the body is no string but JSON

// How `line` differs from the usual form of `fields`; nothing if it does not. `written`: the text of the body as it
// stands in the line; `body`: what it says. An error of code kOutOfLimit if no style gives `written`.
enum class Form : uint8_t { kUsual, kEnvelope, kUnknown };
Form form_of(std::string_view line, std::string_view written, std::string_view body, bool raw, const LineFields& fields,
             Envelope& out);

}  // namespace inquest::recorder
