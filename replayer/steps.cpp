#include "replayer/steps.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <span>

#include "base/duration.h"
#include "kube/quantity.h"

namespace inquest::replayer {
namespace {

constexpr std::string_view kScheduler = "default-scheduler";
constexpr std::string_view kNamespace = "default";
constexpr uint32_t kMaxRange = 10'000;
constexpr Duration kPlacingTakes = Duration::milliseconds(10);  // from the request to the answer, and on to its frame

Error wrong(std::string text, std::string next = "") {
  return {ErrorCode::kInput, std::move(text), "", std::move(next)};
}
std::string quoted(std::string_view word) { return "'" + std::string(word.substr(0, 60)) + "'"; }

// How many letters must change to make one of the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// "did you mean 'created'?", or all the words there are.
std::string advice(std::string_view word, std::span<const std::string_view> words) {
  std::string all = "one of ";
  std::string_view nearest;
  size_t best = 3;  // a word further off is another word
  for (const std::string_view candidate : words) {
    all.append(candidate == words.front() ? "" : ", ").append(candidate);
    const size_t far = word.size() > kMaxName ? best : distance(word, candidate);
    if (far < best) best = far, nearest = candidate;
  }
  return nearest.empty() ? all : "did you mean " + quoted(nearest) + "?";
}

// --- What an object is made of

using Check = bool (*)(std::string_view value);
bool is_quantity(std::string_view value) {
  const auto quantity = kube::parse_quantity(value);
  return quantity && quantity->milli_value >= 0;
}
bool is_flag(std::string_view value) { return value == "true" || value == "false"; }
bool is_readiness(std::string_view value) { return is_flag(value) || value == "unknown"; }
bool is_word(std::string_view value) { return !value.empty(); }
bool is_anything(std::string_view) { return true; }
bool is_number(std::string_view value) {
  int32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size();
}
// 8080, or 8080,53/UDP
bool is_ports(std::string_view value) {
  while (!value.empty()) {
    const size_t comma = value.find(',');
    std::string_view port = value.substr(0, comma);
    if (port.ends_with("/UDP") || port.ends_with("/TCP")) port.remove_suffix(4);
    uint16_t number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size() || number == 0) return false;
    if (comma == std::string_view::npos) return true;
    value.remove_prefix(comma + 1);
  }
  return false;
}
// NoSchedule, or VALUE:NoSchedule
bool is_effect(std::string_view value) {
  const std::string_view effect = value.substr(value.rfind(':') + 1);
  return effect == "NoSchedule" || effect == "PreferNoSchedule" || effect == "NoExecute";
}

struct Setting {
  std::string_view key;  // one that ends with a dot stands for all that begin so
  Check check;
  std::string_view takes;
};
constexpr std::array<Setting, 11> kPodSettings = {{{"cpu", is_quantity, "a quantity, such as 500m"},
                                                   {"memory", is_quantity, "a quantity, such as 128Mi"},
                                                   {"ephemeral-storage", is_quantity, "a quantity, such as 1Gi"},
                                                   {"hostPort", is_ports, "ports, such as 8080 or 8080,53/UDP"},
                                                   {"priority", is_number, "a whole number"},
                                                   {"scheduler", is_word, "a name"},
                                                   {"node", is_word, "a node's name"},
                                                   {"gated", is_flag, "true or false"},
                                                   {"label.", is_anything, "a value"},
                                                   {"selector.", is_anything, "a value"},
                                                   {"tolerates.", is_effect, "[VALUE:]EFFECT, such as NoSchedule"}}};
constexpr std::array<Setting, 8> kNodeSettings = {{{"cpu", is_quantity, "a quantity, such as 4"},
                                                   {"memory", is_quantity, "a quantity, such as 8Gi"},
                                                   {"ephemeral-storage", is_quantity, "a quantity, such as 100Gi"},
                                                   {"pods", is_number, "a whole number"},
                                                   {"ready", is_readiness, "true, false or unknown"},
                                                   {"unschedulable", is_flag, "true or false"},
                                                   {"label.", is_anything, "a value"},
                                                   {"taint.", is_effect, "[VALUE:]EFFECT, such as NoSchedule"}}};
constexpr Setting kExtended = {"", is_quantity, "a quantity, such as 1"};

bool safe(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:,+").find(c) != std::string_view::npos;
  });
}

