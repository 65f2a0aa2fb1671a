#include "recorder/line_parser.h"

#include <simdjson.h>

#include <algorithm>

#include "base/rfc3339.h"

namespace inquest::recorder {
namespace {

namespace json = simdjson::ondemand;
using simdjson::error_code;
using simdjson::SUCCESS;
static_assert(kLinePadding >= simdjson::SIMDJSON_PADDING);

// Calls visit(key, value) for each field, in order; stops at the first error.
template <typename Visit>
error_code each_field(json::object object, Visit&& visit) {
  for (auto item : object) {
    std::string_view key;
    json::value value;
    if (const auto error = item.unescaped_key().get(key)) return error;
    if (const auto error = item.value().get(value)) return error;
    if (const auto error = visit(key, value)) return error;
  }
  return SUCCESS;
}

bool is(json::value& value, json::json_type wanted) {
  json::json_type type{};
  return value.type().get(type) == SUCCESS && type == wanted;
}

// The following leave `to` alone when the value is of another type (a null, say): that counts as absent.
error_code read_string(json::value& value, std::string_view& to) {
  return is(value, json::json_type::string) ? value.get_string().get(to) : SUCCESS;
}

error_code read_time(json::value& value, Time& to) {
  if (!is(value, json::json_type::number)) return SUCCESS;
  int64_t ns = 0;
  if (value.get_int64().get(ns) == SUCCESS && ns > 0) to = Time{ns};
  return SUCCESS;
}

error_code read_rfc3339(json::value& value, Time& to) {
  std::string_view text;
  if (const auto error = read_string(value, text)) return error;
  to = parse_rfc3339(text).value_or(Time{});
  return SUCCESS;
}

error_code read_code(json::value& value, uint16_t& to) {
  if (!is(value, json::json_type::number)) return SUCCESS;
  int64_t code = 0;
  if (value.get_int64().get(code) == SUCCESS && code >= 0 && code <= UINT16_MAX) to = static_cast<uint16_t>(code);
  return SUCCESS;
}

// Calls visit for the fields of an object; any other type has none. `raw` gets the object's text, if asked for.
template <typename Visit>
error_code read_object(json::value& value, std::string_view* raw, Visit&& visit) {
  if (!is(value, json::json_type::object)) return SUCCESS;
  json::object object;
  if (const auto error = value.get_object().get(object)) return error;
  if (raw != nullptr) {
    if (const auto error = object.raw_json().get(*raw)) return error;
    bool empty = false;
    if (const auto error = object.reset().get(empty)) return error;
    const size_t end = raw->find_last_of('}');  // the token may bring blanks along
    if (end != std::string_view::npos) *raw = raw->substr(0, end + 1);
  }
  return each_field(object, visit);
}

error_code read_name(json::value& value, BindLine& to) {  // metadata, or an audit event's objectRef
  return read_object(value, nullptr, [&](std::string_view key, json::value& field) {
    if (key == "name") return read_string(field, to.name);
    if (key == "namespace") return read_string(field, to.ns);
    if (key == "uid") return read_string(field, to.uid);
    return SUCCESS;
  });
}

error_code read_binding(json::value& value, BindLine& to) {
  return read_object(value, &to.request, [&](std::string_view key, json::value& field) {
    if (key == "metadata") return read_name(field, to);
    if (key != "target") return SUCCESS;
    return read_object(field, nullptr, [&](std::string_view name, json::value& inner) {
      return name == "name" ? read_string(inner, to.node) : SUCCESS;
    });
  });
}

struct Status {
  std::string_view raw, reason, message;
  uint16_t code = 0;
};

error_code read_status(json::value& value, Status& to) {
  return read_object(value, &to.raw, [&](std::string_view key, json::value& field) {
    if (key == "code") return read_code(field, to.code);
    if (key == "reason") return read_string(field, to.reason);
    if (key == "message") return read_string(field, to.message);
    return SUCCESS;
  });
}

// A string's token without its quotes; the token may bring blanks along.
std::string_view inner(std::string_view token) {
  const size_t close = token.rfind('"');
  return close == std::string_view::npos || close == 0 ? std::string_view() : token.substr(1, close - 1);
}

Error bad(std::string text) { return {ErrorCode::kInput, std::move(text), "", ""}; }

Error bad_json(error_code error, const Line& line) {
  if (!line.terminated) return bad("the last line is cut off");
  switch (error) {
    case simdjson::UTF8_ERROR:
      return bad(kNotUtf8);
    case simdjson::DEPTH_ERROR:
      return bad("nested deeper than 1024 levels");
    case simdjson::INCORRECT_TYPE:
      return bad("not a JSON object");
    default:
      return bad("not valid JSON");
  }
}

struct AuditEvent {
  std::string_view verb, uri, resource, subresource;
  BindLine from_ref, from_request;
  Status status, object;
};

}  // namespace

struct LineParser::Impl {
  json::parser parser{kMaxLine + kLinePadding};

