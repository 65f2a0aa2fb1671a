#include "recorder/yaml_json.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <streambuf>

#include "base/json_text.h"

namespace inquest::recorder {
namespace {

constexpr size_t kMaxDepth = 200;

// Thrown through the library's parser, caught in yaml_to_json.
struct Refused {
  std::string text;
  int line;
};

// The events of one document → JSON.
class ToJson : public YAML::EventHandler {
 public:
  std::string out;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    before(mark, anchor);
    if (key_next()) throw Refused{"a key that is no text", mark.line};
    out += "null";
    after();
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { throw Refused{"an alias", mark.line}; }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    before(mark, anchor);
    const bool plain = tag == "?";
    if (key_next()) {
      if (!levels_.back().keys.insert(value).second) throw Refused{"a key that is given twice", mark.line};
      quote(value);
      out += ':';
      levels_.back().key_next = false;
      return;
    }
    if (plain && (value.empty() || value == "null" || value == "~")) {
      out += "null";
    } else if (plain && is_json_scalar(value)) {
      out += value;
    } else {
      quote(value);
    }
    after();
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, '[');
  }
  void OnSequenceEnd() override { close(']'); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, '{');
  }
  void OnMapEnd() override { close('}'); }

 private:
  struct Level {
    bool map = false, key_next = false, empty = true;
    std::set<std::string> keys;
  };

  bool key_next() const { return !levels_.empty() && levels_.back().key_next; }
  void before(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) throw Refused{"an anchor", mark.line};
    if (levels_.empty()) return;
    Level& level = levels_.back();
    if (level.map && !level.key_next) return;
    if (!level.empty) out += ',';
    level.empty = false;
  }
  void after() {
    if (!levels_.empty() && levels_.back().map) levels_.back().key_next = true;
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor, char bracket) {
    before(mark, anchor);
    if (key_next()) throw Refused{"a key that is no text", mark.line};
    if (levels_.size() == kMaxDepth) throw Refused{"nested deeper than 200 levels", mark.line};
    out += bracket;
    levels_.push_back({bracket == '{', bracket == '{', true, {}});
  }
  void close(char bracket) {
    levels_.pop_back();
    out += bracket;
    after();
  }
  void quote(const std::string& value) {
    out += '"';
    escape(value, Escapes::kShort, out);
    out += '"';
  }

  std::vector<Level> levels_;
};

class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

// A document may be nested so deeply in brackets that the library's own recursion overflows before any event.
bool too_deep(std::string_view text) {
  size_t depth = 0, most = 0, columns = 0;
  bool leading = true;
  for (const char c : text) {
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == '\n') {
      leading = true;
      columns = 0;
    } else if (leading && (c == '-' || c == '?' || c == ' ')) {
      columns += c == ' ' ? 0 : 1;
      most = std::max(most, columns);
    } else {
      leading = false;
    }
  }
  return most > 4 * kMaxDepth;
}

Error bad(std::string text, uint64_t line) {
  return {ErrorCode::kInput, std::move(text), "line " + std::to_string(line), ""};
}

}  // namespace

Result<std::string> yaml_to_json(std::string_view document, uint64_t first_line) {
  if (too_deep(document)) return bad("YAML nested deeper than 200 levels", first_line);
  const auto line_at = [&](int line) { return first_line + static_cast<uint64_t>(std::max(line, 0)); };
  ViewBuffer buffer(document);
  std::istream in(&buffer);
  ToJson handler;
  try {
    YAML::Parser parser(in);
    parser.HandleNextDocument(handler);
  } catch (const Refused& refused) {
    return bad(refused.text, line_at(refused.line));
  } catch (const YAML::Exception& error) {
    return bad("not valid YAML", line_at(error.mark.line));
  } catch (const std::exception&) {
    return bad("not valid YAML", first_line);
  }
  if (handler.out == "null") return std::string();
  return std::move(handler.out);
}

bool YamlSource::fill() {
  constexpr size_t kChunk = size_t{1} << 20;
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kChunk) buffer_.resize(end_ + 2 * kChunk);
  const size_t got = lines_->read_raw(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  ended_ = got == 0;
  return got > 0;
}

Line YamlSource::next() {
  Line line;
  size_t from = 0;
  for (;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    size_t dashes = rest.substr(0, 3) == "---" && from == 0 ? 0 : rest.find("\n---", from);
    if (dashes != std::string_view::npos && rest.substr(dashes, 1) == "\n") ++dashes;
    const bool cut = dashes != std::string_view::npos && dashes + 4 > rest.size() && !ended_;
    if (dashes == std::string_view::npos || cut) {
      from = rest.size() > 4 ? rest.size() - 4 : 0;
      if (rest.size() <= kMaxYaml && fill()) continue;
      dashes = rest.size();
    }
    const std::string_view text = rest.substr(0, dashes);
    const size_t eol = rest.find('\n', dashes);
    const size_t next = dashes == rest.size() ? dashes : eol == std::string_view::npos ? rest.size() : eol + 1;
    line.number = number_;
    number_ += static_cast<uint64_t>(std::count(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(next), '\n'));
    begin_ += next;
    from = 0;
    const bool skipped = skipping_;  // the rest of a document that was too large
    skipping_ = text.size() > kMaxYaml && next == text.size() && !(begin_ == end_ && ended_);
    if (skipped) skipping_ = next == text.size() && !(begin_ == end_ && ended_);
    if (skipped) continue;
    if (text.size() > kMaxYaml) {
      line.kind = Line::Kind::kTooLong;
      line.why = "a YAML document of more than " + std::to_string(kMaxYaml) + " bytes";
      return line;
    }
    if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) {
      line.kind = Line::Kind::kText;
      line.text = text;
      return line;
    }
    if (begin_ < end_ || !ended_) continue;
    if (lines_->damage().empty() || told_) return line;
    told_ = true;
    line.kind = Line::Kind::kDamaged;
    line.why = lines_->damage();
    return line;
  }
}

}  // namespace inquest::recorder
