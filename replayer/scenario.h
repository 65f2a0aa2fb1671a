// Scenario: a small story told step by step, for tests and for explaining: "pod1 is created; decided; answered;
// confirmed; deleted before the next decision". It runs against a core under a policy; the API side follows the API's
// rules. What reaches the scheduler, and when, is said by the steps, so that every race can be written down.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replayer/finding.h"
#include "scheduler/policy.h"

namespace inquest::replayer {

// What happens in one step. The API acts at once; the scheduler learns of it only by the steps that say so.
enum class StepKind : uint8_t {
  kCreate,     // the API gets the pod, and its ADDED reaches the scheduler
  kDecide,     // the scheduler takes its next decision and sends the bind; the API carries it out
  kAnswer,     // the answer to the bind reaches the scheduler; nothing if it sent none
  kConfirm,    // the frame that shows the bind reaches the scheduler; nothing if the API accepted none
  kDelete,     // the API forgets the pod
  kForgotten,  // the pod's DELETED reaches the scheduler
};

struct Step {
  Duration at;  // after the start
  StepKind kind = StepKind::kCreate;
  std::string pod;
  uint16_t host_port = 0;  // of a pod created; 0: it asks for none
};

// What became of a pod, when the story is over.
struct Fate {
  std::string pod;
  std::vector<std::string> decided;  // the node of each decision, in order; "" where no node fitted
};

struct Told {
  std::vector<Finding> findings;  // what outlived the default lag bound
  std::vector<Fate> fates;        // by pod, in order of creation
  Catalog catalog;                // of the findings' ordinals
  Time start, end;

  const Fate* fate(std::string_view pod) const;
};

class Scenario {
 public:
  // A pod's name is its identity within the story: created again, it is a new life with a new uid.
  Scenario& node(std::string name);
  Scenario& at(Duration offset);  // for the steps that follow
  Scenario& create(std::string pod, uint16_t host_port = 0) {
    return add(StepKind::kCreate, std::move(pod), host_port);
  }
  Scenario& decide() { return add(StepKind::kDecide, "", 0); }
  Scenario& answer(std::string pod) { return add(StepKind::kAnswer, std::move(pod), 0); }
  Scenario& confirm(std::string pod) { return add(StepKind::kConfirm, std::move(pod), 0); }
  Scenario& remove(std::string pod) { return add(StepKind::kDelete, std::move(pod), 0); }
  Scenario& forgotten(std::string pod) { return add(StepKind::kForgotten, std::move(pod), 0); }

  // Tells the story under a policy; afterwards time runs on for `drain`. Errors: a step that names an unknown pod.
  Result<Told> tell(const scheduler::Policy& policy, Duration drain) const;

 private:
  Scenario& add(StepKind kind, std::string pod, uint16_t host_port);

  std::vector<std::string> nodes_;
  std::vector<Step> steps_;
  Duration now_;
};

}  // namespace inquest::replayer
