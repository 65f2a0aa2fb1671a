#include "recorder/envelope.h"

namespace inquest::recorder {
namespace {

constexpr std::string_view kWithBody = "\"}", kWithout = "}";

std::string_view kind_of(const trace::Record& record) {
  switch (record.kind) {
    case trace::RecordKind::kList:
      return "list";
    case trace::RecordKind::kOpen:
      return "open";
    case trace::RecordKind::kClose:
      return "close";
    default:  // an answer that refused a list has the path of its request
      return record.path.known() ? "list" : "frame";
  }
}

}  // namespace

LineFields fields_of(const trace::Record& record, std::string_view stream, const Catalog& catalog) {
  LineFields out;
  out.t = record.wall;
  out.stream = stream;
  out.kind = kind_of(record);
  if (record.path.known()) out.path = catalog.text(record.path);
  if (out.kind != "frame" && out.kind != "close") out.status = record.status;
  if (out.kind == "close" && record.text.known()) out.reason = catalog.text(record.text);
  return out;
}

void usual_head(const LineFields& fields, bool has_body, std::string& out) {
  const auto text = [&](const char* name, std::string_view value) {
    out.append(name);
    escape(value, Escapes::kShort, out);
    out += '"';
  };
  out.append("{\"t\":").append(std::to_string(fields.t.ns));
  text(",\"stream\":\"", fields.stream);
  text(",\"kind\":\"", fields.kind);
  if (!fields.path.empty()) text(",\"path\":\"", fields.path);
  if (fields.status != 0) out.append(",\"status\":").append(std::to_string(fields.status));
  if (!fields.reason.empty()) text(",\"reason\":\"", fields.reason);
  if (has_body) out.append(",\"body\":\"");
}

std::string_view usual_tail(bool has_body) { return has_body ? kWithBody : kWithout; }

Form form_of(std::string_view line, std::string_view written, std::string_view body, bool raw, const LineFields& fields,
             Envelope& out) {
  const bool has_body = !written.empty();
  out.text.clear();
  usual_head(fields, has_body, out.text);
  const std::string_view tail = usual_tail(has_body);
  out.hole = has_body ? static_cast<size_t>(written.data() - line.data()) : line.size() - tail.size();
  out.style = 0;
  const bool short_body = !raw && is_short(written, body);
  if (short_body && line.substr(0, out.hole) == out.text && line.substr(out.hole + written.size()) == tail) {
    return Form::kUsual;
  }
  if (raw) {
    out.style = kRawBody;
  } else if (!short_body) {
    std::string attempt;
    for (out.style = 1; out.style < kEscapeStyles; ++out.style) {
      attempt.clear();
      escape(body, static_cast<Escapes>(out.style), attempt);
      if (attempt == written) break;
    }
    if (out.style == kEscapeStyles) return Form::kUnknown;
  }
  out.text.assign(line.substr(0, out.hole)).append(line.substr(out.hole + written.size()));
  return Form::kEnvelope;
}

}  // namespace inquest::recorder
