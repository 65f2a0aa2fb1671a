#include "replayer/plan.h"

#include <array>
#include <sstream>

#include "base/duration.h"
#include "replayer/plan_yaml.h"

namespace inquest::replayer {
namespace {

template <typename Enum>
struct Word {
  std::string_view text;
  Enum value;
};
constexpr std::array<Word<Resource>, 4> kResources = {
    {{"pods", Resource::kPods}, {"pod", Resource::kPods}, {"nodes", Resource::kNodes}, {"node", Resource::kNodes}}};
constexpr std::array<Word<Verb>, 3> kVerbs = {
    {{"ADDED", Verb::kAdded}, {"MODIFIED", Verb::kModified}, {"DELETED", Verb::kDeleted}}};
constexpr std::array<Word<Field>, 4> kFields = {{{"spec.nodeName", Field::kNodeName},
                                                 {"status.phase", Field::kPhase},
                                                 {"metadata.deletionTimestamp", Field::kDeletionTimestamp},
                                                 {"spec.unschedulable", Field::kUnschedulable}}};
constexpr std::array<Word<OnWatch>, 3> kOnWatches = {
    {{"every", OnWatch::kEvery}, {"scheduled", OnWatch::kScheduled}, {"queued", OnWatch::kQueued}}};

constexpr YamlForm kPlanForm = {"a plan", "the plan", "plan/1"};

Error usage(std::string text, std::string next = "") {
  return {ErrorCode::kUsage, std::move(text), "", std::move(next)};
}

template <typename Enum, size_t N>
Result<Enum> one_of(const std::array<Word<Enum>, N>& words, std::string_view what, std::string_view text) {
  std::string all;
  for (const Word<Enum>& word : words) {
    if (word.text == text) return word.value;
    all += (all.empty() ? "" : ", ") + std::string(word.text);
  }
  return usage("'" + std::string(text) + "' is no " + std::string(what), "one of " + all);
}

Result<uint64_t> parse_count(std::string_view what, std::string_view text) {
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > 1'000'000'000'000) return usage(std::string(what) + " takes a whole number");
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  if (text.empty()) return usage(std::string(what) + " takes a whole number");
  return value;
}

// One field of a fault, the same for a flag's key=value and a plan's mapping.
Result<void> set_field(Fault& fault, std::string_view key, std::string_view value) {
  Trigger& trigger = fault.trigger;
  // An empty name is a forgotten one, such as "name=$POD"; it must not hit whatever comes first.
  if (value.empty() && (key == "name" || key == "namespace" || key == "uid")) {
    return usage(std::string(key) + " needs a value", "leave it out to match any");
  }
  if (key == "resource") {
    INQUEST_TRY(trigger.resource, one_of(kResources, "resource", value));
  } else if (key == "verb") {
    INQUEST_TRY(trigger.verb, one_of(kVerbs, "verb", value));
  } else if (key == "name") {
    trigger.name = value;
  } else if (key == "namespace") {
    trigger.ns = value;
  } else if (key == "uid") {
    trigger.uid = value;
  } else if (key == "field") {
    INQUEST_TRY(trigger.field, one_of(kFields, "field that a trigger knows", value));
  } else if (key == "becomes") {
    trigger.becomes = value;
  } else if (key == "seq") {
    if (value.starts_with('@')) value.remove_prefix(1);
    INQUEST_TRY(trigger.seq, parse_count("seq", value));
  } else if (key == "at") {
    if (value.starts_with('@')) return set_field(fault, "seq", value);
    if (value.starts_with('+')) value.remove_prefix(1);
    INQUEST_TRY(trigger.after, parse_duration(value));
  } else if (key == "nth") {
    if (value == "all") {
      trigger.nth = 0;
    } else {
      INQUEST_TRY(trigger.nth, parse_count("nth", value));
      if (trigger.nth == 0) return usage("nth counts from 1", "say all for every match");
    }
  } else if (key == "watch") {
    INQUEST_TRY(fault.watch, one_of(kOnWatches, "watch", value));
  } else if (key == "by") {
    INQUEST_TRY(fault.by, parse_duration(value));
  } else if (key == "overtake") {
    if (value != "true" && value != "false") return usage("overtake takes true or false");
    fault.overtake = value == "true";
  } else if (key == "all-of") {
    if (value != "uid") return usage("all-of takes uid");
    fault.all_of_uid = true;
  } else {
    return usage(
        "a fault has no field '" + std::string(key) + "'",
        "fields: resource, verb, name, namespace, uid, field, becomes, seq, at, nth, watch, by, overtake, all-of");
  }
  return {};
}

Result<void> check_fault(const Fault& fault) {
  const Trigger& trigger = fault.trigger;
  if (fault.kind == FaultKind::kDelay && fault.by.ns == 0) return usage("a delay needs how long", "add by=5s");
  if (fault.kind == FaultKind::kDrop && (fault.by.ns != 0 || fault.overtake)) {
    return usage("a drop takes neither by nor overtake");
  }
  if (!trigger.becomes.empty() && !trigger.field) return usage("becomes needs a field");
  if (!trigger.resource && !trigger.verb && trigger.name.empty() && trigger.ns.empty() && trigger.uid.empty() &&
      !trigger.seq && !trigger.field && !trigger.after) {
    return usage("a fault needs a trigger", "say which change it hits: 'pods DELETED name=pod1', or @43");
  }
  return {};
}

// --- YAML

Result<void> read_field(Fault& fault, const std::string& name, const YAML::Node& key, const YAML::Node& value) {
  if (key.Scalar() == "when") {
    INQUEST_TRY(const auto entries, entries_of(name, value, "when"));
    for (const auto& [inner, setting] : entries) {
      if (inner.Scalar() != "field" && inner.Scalar() != "becomes") {
        return error_at(name, inner, "when takes field and becomes, not '" + inner.Scalar() + "'");
      }
      INQUEST_TRY_VOID(read_field(fault, name, inner, setting));
    }
    return {};
  }
  if (!value.IsScalar()) return error_at(name, key, "'" + key.Scalar() + "' takes one value");
  if (auto set = set_field(fault, key.Scalar(), value.Scalar()); !set) return located(set.error(), name, key);
  return {};
}

Result<Fault> read_fault(const std::string& name, const YAML::Node& node) {
  INQUEST_TRY(const auto entries, entries_of(name, node, "a fault"));
  if (entries.size() != 1) return error_at(name, node, "a fault is one mapping such as 'drop: {…}'");
  const auto& [kind, fields] = entries.front();
  Fault fault;
  if (kind.Scalar() == "drop") {
    fault.kind = FaultKind::kDrop;
  } else if (kind.Scalar() == "delay") {
    fault.kind = FaultKind::kDelay;
  } else {
    return error_at(name, kind, "there is no fault '" + kind.Scalar() + "'", "one of drop, delay");
  }
  INQUEST_TRY(const auto settings, entries_of(name, fields, "a fault's fields"));
  fault.text = kind.Scalar();
  for (const auto& [key, value] : settings) {
    INQUEST_TRY_VOID(read_field(fault, name, key, value));
    if (value.IsScalar()) fault.text += " " + key.Scalar() + "=" + value.Scalar();
  }
  if (fault.trigger.field) {
    fault.text += " when " + std::string(kFields[static_cast<size_t>(*fault.trigger.field)].text) + " becomes " +
                  fault.trigger.becomes;
  }
  if (auto checked = check_fault(fault); !checked) return located(checked.error(), name, node);
  return fault;
}

Result<Plan> read_plan(const YAML::Node& root, const std::string& name) {
  INQUEST_TRY(const auto entries, entries_of(name, root, "a plan"));
  Plan plan;
  bool versioned = false;
  for (const auto& [key, value] : entries) {
    if (key.Scalar() == "inquest") {
      INQUEST_TRY_VOID(check_version(kPlanForm, name, value));
      versioned = true;
    } else if (key.Scalar() == "faults") {
      INQUEST_TRY(plan.faults, read_faults(name, value));
    } else {
      return error_at(name, key, "a plan has no field '" + key.Scalar() + "'", "fields: inquest, faults");
    }
  }
  if (!versioned) return version_missing(kPlanForm, name, root);
  return plan;
}

}  // namespace

