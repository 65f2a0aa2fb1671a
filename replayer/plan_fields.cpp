#include "replayer/plan_language.h"

#include <algorithm>
#include <array>

#include "base/duration.h"
#include "base/rfc3339.h"

namespace inquest::replayer {
namespace {

template <typename Enum>
struct Word {
  std::string_view text;
  Enum value;
};
// The first word of a value is the one that a fault's text uses.
constexpr std::array<Word<Resource>, 4> kResources = {
    {{"pods", Resource::kPods}, {"nodes", Resource::kNodes}, {"pod", Resource::kPods}, {"node", Resource::kNodes}}};
constexpr std::array<Word<Verb>, 3> kVerbs = {
    {{"ADDED", Verb::kAdded}, {"MODIFIED", Verb::kModified}, {"DELETED", Verb::kDeleted}}};
constexpr std::array<Word<OnWatch>, 3> kOnWatches = {
    {{"scheduled", OnWatch::kScheduled}, {"queued", OnWatch::kQueued}, {"every", OnWatch::kEvery}}};
constexpr std::array<Word<Then>, 3> kThens = {
    {{"resume", Then::kResume}, {"relist", Then::kRelist}, {"gone", Then::kGone}}};
constexpr std::array<Word<BindFault>, 3> kBindFaults = {
    {{"lost", BindFault::kLost}, {"late", BindFault::kLate}, {"other-uid", BindFault::kOtherUid}}};
constexpr std::array<Word<Applied>, 2> kAppliedOrNot = {{{"true", Applied::kYes}, {"false", Applied::kNo}}};
constexpr std::array<Word<bool>, 2> kYesNo = {{{"true", true}, {"false", false}}};
constexpr std::array<Word<bool>, 1> kYes = {{{"true", true}}};
constexpr std::array<Word<bool>, 1> kOfUid = {{{"uid", true}}};

constexpr uint64_t kMaxCount = 1'000'000'000'000;
constexpr uint16_t kFirstRefusal = 400, kLastRefusal = 599;

Error usage(std::string text, std::string next = "") {
  return {ErrorCode::kUsage, std::move(text), "", std::move(next)};
}

template <typename Enum, size_t N>
const Word<Enum>* find(const std::array<Word<Enum>, N>& words, std::string_view text) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.text == text; });
  return found == words.end() ? nullptr : &*found;
}

template <typename Enum, size_t N>
Result<Enum> one_of(const std::array<Word<Enum>, N>& words, std::string_view what, std::string_view text) {
  if (const auto* word = find(words, text)) return word->value;
  std::string all;
  for (const auto& word : words) all.append(all.empty() ? "" : ", ").append(word.text);
  return usage(quoted(text) + " is no " + std::string(what), (N == 1 ? "say " : "one of ") + all);
}

template <typename Enum, size_t N>
std::string word_of(const std::array<Word<Enum>, N>& words, Enum value) {
  for (const auto& word : words) {
    if (word.value == value) return std::string(word.text);
  }
  return "";
}

Result<uint64_t> count_of(std::string_view what, std::string_view text) {
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > kMaxCount) return usage(std::string(what) + " takes a whole number");
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  if (text.empty()) return usage(std::string(what) + " takes a whole number");
  return value;
}

// An empty name is a forgotten one, such as "name=$POD"; it must not hit whatever comes first.
Result<void> set_text(std::string& into, std::string_view what, std::string_view value) {
  if (value.empty()) return usage(std::string(what) + " needs a value", "leave it out to match any");
  into = value;
  return {};
}

template <std::string Trigger::*member>
std::string show_text(const char* name, const Fault& fault) {
  const std::string& text = fault.trigger.*member;
  return text.empty() ? "" : name + ("=" + text);
}

Result<void> set_when(Fault& fault, Field field, std::string_view glob) {
  fault.trigger.field = field;
  fault.trigger.becomes = glob;
  return {};
}

std::string show_when(const Fault& fault, Field field) {
  if (fault.trigger.field != field) return "";
  const FieldId id = static_cast<FieldId>(static_cast<int>(FieldId::kNodeName) + static_cast<int>(field));
  return std::string(plan_fields()[static_cast<size_t>(id)].name) + "=" + fault.trigger.becomes;
}