Result<void> check_setting(std::string_view key, std::string_view value, Watched what) {
  const std::span<const Setting> known =
      what == Watched::kNodes ? std::span<const Setting>(kNodeSettings) : std::span<const Setting>(kPodSettings);
  const Setting* found = nullptr;
  std::vector<std::string_view> keys;
  for (const Setting& setting : known) {
    keys.push_back(setting.key);
    const bool family = setting.key.back() == '.' && key.starts_with(setting.key) && key.size() > setting.key.size();
    if (key == setting.key ? setting.key.back() != '.' : family) found = &setting;
  }
  if (found == nullptr && key.find('/') != std::string_view::npos) found = &kExtended;  // nvidia.com/gpu
  if (found == nullptr) {
    return wrong("a " + std::string(what == Watched::kNodes ? "node" : "pod") + " has no setting " + quoted(key),
                 advice(key, keys));
  }
  if (!found->check(value)) return wrong(quoted(key) + " takes " + std::string(found->takes));
  return {};
}

// --- Words of a line

class Words {
 public:
  explicit Words(std::string_view line) {
    for (size_t at = 0; at < line.size();) {
      const size_t begin = line.find_first_not_of(" \t", at);
      if (begin == std::string_view::npos) break;
      at = std::min(line.find_first_of(" \t", begin), line.size());
      words_.push_back(line.substr(begin, at - begin));
    }
  }

  bool done() const { return next_ == words_.size(); }
  std::string_view peek(size_t ahead = 0) const {
    return next_ + ahead < words_.size() ? words_[next_ + ahead] : std::string_view();
  }
  std::string_view take() { return done() ? std::string_view() : words_[next_++]; }
  bool take_if(std::string_view word) {
    if (peek() != word) return false;
    ++next_;
    return true;
  }
  // The value of key=value, wherever it stands, which then stands there no longer; "" if it does not.
  std::string_view take_setting(std::string_view key) {
    for (size_t i = next_; i < words_.size(); ++i) {
      const std::string_view word = words_[i];
      if (word.size() <= key.size() || word[key.size()] != '=' || !word.starts_with(key)) continue;
      words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(i));
      return word.substr(key.size() + 1);
    }
    return {};
  }
  // Every word must be one that JSON and reports can hold as it is.
  Result<void> check() const {
    if (words_.empty()) return wrong("an empty step");
    for (const std::string_view word : words_) {
      if (word.size() > kMaxName) return wrong("a word of more than 1024 characters");
      const bool list = word.find('[') != std::string_view::npos;  // pod[1-20]
      std::string plain(word);
      if (list) std::erase_if(plain, [](char c) { return c == '[' || c == ']'; });
      std::erase(plain, '=');
      if (!safe(plain)) {
        return wrong(quoted(printable(word)) + " holds something else than letters, digits and -_./:,+=");
      }
    }
    return {};
  }

 private:
  static std::string printable(std::string_view word) {
    std::string out(word);
    for (char& c : out) c = c > ' ' && c <= '~' ? c : '?';
    return out;
  }

  std::vector<std::string_view> words_;
  size_t next_ = 0;
};

// "pod", "[1-20]" of "pod[1-20]".
struct Range {
  std::string prefix;
  uint32_t first = 0, last = 0;
  bool many = false;
};

