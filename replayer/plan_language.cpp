#include "replayer/plan_language.h"

#include <algorithm>
#include <array>

namespace inquest::replayer {
namespace {

using enum FieldId;
constexpr FieldSet kAChange = {kResource, kVerb,     kName,          kNamespace, kUid, kNodeName,
                               kPhase,    kDeletion, kUnschedulable, kSeq,       kAt,  kNth};
constexpr FieldSet kFrames = kAChange | FieldSet{kWatch};
constexpr FieldSet kStream = {kResource, kWatch, kAt, kNth};

constexpr std::array<KindSpec, kFaultKinds> kKinds = {{
    {FaultKind::kDrop,
     "drop",
     "The change never reaches the scheduler.",
     "a change",
     "pods DELETED name=pod1",
     kFrames | FieldSet{kAllOf},
     {},
     {}},
    {FaultKind::kDelay,
     "delay",
     "The change reaches it late, and so does all that is behind it on its watch; with `overtake` it alone.",
     "a change",
     "pods MODIFIED spec.nodeName=pair-1 by=45s",
     kFrames | FieldSet{kBy, kOvertake, kAllOf},
     {kBy},
     {kFor}},
    {FaultKind::kSwap,
     "swap",
     "The change and the next one on its watch change places; if none comes within `by` (the lag bound), it waits no "
     "longer.",
     "a change",
     "pods DELETED name=pod1",
     kFrames | FieldSet{kBy},
     {},
     {}},
    {FaultKind::kDuplicate,
     "duplicate",
     "The change arrives twice, the second time at once or `by` later.",
     "a change",
     "pods MODIFIED name=pod1 by=2s",
     kFrames | FieldSet{kBy, kAllOf},
     {},
     {}},
    {FaultKind::kTombstone,
     "tombstone",
     "A DELETED is lost and comes with the next list, as a tombstone with the last version that the watch had shown.",
     "a change (DELETED)",
     "pods name=pod1",
     kFrames,
     {},
     {}},
    {FaultKind::kCollapse,
     "collapse",
     "A DELETED is lost, and the next ADDED of its name arrives as MODIFIED with another uid.",
     "a change (DELETED)",
     "pods name=pod1",
     kFrames,
     {},
     {}},
    {FaultKind::kRvBack,
     "rv-back",
     "The watch breaks at the change and resumes from `back` earlier: what came since comes once more.",
     "a change",
     "pods @43 back=5s",
     kFrames | FieldSet{kBack},
     {kBack},
     {kBy}},
    {FaultKind::kDisconnect,
     "disconnect",
     "The watches of the resource (else all) break and stay broken `for` some time, then go on.",
     "an instant, or a change",
     "pods at=+12s for=20s then=relist",
     kFrames | FieldSet{kFor, kThen},
     {},
     {}},
    {FaultKind::kBookmarks,
     "bookmarks",
     "Bookmarks are lost.",
     "a bookmark",
     "pods nth=all",
     kStream | FieldSet{kSeq},
     {},
     {}},
    {FaultKind::kList,
     "list",
     "A list that the scheduler asks for is answered wrongly.",
     "a list",
     "pods nth=2 stale=5s",
     kStream | FieldSet{kStale, kLate, kEmpty},
     {kStale, kLate, kEmpty},
     {}},
    {FaultKind::kBind,
     "bind",
     "The answer to a bind of the scheduler goes wrong.",
     "a bind",
     "nth=3 answer=lost applied=true",
     {kName, kNamespace, kUid, kNode, kSeq, kAt, kNth, kBy, kAnswer, kApplied},
     {kAnswer},
     {}},
    {FaultKind::kRestart,
     "restart",
     "The scheduler forgets what it has in memory, is away `for` some time, and lists anew.",
     "an instant, or a change",
     "@1200",
     kAChange | FieldSet{kFor},
     {},
     {}},
    {FaultKind::kClock,
     "clock",
     "The scheduler's clock jumps.",
     "an instant, or a change",
     "at=+10s step=-90s",
     kAChange | FieldSet{kStep},
     {kStep},
     {kBy}},
}};

}  // namespace

std::span<const KindSpec, kFaultKinds> plan_kinds() { return kKinds; }

const KindSpec& spec_of(FaultKind kind) { return kKinds[static_cast<size_t>(kind)]; }

const KindSpec* kind_named(std::string_view name) {
  const auto found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const KindSpec& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : &*found;
}

std::string words_of(const Fault& fault) {
  std::string out;
  for (const FieldSpec& field : plan_fields()) {
    if (!spec_of(fault.kind).takes.holds(field.id)) continue;
    const std::string word = field.show(fault);
    if (!word.empty()) out.append(out.empty() ? "" : " ").append(word);
  }
  return out;
}

std::string quoted(std::string_view text) {
  constexpr size_t kMost = 60;
  std::string out = "'";
  return out.append(text.substr(0, kMost)).append(text.size() > kMost ? "…'" : "'");
}

}  // namespace inquest::replayer
