#include "recorder/input.h"

#include "recorder/looks_like.h"

namespace inquest::recorder {
namespace {

constexpr const char* kKnown = "import reads capture lines, audit logs and bind logs";

Error not_an_input(const std::string& place, const Looks& looks) {
  return {ErrorCode::kInput, "this is " + looks.what, place, looks.next.empty() ? kKnown : looks.next};
}

}  // namespace

std::string file_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string stem(const std::string& path) {
  std::string name = file_name(path);
  for (const std::string_view ending : {".zst", ".gz", ".jsonl", ".json", ".log", ".ndjson"}) {
    if (name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0) {
      name.resize(name.size() - ending.size());
    }
  }
  return name;
}

Result<Input> Input::open(const std::string& path) {
  INQUEST_TRY(auto source, LineSource::open(path));
  Input input(std::move(source));
  LineSource& lines = input.source_;
  const std::string head(lines.head());
  if (const Looks looks = looks_like_bytes(head); !looks.what.empty()) return not_an_input(path, looks);
  Line line = lines.next();
  switch (line.kind) {
    case Line::Kind::kText:
      break;
    case Line::Kind::kTooLong:
    case Line::Kind::kDamaged:
      return Error{ErrorCode::kInput, line.why, lines.place(line.number), ""};
    case Line::Kind::kEnd:
      return Error{ErrorCode::kInput, lines.bytes() == 0 ? "is empty" : "holds nothing but blank lines", path, kKnown};
  }
  const LineShape shape = input.parser_.shape(line);
  if (shape.has_t && shape.has_stream) {
    input.kind_ = InputKind::kCapture;
  } else if (shape.has_t && shape.has_request) {
    input.kind_ = InputKind::kBindLog;
  } else if (shape.kind == "Event" && shape.api_version.compare(0, 13, "audit.k8s.io/") == 0) {
    input.kind_ = InputKind::kAudit;
  } else {
    return not_an_input(lines.place(line.number), looks_like_text(head, shape));
  }
  input.first_ = line;
  return input;
}

std::optional<Line> Input::next(Losses& losses) {
  if (first_) {
    std::optional<Line> line = std::move(first_);
    first_.reset();
    return line;
  }
  for (;;) {
    Line line = source_.next();
    if (line.kind == Line::Kind::kText) return line;
    if (line.kind == Line::Kind::kEnd) return std::nullopt;
    lose(line, line.why, losses);
  }
}

void Input::lose(const Line& line, const std::string& text, Losses& losses, Losses::Kept kept) {
  const std::string place = source_.place(line.number);
  if (lost_++ == 0) first_loss_ = place + ": " + text;
  losses.add(name(), place, text, kept);
}

Result<void> Input::check_useful() const {
  if (used_ > 0 || lost_ == 0) return {};
  return Error{ErrorCode::kInput, "nothing in it could be used, to begin with " + first_loss_, path(), ""};
}

}  // namespace inquest::recorder