std::string_view name_of(FaultKind kind) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "drop",       "delay",     "swap", "duplicate", "tombstone", "collapse", "rv-back",
      "disconnect", "bookmarks", "list", "bind",      "restart",   "clock"};
  return kNames[static_cast<size_t>(kind)];
}

Result<std::vector<Fault>> read_faults(const std::string& name, const YAML::Node& node) {
  std::vector<Fault> faults;
  if (node.IsNull()) return faults;
  if (!node.IsSequence()) return error_at(name, node, "faults must be a list");
  if (node.size() > kMaxFaults) return error_at(name, node, "more than 10000 faults");
  for (const auto& entry : node) {
    INQUEST_TRY(Fault fault, read_fault(name, entry));
    faults.push_back(std::move(fault));
  }
  return faults;
}

Occasion occasion_of(const Fault& fault) {
  const Trigger& trigger = fault.trigger;
  switch (fault.kind) {
    case FaultKind::kList:
      return Occasion::kList;
    case FaultKind::kBookmarks:
      return Occasion::kBookmark;
    case FaultKind::kBind:
      return Occasion::kBind;
    case FaultKind::kDisconnect:
    case FaultKind::kRestart:
    case FaultKind::kClock:
      break;
    default:
      return Occasion::kChange;
  }
  const bool of_a_change = trigger.verb || trigger.field || trigger.nth != 1 || !trigger.name.empty() ||
                           !trigger.ns.empty() || !trigger.uid.empty() ||
                           (trigger.resource && fault.kind != FaultKind::kDisconnect);
  return of_a_change ? Occasion::kChange : Occasion::kInstant;
}