Result<Range> parse_range(std::string_view name) {
  Range out;
  const size_t open = name.find('[');
  out.prefix = name.substr(0, open);
  if (open == std::string_view::npos) return out;
  const std::string_view inside = name.substr(open + 1);
  const char* const end = inside.data() + inside.size();
  const auto [dash, bad_first] = std::from_chars(inside.data(), end, out.first);
  const bool second = bad_first == std::errc() && dash != end && *dash == '-';
  const auto [close, bad_last] = std::from_chars(second ? dash + 1 : end, end, out.last);
  if (!second || bad_last != std::errc() || close + 1 != end || *close != ']' || out.last < out.first) {
    return wrong(quoted(name) + " is no name", "several pods at once are written pod[1-20]");
  }
  if (out.last - out.first >= kMaxRange) return wrong(quoted(name) + " is more than 10000 pods");
  out.many = true;
  return out;
}

// One line while it is taken apart.
class Line {
 public:
  Line(Words words, Duration before) : words_(std::move(words)) { step_.at = before; }

  Result<std::vector<Step>> read() {
    INQUEST_TRY_VOID(read_time());
    if (words_.done()) return wrong("a time without a step", "such as '+1s pod1 created'");
    const std::string_view subject = words_.take();
    if (words_.done())
      return wrong("nothing is said of " + quoted(subject), "such as '" + std::string(subject) + " created'");
    if (subject == "node") return read_node();
    if (subject == "pods" || subject == "nodes" || subject == "events") return read_watch(subject);
    return read_pod(subject);
  }

  Result<Step> read_object(Watched what) {
    step_.what = what;
    const std::string_view name = words_.take();
    if (what == Watched::kPods) {
      set_pod(name);
    } else {
      step_.name = name;
    }
    INQUEST_TRY_VOID(check_name(step_.name));
    INQUEST_TRY_VOID(read_settings());
    return step_;
  }

 private:
  // "+1.5s" after the start, "10ms later" than the step before; nothing: at its instant.
  Result<void> read_time() {
    const std::string_view first = words_.peek();
    if (first.starts_with('+')) {
      INQUEST_TRY(const Duration at, parse_duration(first.substr(1)));
      if (at < step_.at) return wrong("it lies before the step above it", "steps stand in the order of their time");
      step_.at = at;
      words_.take();
    } else if (words_.peek(1) == "later" || words_.peek(1) == "later,") {
      INQUEST_TRY(const Duration later, parse_duration(first));
      step_.at = step_.at + later;
      words_.take();
      words_.take();
    }
    return {};
  }

  static Result<void> check_name(std::string_view name) {
    if (name.empty() || name.find_first_of("/:,+=[]") != std::string_view::npos) {
      return wrong(quoted(name) + " is no name", "names are letters, digits, '-', '.' and '_'");
    }
    return {};
  }

  void set_pod(std::string_view word) {
    const size_t slash = word.find('/');
    step_.ns = slash == std::string_view::npos ? kNamespace : word.substr(0, slash);
    step_.name = slash == std::string_view::npos ? word : word.substr(slash + 1);
  }

  // What may follow: key=value, to the end of the line.
  Result<void> read_settings() {
    while (!words_.done()) {
      const std::string_view word = words_.take();
      const size_t equals = word.find('=');
      if (equals == std::string_view::npos) {
        return wrong(quoted(word) + " is not understood here", "settings are written key=value");
      }
      const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
      INQUEST_TRY_VOID(check_setting(key, value, step_.what));
      for (const auto& [before, ignored] : step_.settings) {
        if (before == key) return wrong(quoted(key) + " is said twice");
      }
      step_.settings.emplace_back(key, value);
    }
    return {};
  }

  Result<std::string> read_name(std::string_view after) {
    const std::string_view word = words_.take();
    if (word.empty()) return wrong("a name is missing after '" + std::string(after) + "'");
    INQUEST_TRY_VOID(check_name(word));
    return std::string(word);
  }