  template <typename Visit>
  error_code each(const Line& line, Visit&& visit) {
    json::document document;
    const simdjson::padded_string_view text(line.text.data(), line.text.size(), line.text.size() + kLinePadding);
    if (const auto error = parser.iterate(text).get(document)) return error;
    json::object object;
    if (const auto error = document.get_object().get(object)) return error;
    if (const auto error = each_field(object, visit)) return error;
    // Something behind the object would be ignored otherwise.
    const char* rest = nullptr;
    return document.current_location().get(rest) == SUCCESS ? simdjson::TRAILING_CONTENT : SUCCESS;
  }

  error_code read_audit(const Line& line, BindLine& to, AuditEvent& event);
};

LineParser::LineParser() : impl_(std::make_unique<Impl>()) {}
LineParser::~LineParser() = default;
LineParser::LineParser(LineParser&&) noexcept = default;
LineParser& LineParser::operator=(LineParser&&) noexcept = default;

Result<CaptureLine> LineParser::capture(const Line& line) {
  CaptureLine out;
  std::string_view kind;
  bool has_body = false;
  const auto error = impl_->each(line, [&](std::string_view key, json::value& value) {
    if (key == "body") {
      has_body = true;
      if (is(value, json::json_type::string)) {
        out.written = inner(value.raw_json_token());
        out.raw = false;
        return value.get_string().get(out.body);
      }
      out.raw = true;
      const auto failed = read_object(value, &out.body, [](std::string_view, json::value&) { return SUCCESS; });
      out.written = out.body;
      return failed;
    }
    if (key == "t") return read_time(value, out.t);
    if (key == "stream") return read_string(value, out.stream);
    if (key == "kind") return read_string(value, kind);
    if (key == "path") return read_string(value, out.path);
    if (key == "status") return read_code(value, out.status);
    if (key == "reason") return read_string(value, out.reason);
    return SUCCESS;
  });
  if (error != SUCCESS) return bad_json(error, line);
  if (!out.t.known()) return bad("no arrival time t (nanoseconds since 1970, an integer)");
  if (out.stream.empty()) return bad("no stream");
  if (kind == "frame") {
    out.kind = CaptureLine::Kind::kFrame;
  } else if (kind == "list") {
    out.kind = CaptureLine::Kind::kList;
  } else if (kind == "open") {
    out.kind = CaptureLine::Kind::kOpen;
  } else if (kind == "close") {
    out.kind = CaptureLine::Kind::kClose;
  } else if (kind == "origin") {
    out.kind = CaptureLine::Kind::kOrigin;
  } else {
    return bad("its kind is none of list, open, frame, close");
  }
  if (!has_body && out.kind <= CaptureLine::Kind::kFrame && out.kind != CaptureLine::Kind::kOpen) {
    return bad("no body");
  }
  return out;
}

Result<BindLine> LineParser::bind_log(const Line& line) {
  BindLine out;
  Status status;
  std::string_view transport_error;
  const auto error = impl_->each(line, [&](std::string_view key, json::value& value) {
    if (key == "t") return read_time(value, out.sent);
    if (key == "t_answer") return read_time(value, out.answered);
    if (key == "scheduler") return read_string(value, out.scheduler);
    if (key == "request") return read_binding(value, out);
    if (key == "code") return read_code(value, out.code);
    if (key == "response") return read_status(value, status);
    if (key == "error") return read_string(value, transport_error);
    return SUCCESS;
  });
  if (error != SUCCESS) return bad_json(error, line);
  if (!out.sent.known()) return bad("no time t (nanoseconds since 1970, an integer)");
  if (out.name.empty()) return bad("its request names no pod");
  if (out.node.empty()) return bad("its request names no node");
  if (out.code == 0) out.code = status.code;
  out.reason = status.reason;
  out.message = status.message.empty() ? transport_error : status.message;
  out.answer = status.raw;
  return out;
}

error_code LineParser::Impl::read_audit(const Line& line, BindLine& to, AuditEvent& event) {
  return each(line, [&](std::string_view key, json::value& value) {
    if (key == "verb") return read_string(value, event.verb);
    if (key == "stage") return read_string(value, to.stage);
    if (key == "auditID") return read_string(value, to.audit_id);
    if (key == "requestURI") return read_string(value, event.uri);
    if (key == "userAgent") return read_string(value, to.agent);
    if (key == "requestReceivedTimestamp") return read_rfc3339(value, to.sent);
    if (key == "stageTimestamp") return read_rfc3339(value, to.answered);
    if (key == "responseStatus") return read_status(value, event.status);
    if (key == "requestObject") return read_binding(value, event.from_request);
    if (key == "responseObject") return read_status(value, event.object);
    if (key == "user") {
      return read_object(value, nullptr, [&](std::string_view name, json::value& field) {
        return name == "username" ? read_string(field, to.user) : SUCCESS;
      });
    }
    if (key == "objectRef") {
      return read_object(value, nullptr, [&](std::string_view name, json::value& field) {
        if (name == "resource") return read_string(field, event.resource);
        if (name == "subresource") return read_string(field, event.subresource);
        if (name == "name") return read_string(field, event.from_ref.name);
        if (name == "namespace") return read_string(field, event.from_ref.ns);
        if (name == "uid") return read_string(field, event.from_ref.uid);
        return SUCCESS;
      });
    }
    return SUCCESS;
  });
}

Result<std::optional<BindLine>> LineParser::audit(const Line& line) {
  BindLine out;
  AuditEvent event;
  if (const auto error = impl_->read_audit(line, out, event); error != SUCCESS) return bad_json(error, line);
  const bool modern = event.resource == "pods" && event.subresource == "binding";
  const bool legacy = event.resource == "bindings" && event.subresource.empty();
  if (event.verb != "create" || !(modern || legacy)) return std::optional<BindLine>();
  if (out.stage != "ResponseComplete" && out.stage != "Panic") return std::optional<BindLine>();
  if (event.uri.find("dryRun=") != std::string_view::npos) return std::optional<BindLine>();
  const auto first_of = [](std::string_view a, std::string_view b) { return a.empty() ? b : a; };
  out.name = first_of(event.from_request.name, event.from_ref.name);
  out.ns = first_of(event.from_request.ns, event.from_ref.ns);
  out.uid = first_of(event.from_request.uid, event.from_ref.uid);
  out.node = event.from_request.node;
  out.request = event.from_request.request;
  out.code = event.status.code != 0 ? event.status.code : event.object.code;
  out.reason = first_of(event.status.reason, event.object.reason);
  out.message = first_of(event.status.message, event.object.message);
  out.answer = first_of(event.object.raw, event.status.raw);
  if (out.name.empty()) return bad("a bind that names no pod");
  if (!out.sent.known() && !out.answered.known()) return bad("a bind without a time");
  if (!out.sent.known()) out.sent = out.answered;
  return std::optional<BindLine>(out);
}

}  // namespace inquest::recorder
