#include "recorder/input.h"

#include <algorithm>

#include "recorder/json_shape.h"
#include "recorder/looks_like.h"

namespace inquest::recorder {
namespace {

constexpr const char* kKnown = "import reads capture lines, watch frames, kubectl's JSON and YAML, audit and bind logs";
constexpr size_t kMaxBatch = size_t{32} << 20;  // of audit events, as a webhook gets them

Error not_an_input(const std::string& place, const Looks& looks) {
  return {ErrorCode::kInput, "this is " + looks.what, place, looks.next.empty() ? kKnown : looks.next};
}

}  // namespace

std::string file_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string stem(const std::string& path) {
  if (path == kStdin) return "stdin";
  std::string name = file_name(path);
  for (const std::string_view ending : {".zst", ".gz", ".jsonl", ".json", ".log", ".ndjson", ".yaml", ".yml"}) {
    if (name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0) {
      name.resize(name.size() - ending.size());
    }
  }
  return name;
}

namespace {

// Where the first line that begins with '{' does, in a text that begins in the middle of something.
size_t next_object(std::string_view head) {
  const size_t at = head.find("\n{");
  return at == std::string_view::npos ? at : at + 1;
}

std::optional<InputKind> kind_of(const JsonShape& shape) {
  if (shape.has_t && shape.has_stream) return InputKind::kCapture;
  if (shape.has_t && shape.has_request) return InputKind::kBindLog;
  if (shape.api_version.compare(0, 13, "audit.k8s.io/") == 0) return InputKind::kAudit;
  if (shape.has_type && (shape.has_object || !shape.whole)) return InputKind::kFrames;
  const bool object = !shape.kind.empty() && !shape.api_version.empty();
  const bool list = !shape.api_version.empty() && shape.has_items;
  if (shape.kind == "Table" || shape.kind == "Status" || !(object || list)) return std::nullopt;
  return InputKind::kObjects;
}

bool is_yaml(std::string_view text) {
  while (text.substr(0, 1) == "#" || text.substr(0, 1) == "\n" || text.substr(0, 1) == "\r") {
    text.remove_prefix(
        std::min(text.size(), text.find('\n') == std::string_view::npos ? text.size() : text.find('\n') + 1));
  }
  for (const std::string_view key :
       {"apiVersion:", "kind:", "items:", "metadata:", "---\n", "---\r", "--- ", "%YAML"}) {
    if (text.substr(0, key.size()) == key) return true;
  }
  return false;
}

}  // namespace

// From the first bytes: nothing is consumed, so that a pipe can be read from its beginning.
Result<InputKind> Input::recognise(const std::string& whole_head) {
  const LineSource& lines = *source_;
  std::string_view head = whole_head;
  if (const Looks looks = looks_like_bytes(head); !looks.what.empty()) return not_an_input(path(), looks);
  if (head.substr(0, 3) == "\xef\xbb\xbf") head.remove_prefix(3);
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    if (!lines.damage().empty()) return Error{ErrorCode::kInput, lines.damage(), lines.place(1), ""};
    return Error{ErrorCode::kInput,
                 whole_head.empty()                      ? "is empty"
                 : whole_head.size() < LineSource::kHead ? "holds nothing but blank lines"
                                                         : "begins with 64 KiB of blanks",
                 path(), kKnown};
  }
  const auto number =
      1 + static_cast<uint64_t>(std::count(head.begin(), head.begin() + static_cast<ptrdiff_t>(begin), '\n'));
  head.remove_prefix(begin);
  const JsonShape first = shape_of(head);
  if (const auto kind = first.object ? kind_of(first) : std::nullopt) {
    const bool cut = !first.whole && begin + head.size() < LineSource::kHead;
    if (!cut) return *kind;
  }
  if (open_string(head, "body") != std::string_view::npos) return InputKind::kCapture;  // of a list, before the rest
  // The start may be the end of something: then what follows says what it is.
  if (!first.whole && head.front() != '<') {
    for (size_t at = next_object(head); at != std::string_view::npos; at = next_object(head)) {
      head.remove_prefix(at);
      const JsonShape shape = shape_of(head);
      if (const auto kind = shape.whole || whole_head.size() >= LineSource::kHead ? kind_of(shape) : std::nullopt) {
        if (shape.object) return *kind;
      }
    }
    head = std::string_view(whole_head);
    head.remove_prefix(std::min(head.size(), head.find_first_not_of(" \t\r\n")));
  }
  if (is_yaml(head)) return InputKind::kYaml;
  if (!lines.damage().empty()) return Error{ErrorCode::kInput, lines.damage(), lines.place(number), ""};
  return not_an_input(lines.place(number), looks_like_text(whole_head, first));
}

Result<Input> Input::open(const std::string& path) {
  INQUEST_TRY(auto source, LineSource::open(path));
  Input input(std::move(source));
  input.name_ = path == kStdin ? "stdin" : file_name(path);
  const std::string head(input.source_->head());
  INQUEST_TRY(input.kind_, input.recognise(head));
  LineSource& lines = *input.source_;
  const JsonShape first = shape_of(head.substr(std::min(head.size(), head.find('{'))));
  const bool batch = input.kind_ == InputKind::kAudit && (first.kind == "EventList" || !first.whole);
  if (input.kind_ == InputKind::kFrames || input.kind_ == InputKind::kObjects || batch) {
    input.values_ = std::make_unique<ValueSource>(lines, batch ? kMaxBatch : kMaxLine);
  }
  if (input.kind_ == InputKind::kYaml) input.documents_ = std::make_unique<YamlSource>(lines);
  return input;
}

Line Input::next_line() {
  if (values_ != nullptr) return values_->next();
  return documents_ != nullptr ? documents_->next() : source_->next();
}

std::optional<Line> Input::next(Losses& losses) {
  for (;;) {
    Line line = next_line();
    if (line.kind == Line::Kind::kText || line.kind == Line::Kind::kLong) return line;
    if (line.kind == Line::Kind::kEnd) return std::nullopt;
    lose(line, line.why, losses);
  }
}

void Input::lose(const Line& line, const std::string& text, Losses& losses, Losses::Kept kept) {
  const std::string place = source_->place(line.number);
  if (lost_++ == 0) first_loss_ = place + ": " + text;
  losses.add(name(), place, text, kept);
}

Result<void> Input::check_useful() const {
  if (used_ > 0 || lost_ == 0) return {};
  return Error{ErrorCode::kInput, "nothing in it could be used, to begin with " + first_loss_, path(), ""};
}

}  // namespace inquest::recorder