Result<void> set_seq(Fault& fault, std::string_view value) {
  if (value.starts_with('@')) value.remove_prefix(1);
  INQUEST_TRY(fault.trigger.seq, count_of("seq", value));
  if (*fault.trigger.seq == 0) return usage("records count from @1");
  return {};
}

Result<void> set_at(Fault& fault, std::string_view value) {
  if (value.starts_with('@')) return set_seq(fault, value);
  fault.trigger.time = parse_rfc3339(value);
  if (fault.trigger.time) return {};
  if (value.starts_with('+')) value.remove_prefix(1);
  const auto offset = parse_duration(value);
  if (!offset.ok()) return usage(quoted(value) + " is no instant", "write it as +12.5s, @43 or 2026-11-29T20:04:11Z");
  fault.trigger.after = *offset;
  return {};
}

std::string show_at(const Fault& fault) {
  if (fault.trigger.time) return "at=" + format_rfc3339(*fault.trigger.time);
  return fault.trigger.after ? "at=+" + format_duration(*fault.trigger.after) : "";
}

Result<void> set_nth(Fault& fault, std::string_view value) {
  if (value == "all") {
    fault.trigger.nth = 0;
    return {};
  }
  INQUEST_TRY(fault.trigger.nth, count_of("nth", value));
  if (fault.trigger.nth == 0) return usage("nth counts from 1", "say all for every match");
  return {};
}

std::string show_nth(const Fault& fault) {
  const uint64_t nth = fault.trigger.nth;
  return nth == 1 ? "" : nth == 0 ? "nth=all" : "nth=" + std::to_string(nth);
}

Result<void> set_span(Fault& fault, std::string_view value) {
  INQUEST_TRY(fault.by, parse_duration(value));
  return {};
}

std::string show_span(const char* name, const Fault& fault) {
  return fault.by.ns == 0 ? "" : name + ("=" + format_duration(fault.by));
}

Result<void> set_step(Fault& fault, std::string_view value) {
  const bool back = value.starts_with('-');
  if (back || value.starts_with('+')) value.remove_prefix(1);
  INQUEST_TRY(fault.by, parse_duration(value));
  if (back) fault.by = Duration{} - fault.by;
  return {};
}

Result<void> set_list(Fault& fault, ListFault list, std::string_view value) {
  fault.list = list;
  if (list != ListFault::kEmpty) return set_span(fault, value);
  return one_of(kYes, "value of empty", value).ok() ? Result<void>{} : usage("empty takes true");
}