  // [by NAME]
  Result<void> read_scheduler() {
    step_.scheduler = kScheduler;
    if (words_.take_if("by")) {
      INQUEST_TRY(step_.scheduler, read_name("by"));
    }
    return {};
  }

  Result<std::vector<Step>> finish() {
    if (!words_.done()) return wrong(quoted(words_.peek()) + " is not understood here");
    return std::vector<Step>{step_};
  }

  Result<std::vector<Step>> read_node() {
    static constexpr std::array<std::string_view, 3> kWords = {"added", "changed", "removed"};
    step_.what = Watched::kNodes;
    INQUEST_TRY(step_.name, read_name("node"));
    const std::string_view word = words_.take();
    const auto found = std::find(kWords.begin(), kWords.end(), word);
    if (found == kWords.end()) return wrong("nodes know no step " + quoted(word), advice(word, kWords));
    step_.kind = std::array{StepKind::kAdded, StepKind::kChanged,
                            StepKind::kRemoved}[static_cast<size_t>(found - kWords.begin())];
    if (step_.kind != StepKind::kRemoved) INQUEST_TRY_VOID(read_settings());
    if (step_.kind == StepKind::kChanged && step_.settings.empty()) return nothing_changes();
    return finish();
  }

  static Error nothing_changes() { return wrong("it does not say what changes", "such as 'changed label.app=web'"); }

  Result<std::vector<Step>> read_watch(std::string_view subject) {
    static constexpr std::array<std::string_view, 7> kWords = {"cut", "resumed",  "relisted", "gone",
                                                               "gap", "bookmark", "listed"};
    step_.what = subject == "pods" ? Watched::kPods : subject == "nodes" ? Watched::kNodes : Watched::kEvents;
    const std::string_view word = words_.take();
    const auto found = std::find(kWords.begin(), kWords.end(), word);
    if (found == kWords.end()) return wrong("a watch knows no step " + quoted(word), advice(word, kWords));
    step_.kind =
        static_cast<StepKind>(static_cast<size_t>(StepKind::kCut) + static_cast<size_t>(found - kWords.begin()));
    return finish();
  }