Result<Fault> parse_fault(FaultKind kind, std::string_view text) {
  Fault fault;
  fault.kind = kind;
  fault.text = std::string(name_of(kind)) + " " + std::string(text);
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    Result<void> set{};
    if (equals != std::string::npos) {
      const std::string_view key = std::string_view(word).substr(0, equals);
      const std::string_view value = std::string_view(word).substr(equals + 1);
      if (key.find('.') != std::string_view::npos) {  // spec.nodeName=pair-1: the field becomes this
        set = set_field(fault, "field", key);
        fault.trigger.becomes = value;
      } else {
        set = set_field(fault, key, value);
      }
    } else if (word.front() == '@') {
      set = set_field(fault, "seq", word);
    } else if (word.front() >= 'A' && word.front() <= 'Z') {
      set = set_field(fault, "verb", word);
    } else {
      set = set_field(fault, "resource", word);
    }
    if (!set) {
      Error error = set.error();
      error.place = "--" + std::string(name_of(kind)) + " '" + std::string(text) + "'";
      return error;
    }
  }
  if (auto checked = check_fault(fault); !checked) {
    Error error = checked.error();
    error.place = "--" + std::string(name_of(kind)) + " '" + std::string(text) + "'";
    return error;
  }
  return fault;
}

Result<Plan> parse_plan(const std::string& text, const std::string& name) {
  INQUEST_TRY(const YAML::Node root, load_yaml(kPlanForm, text, name));
  return read_plan(root, name);
}

Result<Plan> load_plan(const std::string& path) {
  INQUEST_TRY(const std::string text, read_yaml_file(kPlanForm, path));
  return parse_plan(text, path);
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == text[t] && pattern[p] != '*'))) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;  // let the star take one more character
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace inquest::replayer