std::string show_list(const char* name, const Fault& fault, ListFault list) {
  if (fault.kind != FaultKind::kList || fault.list != list) return "";
  return list == ListFault::kEmpty ? name : name + ("=" + format_duration(fault.by));
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<void> set_answer(Fault& fault, std::string_view value) {
  if (!is_number(value)) {
    INQUEST_TRY(fault.bind, one_of(kBindFaults, "answer to a bind", value));
    return {};
  }
  INQUEST_TRY(const uint64_t status, count_of("answer", value));
  if (status < kFirstRefusal || status > kLastRefusal) {
    return usage(quoted(value) + " is no status that refuses a bind", "400 to 599, such as 404, 409, 500, 503, 504");
  }
  fault.bind = BindFault::kStatus;
  fault.status = static_cast<uint16_t>(status);
  return {};
}

std::string show_answer(const Fault& fault) {
  if (fault.kind != FaultKind::kBind) return "";
  return "answer=" +
         (fault.bind == BindFault::kStatus ? std::to_string(fault.status) : word_of(kBindFaults, fault.bind));
}

bool never(std::string_view) { return false; }

constexpr std::array<FieldSpec, kFieldIds> kFields = {{
    {FieldId::kResource, Says::kResource, "resource", "pods | nodes", "what changes, is listed or watched",
     [](std::string_view word) { return find(kResources, word) != nullptr; },
     [](Fault& fault, std::string_view value) -> Result<void> {
       INQUEST_TRY(fault.trigger.resource, one_of(kResources, "resource", value));
       return {};
     },
     [](const Fault& fault) { return fault.trigger.resource ? word_of(kResources, *fault.trigger.resource) : ""; }},
    {FieldId::kVerb, Says::kVerb, "verb", "ADDED | MODIFIED | DELETED",
     "as it was recorded, before any watch's selector",
     [](std::string_view word) { return find(kVerbs, word) != nullptr; },
     [](Fault& fault, std::string_view value) -> Result<void> {
       INQUEST_TRY(fault.trigger.verb, one_of(kVerbs, "verb", value));
       return {};
     },
     [](const Fault& fault) { return fault.trigger.verb ? word_of(kVerbs, *fault.trigger.verb) : ""; }},
    {FieldId::kName, Says::kName, "name", "GLOB", "the object's name; `*` is any characters, `?` any one", never,
     [](Fault& fault, std::string_view value) { return set_text(fault.trigger.name, "name", value); },
     [](const Fault& fault) { return show_text<&Trigger::name>("name", fault); }},
    {FieldId::kNamespace, Says::kNamespace, "namespace", "GLOB", "the pod's namespace", never,
     [](Fault& fault, std::string_view value) { return set_text(fault.trigger.ns, "namespace", value); },
     [](const Fault& fault) { return show_text<&Trigger::ns>("namespace", fault); }},
    {FieldId::kUid, Says::kUid, "uid", "UID", "this object alone, not another of its name; whole, no glob", never,
     [](Fault& fault, std::string_view value) { return set_text(fault.trigger.uid, "uid", value); },
     [](const Fault& fault) { return show_text<&Trigger::uid>("uid", fault); }},
    {FieldId::kNode, Says::kNode, "node", "GLOB", "the node that a bind is for", never,
     [](Fault& fault, std::string_view value) { return set_text(fault.trigger.node, "node", value); },
     [](const Fault& fault) { return show_text<&Trigger::node>("node", fault); }},
    {FieldId::kNodeName, Says::kBecomes, "spec.nodeName", "GLOB",
     "the change makes the pod's node so; empty: it has none any more", never,
     [](Fault& fault, std::string_view value) { return set_when(fault, Field::kNodeName, value); },
     [](const Fault& fault) { return show_when(fault, Field::kNodeName); }},
    {FieldId::kPhase, Says::kBecomes, "status.phase", "GLOB", "the change makes the pod's phase so", never,
     [](Fault& fault, std::string_view value) { return set_when(fault, Field::kPhase, value); },
     [](const Fault& fault) { return show_when(fault, Field::kPhase); }},
    {FieldId::kDeletion, Says::kBecomes, "metadata.deletionTimestamp", "set", "the change marks the pod for deletion",
     never, [](Fault& fault, std::string_view value) { return set_when(fault, Field::kDeletionTimestamp, value); },
     [](const Fault& fault) { return show_when(fault, Field::kDeletionTimestamp); }},
    {FieldId::kUnschedulable, Says::kBecomes, "spec.unschedulable", "true | false",
     "the change cordons a node, or ends it", never,
     [](Fault& fault, std::string_view value) { return set_when(fault, Field::kUnschedulable, value); },
     [](const Fault& fault) { return show_when(fault, Field::kUnschedulable); }},
    {FieldId::kSeq, Says::kWhere, "seq", "@RECORD", "this record of the trace, as reports name it",
     [](std::string_view word) { return word.starts_with('@'); }, set_seq,
     [](const Fault& fault) { return fault.trigger.seq ? "@" + std::to_string(*fault.trigger.seq) : ""; }},
    {FieldId::kAt, Says::kWhere, "at", "+OFFSET | TIME | @RECORD",
     "what comes this long after the trace's start, or later; of an instant: exactly then",
     [](std::string_view word) { return word.starts_with('+'); }, set_at, show_at},
    {FieldId::kNth, Says::kNth, "nth", "NUMBER | all", "the third that matches the rest, or every one; else the first",
     [](std::string_view word) { return word == "all"; }, set_nth, show_nth},
    {FieldId::kWatch, Says::kWatch, "watch", "scheduled | queued",
     "only on the watch of pods with a node, or of those without (`--watches two`)",
     [](std::string_view word) { return find(kOnWatches, word) != nullptr && word != "every"; },
     [](Fault& fault, std::string_view value) -> Result<void> {
       INQUEST_TRY(fault.watch, one_of(kOnWatches, "watch", value));
       return {};
     },
     [](const Fault& fault) {
       return fault.watch == OnWatch::kEvery ? "" : "watch=" + word_of(kOnWatches, fault.watch);
     }},
    {FieldId::kBy, Says::kBy, "by", "DURATION", "how late it comes", never, set_span,
     [](const Fault& fault) { return show_span("by", fault); }},
    {FieldId::kFor, Says::kBy, "for", "DURATION", "how long it lasts", never, set_span,
     [](const Fault& fault) { return show_span("for", fault); }},
    {FieldId::kBack, Says::kBy, "back", "DURATION", "how far back the watch goes", never, set_span,
     [](const Fault& fault) { return show_span("back", fault); }},
    {FieldId::kStep, Says::kBy, "step", "±DURATION", "how far the clock jumps; negative: back", never, set_step,
     [](const Fault& fault) { return show_span("step", fault); }},
    {FieldId::kStale, Says::kListAnswer, "stale", "DURATION", "the list shows what the API held so long before", never,
     [](Fault& fault, std::string_view value) { return set_list(fault, ListFault::kStale, value); },
     [](const Fault& fault) { return show_list("stale", fault, ListFault::kStale); }},
    {FieldId::kLate, Says::kListAnswer, "late", "DURATION", "the list arrives so much later", never,
     [](Fault& fault, std::string_view value) { return set_list(fault, ListFault::kLate, value); },
     [](const Fault& fault) { return show_list("late", fault, ListFault::kLate); }},
    {FieldId::kEmpty, Says::kListAnswer, "empty", "true", "the list holds nothing",
     [](std::string_view word) { return word == "empty"; },
     [](Fault& fault, std::string_view value) { return set_list(fault, ListFault::kEmpty, value); },
     [](const Fault& fault) { return show_list("empty", fault, ListFault::kEmpty); }},
    {FieldId::kOvertake, Says::kOvertake, "overtake", "true", "what is behind a delayed change does not wait",
     [](std::string_view word) { return word == "overtake"; },
     [](Fault& fault, std::string_view value) -> Result<void> {
       INQUEST_TRY(fault.overtake, one_of(kYesNo, "value of overtake", value));
       return {};
     },
     [](const Fault& fault) { return std::string(fault.overtake ? "overtake" : ""); }},
    {FieldId::kAllOf, Says::kAllOf, "all-of", "uid", "once it hit, every later change of the same object, too", never,
     [](Fault& fault, std::string_view value) -> Result<void> {
       INQUEST_TRY(fault.all_of_uid, one_of(kOfUid, "value of all-of", value));
       return {};
     },
     [](const Fault& fault) { return std::string(fault.all_of_uid ? "all-of=uid" : ""); }},
    {FieldId::kThen, Says::kThen, "then", "resume | relist | gone",
     "how the watch goes on: from where it was, by a list, or by the list that a 410 Gone asks for",
     [](std::string_view word) { return find(kThens, word) != nullptr; },
     [](Fault& fault, std::string_view value) -> Result<void> {
       INQUEST_TRY(fault.then, one_of(kThens, "way to go on", value));
       return {};
     },
     [](const Fault& fault) { return fault.then == Then::kResume ? "" : "then=" + word_of(kThens, fault.then); }},
    {FieldId::kAnswer, Says::kAnswer, "answer", "lost | late | other-uid | STATUS",
     "none comes; it comes `by` later; it bound whatever pod has the name by then; this status stands in its place",
     [](std::string_view word) { return find(kBindFaults, word) != nullptr || is_number(word); }, set_answer,
     show_answer},
    {FieldId::kApplied, Says::kApplied, "applied", "true | false",
     "whether the API carried the bind out; else as the trace holds it, or as the answer says",
     [](std::string_view word) { return word == "applied"; },
     [](Fault& fault, std::string_view value) -> Result<void> {
       INQUEST_TRY(fault.applied, one_of(kAppliedOrNot, "value of applied", value));
       return {};
     },
     [](const Fault& fault) {
       return fault.applied == Applied::kUnsaid ? "" : "applied=" + word_of(kAppliedOrNot, fault.applied);
     }},
}};

}  // namespace

std::span<const FieldSpec, kFieldIds> plan_fields() { return kFields; }

}  // namespace inquest::replayer