  Result<std::vector<Step>> read_pod(std::string_view subject) {
    using Read = Result<std::vector<Step>> (Line::*)();
    struct Word {
      std::string_view text;
      StepKind kind;
      Read read;
    };
    static constexpr std::array<Word, 13> kWords = {
        {{"created", StepKind::kAdded, &Line::read_created},
         {"re-created", StepKind::kAdded, &Line::read_recreated},
         {"changed", StepKind::kChanged, &Line::read_changed},
         {"sent", StepKind::kSent, &Line::read_sent},
         {"answered", StepKind::kAnswered, &Line::read_answered},
         {"confirmed", StepKind::kConfirmed, &Line::read_confirmed},
         {"placed", StepKind::kSent, &Line::read_placed},
         {"running", StepKind::kRunning, &Line::finish},
         {"succeeded", StepKind::kSucceeded, &Line::finish},
         {"failed", StepKind::kFailed, &Line::finish},
         {"deleting", StepKind::kDeleting, &Line::finish},
         {"deleted", StepKind::kRemoved, &Line::finish},
         {"unschedulable", StepKind::kUnschedulable, &Line::read_unschedulable}}};
    INQUEST_TRY(const Range range, parse_range(subject));
    set_pod(range.prefix);
    INQUEST_TRY_VOID(check_name(step_.ns));
    INQUEST_TRY_VOID(check_name(step_.name));
    const std::string_view word = words_.take();
    const auto found = std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.text == word; });
    if (found == kWords.end()) {
      std::vector<std::string_view> all;
      all.reserve(kWords.size());
      for (const Word& known : kWords) all.push_back(known.text);
      return wrong("pods know no step " + quoted(word), advice(word, all));
    }
    step_.kind = found->kind;
    if (!range.many) return (this->*found->read)();
    Duration every;
    if (const std::string_view said = words_.take_setting("every"); !said.empty()) {
      INQUEST_TRY(every, parse_duration(said));
    }
    INQUEST_TRY(const std::vector<Step> steps, (this->*found->read)());
    return repeated(range, every, steps);
  }

  // Of each of pod[1-20], `every` so long.
  static std::vector<Step> repeated(const Range& range, Duration every, const std::vector<Step>& steps) {
    std::vector<Step> out;
    for (uint32_t i = range.first; i <= range.last; ++i) {
      for (Step step : steps) {
        step.name += std::to_string(i);
        step.at = step.at + every * static_cast<int64_t>(i - range.first);
        out.push_back(std::move(step));
      }
    }
    return out;
  }

  Result<std::vector<Step>> read_created() {
    INQUEST_TRY_VOID(read_settings());
    return finish();
  }
  Result<std::vector<Step>> read_recreated() {
    step_.again = true;
    return read_created();
  }
  Result<std::vector<Step>> read_changed() {
    INQUEST_TRY_VOID(read_settings());
    if (step_.settings.empty()) return nothing_changes();
    return finish();
  }

  // to NODE [by NAME] [without uid]
  Result<std::vector<Step>> read_sent() {
    if (!words_.take_if("to")) return wrong("it does not say where to", "such as 'sent to n1'");
    INQUEST_TRY(step_.node, read_name("to"));
    INQUEST_TRY_VOID(read_scheduler());
    if (words_.peek() == "without" && words_.peek(1) == "uid") {
      words_.take();
      words_.take();
      step_.without_uid = true;
    }
    return finish();
  }

  // CODE | lost [to NAME]
  Result<std::vector<Step>> read_answered() {
    const std::string_view word = words_.take();
    if (word != "lost") {
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), step_.code);
      const bool code = error == std::errc() && end == word.data() + word.size();
      if (!code || step_.code < 200 || step_.code > 599) {
        return wrong(quoted(word) + " is no answer", "an HTTP status such as 201, or lost");
      }
    }
    if (words_.take_if("to")) {
      INQUEST_TRY(step_.scheduler, read_name("to"));
    }
    return finish();
  }

  // [on NODE]
  Result<std::vector<Step>> read_confirmed() {
    if (words_.take_if("on")) {
      INQUEST_TRY(step_.node, read_name("on"));
    }
    return finish();
  }

  // on NODE [by NAME]: sent, answered 201, confirmed
  Result<std::vector<Step>> read_placed() {
    if (!words_.take_if("on")) return wrong("it does not say where", "such as 'placed on n1'");
    INQUEST_TRY(step_.node, read_name("on"));
    INQUEST_TRY_VOID(read_scheduler());
    INQUEST_TRY(std::vector<Step> steps, finish());
    Step answered = step_;
    answered.kind = StepKind::kAnswered;
    answered.code = 201;
    answered.at = answered.at + kPlacingTakes;
    Step confirmed = step_;
    confirmed.kind = StepKind::kConfirmed;
    confirmed.at = confirmed.at + kPlacingTakes * 2;
    steps.push_back(std::move(answered));
    steps.push_back(std::move(confirmed));
    return steps;
  }

  Result<std::vector<Step>> read_unschedulable() {
    INQUEST_TRY_VOID(read_scheduler());
    return finish();
  }

  Words words_;
  Step step_;
};

}  // namespace

Result<std::vector<Step>> parse_step(std::string_view line, Duration before) {
  if (line.size() > kMaxLine) return wrong("a step of more than 4096 characters");
  Words words(line);
  INQUEST_TRY_VOID(words.check());
  return Line(std::move(words), before).read();
}

Result<Step> parse_object(std::string_view line, Watched what) {
  if (line.size() > kMaxLine) return wrong("a line of more than 4096 characters");
  Words words(line);
  INQUEST_TRY_VOID(words.check());
  return Line(std::move(words), {}).read_object(what);
}

}  // namespace inquest::replayer
