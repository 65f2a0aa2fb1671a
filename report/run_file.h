// RunFile: a run as it is kept in a file (`replay -o`) and printed by `replay --json`: what went in, what came out, and
// nothing that only the trace can explain. Names stand in it, no ordinals: it is read without its trace.
//
// A run file may come from a stranger. Reading checks the type of every field that is known here and passes over the
// others: new fields may come at any time, a field that changes its meaning raises schema_version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/json.h"
#include "report/run_report.h"

namespace inquest::report {

struct RunFile {
  struct Pod {
    std::string ns, name, uid;
    friend bool operator==(const Pod&, const Pod&) = default;
  };
  struct Port {
    std::string ip, protocol;
    uint16_t port = 0;
    friend bool operator==(const Port&, const Port&) = default;
  };
  struct Shape {
    int64_t cpu_milli = 0, memory = 0, ephemeral = 0;
    std::vector<std::pair<std::string, int64_t>> extended;
    std::vector<Port> ports;
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  struct Misfit {
    std::string kind;
    std::optional<Pod> holder;
    std::optional<Port> port;
    std::optional<std::string> resource, text;
    friend bool operator==(const Misfit&, const Misfit&) = default;
  };
  struct Hit {
    uint64_t fault = 0;  // 1 is the plan's first
    uint64_t seq = 0;
    std::optional<std::string> verb;  // of a change
    std::optional<uint64_t> rv;       // likewise
    Time at;
    std::optional<Pod> pod;
    std::optional<std::string> node;
    std::string how;
    std::optional<uint64_t> behind_seq;
    friend bool operator==(const Hit&, const Hit&) = default;
  };
  struct Refusal {
    std::optional<Pod> pod;
    std::optional<std::string> node;
    Time at;
    std::optional<Misfit> why;
    friend bool operator==(const Refusal&, const Refusal&) = default;
  };
  struct Elsewhere {
    std::string policy;
    bool arises = false;
    std::optional<std::string> cure;
    std::optional<Time> end;
    bool after_end = false;
    friend bool operator==(const Elsewhere&, const Elsewhere&) = default;
  };
  struct Blame {
    std::string kind;                 // "unproved", "faults", "jointly", "gap", "policy" or "recording"
    std::vector<Hit> faults;          // all that are named; because is the first
    std::optional<uint64_t> gap_seq;  // the record of the gap
    friend bool operator==(const Blame&, const Blame&) = default;
  };
  struct Finding {
    std::string id, verdict;
    std::optional<std::string> in;  // of an overcommit: "view" or "truth"
    std::optional<Pod> pod;
    std::optional<std::string> node;
    std::optional<Pod> applied_to;     // of a wrong-uid: the pod that the bind was applied to
    std::optional<std::string> watch;  // of a verdict about a stream
    std::optional<Shape> holds;
    Time birth;
    uint64_t birth_seq = 0;
    std::string cure;
    bool after_end = false;
    std::optional<Time> end;
    std::optional<int64_t> lasted_ns;
    std::optional<Hit> because;
    std::optional<Blame> blame;  // not in files of old
    std::optional<std::string> race, root;
    std::optional<Misfit> exceeds;
    std::vector<Refusal> would_refuse;
    std::optional<Elsewhere> elsewhere;
    friend bool operator==(const Finding&, const Finding&) = default;
  };
  struct Fault {
    std::string text;  // its one spelling
    uint64_t fired = 0, overruled = 0, unfelt = 0;
    std::vector<Hit> hits;
    friend bool operator==(const Fault&, const Fault&) = default;
  };
  struct Policy {
    std::string name, text;
    std::vector<std::pair<std::string, std::string>> parameters;  // every one
    friend bool operator==(const Policy&, const Policy&) = default;
  };
  // Of mode decide: how long something takes, and how that is known: "median", "given" or "assumed".
  struct Takes {
    int64_t ns = 0;
    std::string from;
    uint64_t samples = 0;  // of a median
    friend bool operator==(const Takes&, const Takes&) = default;
  };
  struct Pace {
    Takes bind_rtt, deliver, kubelet_start, kubelet_stop;
    friend bool operator==(const Pace&, const Pace&) = default;
  };
  struct Decided {
    uint64_t pods = 0, bound = 0, bound_twice = 0, pending = 0, gone_unbound = 0;
    uint64_t decisions = 0, unschedulable = 0, refused = 0, hanging = 0;
    int64_t median_wait_ns = 0, longest_wait_ns = 0;
    friend bool operator==(const Decided&, const Decided&) = default;
  };
  struct Run {
    std::string mode, scheduler;
    std::vector<std::string> scheduler_names;
    Policy policy;
    std::vector<Fault> faults;
    int64_t lag_ns = 0, drain_ns = 0;
    uint64_t seed = 0;
    std::string chain, state;
    Time start, end;
    uint64_t nodes = 0, pods = 0, pod_names = 0, inputs = 0;
    uint64_t followed = 0, inferred = 0, skipped = 0, outside_coverage = 0, while_away = 0;
    uint64_t refused_within_lag = 0;
    int64_t blocked_ns = 0;
    std::optional<Pace> pace;  // of mode decide
    std::optional<Decided> decided;
    std::optional<uint64_t> too_many_to_blame;  // faults
    friend bool operator==(const Run&, const Run&) = default;
  };
  struct Trace {
    std::string file, uuid;
    bool complete = false;
    friend bool operator==(const Trace&, const Trace&) = default;
  };

  Trace trace;
  Run run;
  std::string verdict;
  std::vector<std::string> unknown_because;
  uint64_t root_findings = 0;
  std::vector<Finding> findings;
  friend bool operator==(const RunFile&, const RunFile&) = default;
};

RunFile run_file(const RunShown& run);

// The members of a document that say what the run is and what came of it.
void add_run(JsonWriter& json, const RunShown& run);
// The document; its text is what `replay -o` writes.
std::string run_json(const RunShown& run);

inline constexpr size_t kMaxRunFile = size_t{256} << 20;  // bytes

// Errors: not JSON, no run, a field that is missing or of the wrong type (with its path), made by a newer version
// (kNewer), longer than kMaxRunFile. `name` stands in messages.
Result<RunFile> parse_run_file(std::string_view text, const std::string& name);

// How a run file begins, whatever its version; other JSON does not.
bool begins_like_run_file(std::string_view text);

}  // namespace inquest::report
