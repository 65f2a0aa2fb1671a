#include "recorder/long_list.h"

#include <algorithm>

#include "base/json_text.h"
#include "recorder/json_shape.h"
#include "recorder/name_limits.h"

namespace inquest::recorder {
namespace {

constexpr size_t kNamesKept = size_t{4} << 20;
constexpr size_t kPiece = size_t{2} << 20;
constexpr size_t kMaxEnvelope = size_t{64} << 10;

// How much of the text ends with a whole escape.
size_t whole_escapes(std::string_view text) {
  constexpr size_t kLongest = 12;  // a pair of \u escapes
  const size_t from = text.size() > kLongest ? text.size() - kLongest : 0;
  const auto run_before = [&](size_t at) {  // where the backslashes right before `at` begin
    while (at > 0 && text[at - 1] == '\\') --at;
    return at;
  };
  const size_t run = run_before(from);
  const size_t slash = run < from ? run : text.find('\\', from);
  if (slash == std::string_view::npos) return text.size();
  // The second half of a pair stays with the first.
  const bool half = slash >= 6 && text[slash - 5] == 'u' && (slash - 5 - run_before(slash - 5)) % 2 == 1;
  return half ? slash - 6 : slash;
}

}  // namespace

bool LongList::begin(std::string_view prefix) {
  list_ = {};
  line_ = {};
  pieces_.clear();
  for (std::string* text : {&envelope_, &line_text_, &error_, &carry_, &suffix_, &piece_, &head_, &key_}) text->clear();
  in_body_ = in_items_ = false;
  short_ = first_ = true;
  brackets_ = {};
  if (form_ == Form::kValue) {
    const JsonShape shape = shape_of(prefix.substr(0, kMaxEnvelope));
    return shape.has_items || ends_with_list(shape.kind);
  }
  // What stands behind the body may still say that it is no list.
  hole_ = open_string(prefix.substr(0, kMaxEnvelope), "body");
  if (hole_ == std::string_view::npos) return false;
  envelope_.assign(prefix.substr(0, hole_));
  const std::string kind = shape_of(envelope_).kind;
  return kind.empty() || kind == "list";
}

void LongList::more(std::string_view chunk) {
  if (!error_.empty()) return;
  if (form_ == Form::kValue) return take(chunk);
  if (!in_body_ && suffix_.empty() && carry_.empty() && piece_.empty() && head_.empty()) {
    in_body_ = true;
    chunk.remove_prefix(std::min(chunk.size(), hole_));
  }
  if (in_body_) return take_escaped(chunk);
  suffix_.append(chunk.substr(0, kMaxEnvelope));
  if (suffix_.size() > kMaxEnvelope) fail("a line that goes on behind its body");
}

// The body as it stands in its line, up to the quote that ends it.
void LongList::take_escaped(std::string_view chunk) {
  carry_.append(chunk);
  const char* begin = carry_.data();
  const char* close = end_of_string(begin, begin + carry_.size());
  const size_t usable = close != nullptr ? static_cast<size_t>(close - begin) : whole_escapes(carry_);
  const std::string_view written(begin, usable);
  unescaped_.clear();
  unescape(written, unescaped_);
  short_ = short_ && is_short(written, unescaped_);
  if (close != nullptr) {
    in_body_ = false;
    suffix_.assign(close, begin + carry_.size());
    carry_.clear();
    return take(unescaped_);
  }
  carry_.erase(0, usable);
  take(unescaped_);
}

void LongList::take(std::string_view bytes) {
  for (const char c : bytes) {
    piece_ += c;
    const JsonBrackets::Byte byte = brackets_.next(c);
    const int depth = brackets_.depth();
    if (byte == JsonBrackets::Byte::kStringBegin) {
      string_begin_ = piece_.size();
    } else if (byte == JsonBrackets::Byte::kStringEnd && depth == 1) {
      key_.assign(piece_, string_begin_, std::min<size_t>(piece_.size() - string_begin_ - 1, 64));
    } else if (byte == JsonBrackets::Byte::kOpen && depth == 2 && c == '[' && key_ == "items" && head_.empty()) {
      in_items_ = true;
      head_ = piece_;
      if (head_.size() > kMaxEnvelope) return fail("a list with too much before its items");
    } else if (byte == JsonBrackets::Byte::kClose && in_items_) {
      in_items_ = depth != 1;
      if (depth == 2 && piece_.size() >= kPiece) flush_piece(false);
    }
    if (piece_.size() > kMaxLine + kPiece) return fail("an item of a list with more than 8 MiB");
  }
}

// Decodes and redacts what was gathered, as a list of its own: the head, some items, an end.
void LongList::flush_piece(bool last) {
  if (!error_.empty()) return;
  size_t skip = 0;  // the comma before the first item is not part of such a list
  wrapped_ = first_ ? std::string() : head_;
  if (!first_) {
    skip = piece_.find_first_not_of(" \t\r\n");
    skip = skip == std::string::npos || piece_[skip] != ',' ? 0 : skip + 1;
  }
  const size_t from = wrapped_.size();
  wrapped_.append(piece_, skip, std::string::npos);
  const std::string_view tail = last ? "" : "]}";
  wrapped_.append(tail);
  const std::string_view kept = redactor_->redact(wrapped_);
  auto part = decoder_.list(kept);
  if (!part.ok()) return fail(part.error().text);
  std::string body = piece_.substr(0, skip);
  body.append(kept.substr(from, kept.size() - from - tail.size()));
  put_aside(*std::move(part), body);
  piece_.clear();
  if (first_ && !last) {  // the next pieces are told by their place behind it
    head_ = redactor_->redact(head_.append("]}"));
    head_.resize(head_.size() - 2);
  }
  first_ = false;
}

void LongList::put_aside(kube::DecodedList part, std::string_view body) {
  if (!part.kind.empty()) list_.kind = part.kind;
  list_.rv = std::max(list_.rv, part.rv);
  if (!part.continue_token.empty()) list_.continue_token = part.continue_token;
  list_.left_out += part.left_out;
  list_.too_long +=
      std::erase_if(part.objects, [&](const ObjectFacts& object) { return name_too_long(catalog_, object); });
  for (const ObjectFacts& object : part.objects) {
    if (list_.objects++ == 0) kind_ = object.index();
    list_.one_kind = list_.one_kind && object.index() == kind_;
  }
  trace::Record record;
  record.stream = {0};
  record.kind = trace::RecordKind::kList;
  record.objects = std::move(part.objects);
  const auto facts = packer_.pack(record, catalog_);
  if (!facts.ok()) return fail(facts.error().text);
  const auto facts_at = spool_->put(*facts), body_at = spool_->put(body);
  if (!facts_at.ok() || !body_at.ok()) return fail((facts_at.ok() ? body_at : facts_at).error().text);
  pieces_.push_back({*facts_at, *body_at});
  if (catalog_.memory() > kNamesKept) catalog_ = Catalog();
}

Result<LongList::Piece> LongList::piece(size_t i, Catalog& catalog) {
  Piece out;
  INQUEST_TRY(const std::string facts, spool_->get(pieces_[i].facts));
  INQUEST_TRY(trace::Record record, packer_.unpack(facts, catalog));
  out.objects = std::move(record.objects);
  INQUEST_TRY(out.body, spool_->get(pieces_[i].body));
  return out;
}

void LongList::end() {
  if (brackets_.depth() != 0 || in_body_) fail("a list that breaks off");
  if (form_ == Form::kCaptureLine) read_line();
  flush_piece(true);
}

// What a capture line says besides its body.
void LongList::read_line() {
  line_text_ = envelope_ + suffix_;
  envelope_ = short_ ? line_text_ : std::string();
  const size_t size = line_text_.size();
  line_text_.append(kLinePadding, ' ');
  Line line;
  line.text = std::string_view(line_text_).substr(0, size);
  const auto parsed = parser_.capture(line);
  if (!parsed.ok()) return fail(parsed.error().text);
  if (parsed->kind != CaptureLine::Kind::kList) return fail("a line of another kind with more than 8 MiB");
  if (parsed->status >= 300) return fail("a refusal with more than 8 MiB");
  if (parsed->written.data() != line_text_.data() + hole_) return fail("a line with two bodies");
  line_ = *parsed;
}

Result<const LongList::List*> LongList::list() const {
  if (error_.empty()) return &list_;
  return Error{ErrorCode::kInput, error_, "", ""};
}

}  // namespace inquest::recorder
