#include "replayer/plan.h"

#include "replayer/fault_builder.h"
#include "replayer/plan_yaml.h"

namespace inquest::replayer {
namespace {

constexpr YamlForm kPlanForm = {"a plan", "the plan", "plan/1"};

std::string kind_names() {
  std::string out;
  for (const KindSpec& kind : plan_kinds()) out.append(out.empty() ? "one of " : ", ").append(kind.name);
  return out;
}

// The two keys of `when` say what spec.nodeName: pair-1 says.
Result<void> read_when(FaultBuilder& fault, const std::string& name, const YAML::Node& key, const YAML::Node& value) {
  INQUEST_TRY(const auto entries, entries_of(name, value, "when"));
  YAML::Node field, becomes;
  for (const auto& [inner, setting] : entries) {
    const bool is_field = inner.Scalar() == "field";
    if (!is_field && inner.Scalar() != "becomes") {
      return error_at(name, inner, "when takes field and becomes, not " + quoted(inner.Scalar()));
    }
    if (!setting.IsScalar()) return error_at(name, inner, "'" + inner.Scalar() + "' takes one value");
    (is_field ? field : becomes).reset(setting);
  }
  if (!field.IsScalar() || !becomes.IsScalar()) return error_at(name, key, "when needs both field and becomes");
  if (field.Scalar().find('.') == std::string::npos) {
    return error_at(name, field, quoted(field.Scalar()) + " is no field that a change can be known by",
                    "such as spec.nodeName");
  }
  if (auto set = fault.set(field.Scalar(), becomes.Scalar()); !set) return located(set.error(), name, field);
  return {};
}

Result<void> read_field(FaultBuilder& fault, const std::string& name, const YAML::Node& key, const YAML::Node& value) {
  if (key.Scalar() == "when") return read_when(fault, name, key, value);
  if (!value.IsScalar()) return error_at(name, key, quoted(key.Scalar()) + " takes one value");
  if (auto set = fault.set(key.Scalar(), value.Scalar()); !set) return located(set.error(), name, key);
  return {};
}

// `drop: {name: pod1}`, or the words of a flag: `drop: pods name=pod1`.
Result<Fault> read_fault(const std::string& name, const YAML::Node& node) {
  INQUEST_TRY(const auto entries, entries_of(name, node, "a fault"));
  if (entries.size() != 1) return error_at(name, node, "a fault is one mapping such as 'drop: {…}'");
  const auto& [key, fields] = entries.front();
  const KindSpec* kind = kind_named(key.Scalar());
  if (kind == nullptr) return error_at(name, key, "there is no fault " + quoted(key.Scalar()), kind_names());
  if (fields.IsNull()) {
    return error_at(name, key, quoted(kind->name) + " says nothing", "such as: " + std::string(kind->example));
  }
  FaultBuilder fault(kind->kind);
  if (fields.IsScalar()) {
    if (auto set = fault.words(fields.Scalar()); !set) return located(set.error(), name, fields);
  } else {
    INQUEST_TRY(const auto settings, entries_of(name, fields, "a fault's fields"));
    for (const auto& [field, value] : settings) INQUEST_TRY_VOID(read_field(fault, name, field, value));
  }
  auto built = fault.build();
  if (!built) return located(built.error(), name, node);
  return built;
}

void note(std::vector<Error>& errors, Error error) {
  if (errors.size() < kMaxPlanErrors) errors.push_back(std::move(error));
}

std::vector<Fault> read_faults(const std::string& name, const YAML::Node& node, std::vector<Error>& errors) {
  std::vector<Fault> faults;
  if (node.IsNull()) return faults;
  if (!node.IsSequence()) {
    note(errors, error_at(name, node, "faults must be a list"));
  } else if (node.size() > kMaxFaults) {
    note(errors, error_at(name, node, "more than 10000 faults"));
  } else {
    for (const auto& entry : node) {
      auto fault = read_fault(name, entry);
      if (fault.ok()) {
        faults.push_back(*std::move(fault));
      } else {
        note(errors, fault.error());
      }
    }
  }
  return faults;
}

void read_root(const YAML::Node& root, const std::string& name, PlanRead& out) {
  const auto entries = entries_of(name, root, "a plan");
  if (!entries.ok()) return note(out.errors, entries.error());
  bool versioned = false;
  for (const auto& [key, value] : *entries) {
    if (key.Scalar() == "inquest") {
      if (auto version = check_version(kPlanForm, name, value); !version) note(out.errors, version.error());
      versioned = true;
    } else if (key.Scalar() == "faults") {
      out.plan.faults = read_faults(name, value, out.errors);
    } else {
      note(out.errors, error_at(name, key, "a plan has no field " + quoted(key.Scalar()), "fields: inquest, faults"));
    }
  }
  if (!versioned) note(out.errors, version_missing(kPlanForm, name, root));
}

Result<Plan> whole(PlanRead read) {
  if (!read.errors.empty()) return std::move(read.errors.front());
  return std::move(read.plan);
}

}  // namespace

std::string_view name_of(FaultKind kind) { return spec_of(kind).name; }

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

Result<std::vector<Fault>> read_faults(const std::string& name, const YAML::Node& node) {
  std::vector<Error> errors;
  std::vector<Fault> faults = read_faults(name, node, errors);
  if (!errors.empty()) return std::move(errors.front());
  return faults;
}

Result<Fault> parse_fault(FaultKind kind, std::string_view text) {
  FaultBuilder builder(kind);
  auto set = builder.words(text);
  auto fault = set.ok() ? builder.build() : Result<Fault>(set.error());
  if (fault.ok()) return fault;
  Error error = fault.error();
  error.place = "--" + std::string(name_of(kind)) + " " + quoted(text);
  return error;
}

PlanRead read_plan(const std::string& text, const std::string& name) {
  PlanRead out;
  const auto root = load_yaml(kPlanForm, text, name);
  if (root.ok()) {
    read_root(*root, name, out);
  } else {
    out.errors.push_back(root.error());
  }
  return out;
}

PlanRead read_plan_file(const std::string& path) {
  const auto text = read_yaml_file(kPlanForm, path);
  if (text.ok()) return read_plan(*text, path);
  return {{}, {text.error()}};
}

Result<Plan> parse_plan(const std::string& text, const std::string& name) { return whole(read_plan(text, name)); }
Result<Plan> load_plan(const std::string& path) { return whole(read_plan_file(path)); }

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
