#include "replayer/fault_builder.h"

#include <algorithm>
#include <sstream>

namespace inquest::replayer {
namespace {

constexpr size_t kMaxValue = 512;  // bytes: names of Kubernetes end at 253

Error usage(std::string text, std::string next = "") {
  return {ErrorCode::kUsage, std::move(text), "", std::move(next)};
}

std::string names(FieldSet set, std::string_view separator) {
  std::string out;
  for (const FieldSpec& field : plan_fields()) {
    if (set.holds(field.id)) out.append(out.empty() ? "" : separator).append(field.name);
  }
  return out;
}

// A name of Kubernetes holds neither, and a word of a flag cannot.
bool has_blank_or_control(std::string_view value) {
  return std::any_of(value.begin(), value.end(), [](char c) { return (c >= 0 && c <= ' ') || c == 0x7f; });
}

// --- What a fault must not say. Each is asked of every fault.

bool names_a_change(const Trigger& trigger) {
  return trigger.resource || trigger.verb || trigger.field || trigger.seq || trigger.after || trigger.time ||
         !trigger.name.empty() || !trigger.ns.empty() || !trigger.uid.empty();
}

Result<void> check_trigger(const Fault& fault) {
  const Trigger& trigger = fault.trigger;
  const Occasion occasion = occasion_of(fault);
  const bool timed = trigger.seq || trigger.after || trigger.time;
  if (occasion == Occasion::kInstant && !timed) {
    return usage("it says not when", "an instant such as at: +12s or at: \"@1200\", or the change that it waits for");
  }
  const bool lone_nth = fault.kind >= FaultKind::kDisconnect && occasion == Occasion::kChange && trigger.nth != 1 &&
                        !trigger.verb && !trigger.field && trigger.name.empty() && trigger.ns.empty() &&
                        trigger.uid.empty();
  if (lone_nth) return usage("nth counts changes, and none is named", "say which: pods DELETED, name=pod1");
  if (occasion == Occasion::kChange && !names_a_change(trigger)) {
    return usage("a fault needs a trigger", "say which change it hits: 'pods DELETED name=pod1', or @43");
  }
  if (trigger.seq && trigger.nth > 1) return usage("a record is there once: nth cannot be more than 1");
  return {};
}

Result<void> check_deleted(const Fault& fault) {
  if (fault.kind != FaultKind::kTombstone && fault.kind != FaultKind::kCollapse) return {};
  if (fault.trigger.verb == Verb::kDeleted) return {};
  return usage(quoted(name_of(fault.kind)) + " stands in place of a DELETED; it hits nothing else",
               "leave the verb out");
}

// The values that a field can take; none: whatever a name can be.
std::span<const std::string_view> values_of(Field field) {
  static constexpr std::array<std::string_view, 5> kPhases = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
  static constexpr std::array<std::string_view, 1> kSet = {"set"};
  static constexpr std::array<std::string_view, 2> kTruths = {"true", "false"};
  switch (field) {
    case Field::kNodeName:
      return {};
    case Field::kPhase:
      return kPhases;
    case Field::kDeletionTimestamp:
      return kSet;
    case Field::kUnschedulable:
      return kTruths;
  }
  return {};
}

Result<void> check_becomes(const Fault& fault) {
  const Trigger& trigger = fault.trigger;
  if (!trigger.field) return {};
  const std::span<const std::string_view> values = values_of(*trigger.field);
  const auto matches = [&](std::string_view value) { return glob_matches(trigger.becomes, value); };
  if (values.empty() || std::any_of(values.begin(), values.end(), matches)) return {};
  std::string all;
  for (const std::string_view value : values) all.append(all.empty() ? "" : ", ").append(value);
  return usage(quoted(trigger.becomes) + " is nothing that this field becomes", "one of " + all);
}

Result<void> check_resource(const Fault& fault) {
  const Trigger& trigger = fault.trigger;
  const bool nodes = trigger.resource == Resource::kNodes, pods = trigger.resource == Resource::kPods;
  if (nodes && !trigger.ns.empty()) return usage("nodes have no namespace");
  if (nodes && fault.watch != OnWatch::kEvery) return usage("nodes have one watch", "watch is for pods");
  const bool of_nodes = trigger.field == Field::kUnschedulable;
  if (pods && of_nodes) return usage("spec.unschedulable is a field of nodes, not of pods");
  if (nodes && trigger.field && !of_nodes) return usage("that field is one of pods, not of nodes");
  return {};
}

Result<void> check_spans(const Fault& fault) {
  const bool must = fault.kind == FaultKind::kDelay || fault.kind == FaultKind::kRvBack ||
                    fault.kind == FaultKind::kClock ||
                    (fault.kind == FaultKind::kList && fault.list != ListFault::kEmpty);
  if (must && fault.by.ns == 0) return usage(quoted(name_of(fault.kind)) + " of 0s does nothing");
  return {};
}

Result<void> check_bind(const Fault& fault) {
  if (fault.kind != FaultKind::kBind) return {};
  const bool late = fault.bind == BindFault::kLate;
  if (late && fault.by.ns == 0) return usage("a late answer needs how late", "add by=31s");
  if (!late && fault.by.ns != 0) return usage("by says how late an answer comes, and this one is not late");
  const bool may_differ = fault.bind == BindFault::kLost || fault.bind == BindFault::kStatus;
  if (fault.applied != Applied::kUnsaid && !may_differ) {
    return usage("applied goes with answer=lost or a status; this answer tells the truth");
  }
  return {};
}

constexpr std::array kChecks = {check_trigger, check_deleted, check_becomes, check_resource, check_spans, check_bind};

}  // namespace

FaultBuilder::FaultBuilder(FaultKind kind) : kind_(spec_of(kind)) { fault_.kind = kind; }

const FieldSpec* FaultBuilder::find(std::string_view name) const {
  for (const FieldSpec& field : plan_fields()) {
    if ((kind_.takes | kind_.also).holds(field.id) && field.name == name) return &field;
  }
  return nullptr;
}

Result<void> FaultBuilder::set(std::string_view name, std::string_view value) {
  const FieldSpec* field = find(name);
  if (field == nullptr) {
    return usage(quoted(kind_.name) + " takes no field " + quoted(name), "it takes " + names(kind_.takes, ", "));
  }
  return set(*field, value);
}

Result<void> FaultBuilder::set(const FieldSpec& field, std::string_view value) {
  const FieldSpec*& said = said_[static_cast<size_t>(field.says)];
  if (said != nullptr) {
    const bool twice = said->id == field.id;
    return usage(twice ? std::string(field.name) + " stands here twice"
                       : quoted(said->name) + " and " + quoted(field.name) + " exclude each other");
  }
  said = &field;
  if (value.size() > kMaxValue) return usage(std::string(field.name) + " is longer than 512 bytes");
  if (has_blank_or_control(value)) return usage(std::string(field.name) + " takes one word, without blanks");
  if (field.id == FieldId::kAt && value.starts_with('@') && !kind_.takes.holds(FieldId::kSeq)) {
    return usage(quoted(kind_.name) + " waits for no record", "at takes +12.5s or 2026-11-29T20:04:11Z here");
  }
  return field.set(fault_, value);
}

Result<void> FaultBuilder::word(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals != std::string_view::npos) return set(word.substr(0, equals), word.substr(equals + 1));
  for (const FieldSpec& field : plan_fields()) {
    if (!kind_.takes.holds(field.id) || !field.alone(word)) continue;
    return set(field, word == field.name ? "true" : word);
  }
  return usage(quoted(word) + " is no word of " + quoted(kind_.name),
               "such as: " + std::string(kind_.example) + "; it takes " + names(kind_.takes, ", "));
}

Result<void> FaultBuilder::words(std::string_view text) {
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) INQUEST_TRY_VOID(this->word(word));
  return {};
}

Result<Fault> FaultBuilder::build() {
  bool complete = names(kind_.needs, "").empty();
  for (const FieldSpec* said : said_)
    complete = complete || (said != nullptr && (kind_.needs | kind_.also).holds(said->id));
  if (!complete) {
    return usage(quoted(kind_.name) + " needs " + names(kind_.needs, " or "), "such as: " + std::string(kind_.example));
  }
  const bool deleted = fault_.kind == FaultKind::kTombstone || fault_.kind == FaultKind::kCollapse;
  if (deleted && !fault_.trigger.verb) fault_.trigger.verb = Verb::kDeleted;
  for (const auto& check : kChecks) INQUEST_TRY_VOID(check(fault_));
  fault_.text = std::string(kind_.name);
  if (const std::string words = words_of(fault_); !words.empty()) fault_.text += " " + words;
  return fault_;
}

}  // namespace inquest::replayer
