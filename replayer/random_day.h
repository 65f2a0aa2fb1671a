// For tests only: a day of a small cluster, told at random; policies, plans and runs at random.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "replayer/test_trace.h"
#include "scheduler/test_random.h"

namespace inquest::replayer {

using scheduler::SplitMix;

// gcc 12 warns of operator+ where nothing is wrong.
inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out.append(part);
  return out;
}

// What an API server might do, and a recorder see of it: pods created, bound by two schedulers, run, ended, deleted and
// created again under their names, nodes that come, change and go; several things in one instant, and quiet times.
class RandomDay {
 public:
  explicit RandomDay(uint64_t seed);
  std::unique_ptr<Recording> record(int steps);

 private:
  struct Bind {
    PodFacts pod;
    std::string node, by;
    trace::Seq seq = 0;
  };
  struct Shown {
    Verb verb = Verb::kAdded;
    PodFacts pod;
  };

  void wait();
  void step();
  void create();
  void send();
  void answer();
  void confirm();
  void change();
  void remove();
  void touch_node();
  void list();
  void stray();
  void tell(Verb verb, PodFacts pod);
  void catch_up(std::deque<Shown>& stream, trace::StreamId id, bool all);
  PodFacts* any_pod();
  std::string any_node() { return joined({"n", std::to_string(1 + random_.below(3))}); }
  NodeFacts made(const std::string& node);
  PodFacts& now(const PodFacts& pod) { return pods_.at(name_of(pod)); }
  std::string name_of(const PodFacts& pod);
  bool lives(const PodFacts& pod);

  SplitMix random_;
  TestTrace trace_;
  int64_t ms_ = 0;
  bool aside_ = false;   // a second stream shows the pods, and either may lag
  bool strays_ = false;  // versions come that no API server sends
  std::map<std::string, PodFacts> pods_;
  std::map<std::string, int> lives_;
  std::map<std::string, int64_t> nodes_;
  std::set<PodId> accepted_;            // and no frame has shown it yet
  std::map<PodId, std::string> given_;  // the node of an accepted bind
  std::vector<Bind> open_;
  std::vector<Shown> told_;
  std::deque<Shown> main_, other_;  // what a stream has not shown yet
};

scheduler::Policy random_policy(SplitMix& random);
// Of a trace of that many records; none to three.
std::vector<Fault> random_faults(SplitMix& random, uint64_t records);
std::string described(const RunConfig& config);

}  // namespace inquest::replayer
