// Steps: a trace told line by line, for those who have no recording of what they mean (docs/steps.md):
//
//   +1s pod1 created hostPort=8080
//   10ms later, pod1 sent to n1
//
// A step is something that the API server, a scheduler's bind log or a watch shows. What a scheduler hears of it, and
// when, is no step: faults say that (plan.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace inquest::replayer {

enum class StepKind : uint8_t {
  // Of a node or a pod. Each is a change of the API, with a resourceVersion and a frame of its own.
  kAdded,
  kChanged,
  kRemoved,
  kRunning,
  kSucceeded,
  kFailed,
  kDeleting,   // its deletionTimestamp is set
  kConfirmed,  // of a pod: it has its node
  // Of a pod and a scheduler. The API's own change comes with kConfirmed.
  kSent,
  kAnswered,
  kUnschedulable,  // an event FailedScheduling
  // Of a watch by the recorder.
  kCut,       // it ends
  kResumed,   // it goes on where it was cut: what happened since comes now
  kRelisted,  // it begins anew with a list
  kGone,      // it ends with 410 Gone
  kGap,       // it goes on from now: what happened since the cut was never seen
  kBookmark,
  kListed,  // a list beside the open watch, a checkpoint
};

enum class Watched : uint8_t { kNodes, kPods, kEvents };

// What an object is made of, in the order written: ("cpu", "500m"), ("label.app", "web").
using Settings = std::vector<std::pair<std::string, std::string>>;

struct Step {
  Duration at;  // after the start
  StepKind kind = StepKind::kAdded;
  Watched what = Watched::kPods;  // what it is about; of steps of a watch: which
  std::string ns, name;           // of the pod or node
  std::string node;               // of kSent, and where kConfirmed says it
  std::string scheduler;          // of kSent and kUnschedulable; of kAnswered "": whoever asked first
  uint16_t code = 0;              // of kAnswered; 0: a transport error
  bool again = false;             // of kAdded: the name was used before
  bool without_uid = false;       // of kSent
  Settings settings;              // of kAdded and kChanged
  int line = 0;                   // of the file
};

inline constexpr size_t kMaxSteps = 100'000;
inline constexpr size_t kMaxLine = 4096;  // of a step as written
inline constexpr size_t kMaxName = 1024;  // of any word of it

// One line, which may stand for several steps ("placed on", "pod[1-20]"). `before`: the time of the step before it.
// The steps come in the order of their time; the first is the one that the line is about. Errors: what was expected,
// and the nearest word.
Result<std::vector<Step>> parse_step(std::string_view line, Duration before);

// "n1 cpu=4": an object that is there from the start.
Result<Step> parse_object(std::string_view line, Watched what);

}  // namespace inquest::replayer
