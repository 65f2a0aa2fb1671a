#include <fmt/format.h>

#include "base/duration.h"
#include "base/rfc3339.h"
#include "report/plan_report.h"
#include "report/text.h"

namespace inquest::report {
namespace {

using replayer::Applied;
using replayer::BindFault;
using replayer::Fault;
using replayer::FaultKind;
using replayer::Field;
using replayer::ListFault;
using replayer::Occasion;
using replayer::OnWatch;
using replayer::Resource;
using replayer::Then;
using replayer::Trigger;

std::string ordinal(uint64_t n) {
  const uint64_t tens = n % 100, ones = n % 10;
  const char* ending = (tens >= 11 && tens <= 13) ? "th"
                       : ones == 1                ? "st"
                       : ones == 2                ? "nd"
                       : ones == 3                ? "rd"
                                                  : "th";
  return count(n) + ending;
}

std::string which(uint64_t nth) { return nth == 0 ? "every" : nth == 1 ? "the first" : "the " + ordinal(nth); }

std::string object(const Trigger& trigger) {
  if (!trigger.resource) return "a pod or node";
  return *trigger.resource == Resource::kPods ? "a pod" : "a node";
}

std::string named(const Trigger& trigger) {
  std::string out;
  if (!trigger.name.empty()) out += " named " + printable(trigger.name);
  if (!trigger.ns.empty()) out += " in namespace " + printable(trigger.ns);
  if (!trigger.uid.empty()) out += " with uid " + printable(trigger.uid);
  return out;
}

std::string instant(const Trigger& trigger) {
  if (trigger.seq) return fmt::format("@{}", *trigger.seq);
  if (trigger.time) return format_rfc3339(*trigger.time);
  return "+" + format_duration(trigger.after.value_or(Duration{}));
}

std::string since(const Trigger& trigger) {
  return trigger.after || trigger.time ? " at " + instant(trigger) + " or later" : "";
}

std::string makes(const Trigger& trigger) {
  switch (*trigger.field) {
    case Field::kNodeName:
      return trigger.becomes.empty() ? " that takes its node away"
                                     : " that puts it on node " + printable(trigger.becomes);
    case Field::kPhase:
      return " that makes it " + printable(trigger.becomes);
    case Field::kDeletionTimestamp:
      return " that marks it for deletion";
    case Field::kUnschedulable:
      return trigger.becomes == "true" ? " that cordons it"
                                       : " that makes spec.unschedulable " + printable(trigger.becomes);
  }
  return "";
}

// "the first DELETED of a pod named pod1", "every change of a node".
std::string change(const Trigger& trigger) {
  const std::string verb = trigger.verb ? std::string(name_of(*trigger.verb)) : "change";
  std::string out =
      trigger.seq ? fmt::format("the {} @{}", verb, *trigger.seq) : fmt::format("{} {}", which(trigger.nth), verb);
  if (trigger.seq && !trigger.resource && named(trigger).empty() && !trigger.field) return out;
  out += " of " + object(trigger) + named(trigger);
  if (trigger.field) out += makes(trigger);
  return out + since(trigger);
}

std::string on_watch(OnWatch watch) {
  return watch == OnWatch::kEvery    ? ""
         : watch == OnWatch::kQueued ? " on the watch of queued pods"
                                     : " on the watch of scheduled pods";
}

std::string of_resource(const Trigger& trigger) {
  if (!trigger.resource) return "";
  return *trigger.resource == Resource::kPods ? " of pods" : " of nodes";
}

std::string watches(const Fault& fault) {
  if (fault.watch != OnWatch::kEvery)
    return fault.watch == OnWatch::kQueued ? "the watch of queued pods" : "the watch of scheduled pods";
  return fault.trigger.resource && occasion_of(fault) == Occasion::kInstant ? "the watches" + of_resource(fault.trigger)
                                                                            : "all watches";
}

// --- What becomes of it

std::string frame_fate(const Fault& fault) {
  const std::string by = format_duration(fault.by);
  switch (fault.kind) {
    case FaultKind::kDrop:
      return "never reaches the scheduler";
    case FaultKind::kDelay:
      return fault.overtake ? fmt::format("arrives {} late, and what is behind it passes", by)
                            : fmt::format("arrives {} late, and so does all that is behind it", by);
    case FaultKind::kSwap:
      return fmt::format("changes places with the next frame, or arrives {} late if none comes",
                         fault.by.ns == 0 ? "the lag bound" : by);
    case FaultKind::kDuplicate:
      return fault.by.ns == 0 ? "arrives twice" : fmt::format("arrives twice, the second time {} later", by);
    case FaultKind::kTombstone:
      return "is lost, and the next list brings it as a tombstone";
    case FaultKind::kCollapse:
      return "is lost, and the next ADDED of its name arrives as MODIFIED with another uid";
    default:
      return fmt::format("breaks its watch, which resumes from {} earlier: what came since comes once more", by);
  }
}

std::string disconnect_fate(const Fault& fault) {
  const char* then = fault.then == Then::kResume   ? "resume from where they were"
                     : fault.then == Then::kRelist ? "begin with a list"
                                                   : "are told 410 Gone, and list";
  const std::string away = fault.by.ns == 0 ? "" : fmt::format(", stay so for {},", format_duration(fault.by));
  return fmt::format("{} break{} and {}", watches(fault), away, then);
}

std::string list_fate(const Fault& fault) {
  const std::string by = format_duration(fault.by);
  switch (fault.list) {
    case ListFault::kStale:
      return fmt::format("shows what the API held {} before", by);
    case ListFault::kEmpty:
      return "holds nothing";
    case ListFault::kLate:
      return fmt::format("arrives {} late", by);
  }
  return "";
}

std::string bind_fate(const Fault& fault) {
  const std::string applied = fault.applied == Applied::kYes  ? ", though the API carried it out"
                              : fault.applied == Applied::kNo ? ", and the API did not carry it out"
                                                              : "";
  switch (fault.bind) {
    case BindFault::kLost:
      return "is never answered" + applied;
    case BindFault::kLate:
      return fmt::format("is answered {} late", format_duration(fault.by));
    case BindFault::kStatus:
      return fmt::format("is answered {}{}", fault.status, applied);
    case BindFault::kOtherUid:
      return "binds whatever pod has the name by then, whatever its uid";
  }
  return "";
}

std::string scheduler_fate(const Fault& fault) {
  if (fault.kind == FaultKind::kRestart) {
    const std::string away = fault.by.ns == 0 ? "" : fmt::format(", is away for {},", format_duration(fault.by));
    return fmt::format("the scheduler forgets what it has in memory{} and lists anew", away);
  }
  const bool back = fault.by.ns < 0;
  return fmt::format("the scheduler's clock jumps {} by {}", back ? "back" : "forwards",
                     format_duration(back ? Duration{} - fault.by : fault.by));
}

std::string stream_fate(const Fault& fault) {
  const std::string fate = fault.kind == FaultKind::kDisconnect ? disconnect_fate(fault) : scheduler_fate(fault);
  return occasion_of(fault) == Occasion::kInstant ? fmt::format("at {} {}", instant(fault.trigger), fate)
                                                  : fmt::format("with {} {}", change(fault.trigger), fate);
}

std::string clause(const Fault& fault) {
  const Trigger& trigger = fault.trigger;
  switch (fault.kind) {
    case FaultKind::kDisconnect:
    case FaultKind::kRestart:
    case FaultKind::kClock:
      return stream_fate(fault);
    case FaultKind::kBookmarks:
      return fmt::format("{} bookmark{}{}{} is lost", which(trigger.nth), of_resource(trigger), on_watch(fault.watch),
                         trigger.seq ? " " + instant(trigger) : since(trigger));
    case FaultKind::kList:
      return fmt::format("{} list{}{} that the scheduler asks for{} {}", which(trigger.nth), of_resource(trigger),
                         on_watch(fault.watch), since(trigger), list_fate(fault));
    case FaultKind::kBind:
      return fmt::format("{} of a pod{}{}{} {}",
                         trigger.seq ? "the bind " + instant(trigger) : which(trigger.nth) + " bind", named(trigger),
                         trigger.node.empty() ? "" : " to node " + printable(trigger.node), since(trigger),
                         bind_fate(fault));
    default:
      return fmt::format("{}{} {}{}", change(trigger), on_watch(fault.watch), frame_fate(fault),
                         fault.all_of_uid ? "; so does every later change of the same object" : "");
  }
}

}  // namespace

std::string sentence_of(const Fault& fault) {
  std::string out = clause(fault);
  if (out.front() >= 'a' && out.front() <= 'z') out.front() = static_cast<char>(out.front() - 'a' + 'A');
  return out + ".";
}

}  // namespace inquest::report
