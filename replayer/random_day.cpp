#include "replayer/random_day.h"

#include <algorithm>

namespace inquest::replayer {

using trace::RecordKind;

namespace {

constexpr std::string_view kOther = "other-scheduler";

template <typename T, size_t N>
const T& one_of(SplitMix& random, const T (&of)[N]) {
  return of[random.below(N)];
}

}  // namespace

RandomDay::RandomDay(uint64_t seed) : random_(seed) {
  aside_ = random_.one_in(5);
  strays_ = random_.one_in(5);
}

std::unique_ptr<Recording> RandomDay::record(int steps) {
  std::vector<NodeFacts> there;
  for (const char* node : {"n1", "n2"}) there.push_back(made(node));
  trace_.nodes_listed(0, there);
  if (random_.one_in(2)) create();
  std::vector<PodFacts> pods;
  for (auto& [name, pod] : pods_) {
    pod.rv = ++trace_.rv;
    pods.push_back(pod);
  }
  main_.clear();
  other_.clear();
  trace_.pods_listed(0, pods);
  for (int i = 0; i < steps; ++i) {
    wait();
    step();
  }
  catch_up(main_, TestTrace::kPods, true);
  catch_up(other_, TestTrace::kAside, true);
  trace_.mark(ms_ + random_.below(3000), RecordKind::kBookmark, trace_.rv);
  return trace_.load();
}

void RandomDay::wait() {
  const uint32_t kind = random_.below(20);
  if (kind < 7) return;  // in the same instant
  ms_ += kind < 14 ? 1 + random_.below(40) : kind < 18 ? 100 + random_.below(900) : 1000 + random_.below(3000);
  if (random_.one_in(40)) ms_ += 10'000 + random_.below(30'000);
}

void RandomDay::step() {
  if (aside_ && random_.one_in(3)) catch_up(main_, TestTrace::kPods, random_.one_in(2));
  if (aside_ && random_.one_in(3)) catch_up(other_, TestTrace::kAside, random_.one_in(2));
  if (strays_ && random_.one_in(30)) return stray();
  switch (random_.below(12)) {
    case 0:
    case 1:
    case 2:
      return create();
    case 3:
    case 4:
      return send();
    case 5:
    case 6:
      return answer();
    case 7:
    case 8:
      return confirm();
    case 9:
      return change();
    case 10:
      return remove();
    default:
      return random_.one_in(3) ? list() : random_.one_in(2) ? touch_node() : confirm();
  }
}

std::string RandomDay::name_of(const PodFacts& pod) {
  return std::string(trace_.catalog().name(trace_.catalog().key_of(pod.pod)));
}

bool RandomDay::lives(const PodFacts& pod) {
  const auto held = pods_.find(name_of(pod));
  return held != pods_.end() && held->second.pod == pod.pod;
}

PodFacts* RandomDay::any_pod() {
  if (pods_.empty()) return nullptr;
  auto at = pods_.begin();
  std::advance(at, random_.below(static_cast<uint32_t>(pods_.size())));
  return &at->second;
}

// What the API server writes. Both streams will show it.
void RandomDay::tell(Verb verb, PodFacts pod) {
  pod.rv = ++trace_.rv;
  if (lives(pod)) now(pod).rv = pod.rv;
  told_.push_back({verb, pod});
  main_.push_back({verb, pod});
  if (aside_) other_.push_back({verb, pod});
  if (!aside_ || random_.one_in(2)) catch_up(main_, TestTrace::kPods, true);
}

void RandomDay::catch_up(std::deque<Shown>& stream, trace::StreamId id, bool all) {
  while (!stream.empty()) {
    trace_.frame(ms_, stream.front().verb, stream.front().pod, id);
    stream.pop_front();
    if (!all) return;
  }
}

void RandomDay::create() {
  const std::string name = joined({"p", std::to_string(random_.below(6))});
  if (pods_.count(name) > 0) return;
  const std::string uid = joined({name, "-", std::to_string(++lives_[name])});
  const uint16_t ports[] = {0, 0, 8080, 8080, 8081};
  const int64_t cpus[] = {0, 100, 300, 700};
  PodFacts pod = trace_.pod(name, uid, one_of(random_, ports), one_of(random_, cpus));
  if (random_.one_in(6)) pod.scheduler = trace_.catalog().string(kOther);
  pod.gated = random_.one_in(12);
  pod.priority = static_cast<int32_t>(random_.below(3));
  if (random_.one_in(12)) pod.node = trace_.catalog().node(any_node());
  pods_[name] = pod;
  tell(Verb::kAdded, pod);
}

void RandomDay::send() {
  const PodFacts* pod = any_pod();
  if (pod == nullptr) return;
  if (random_.one_in(8)) {
    trace_.failed_event(ms_, *pod, std::string(trace_.catalog().uid(pod->pod)));
    return;
  }
  if (pod->bound() && !random_.one_in(10)) return;
  const std::string by(random_.one_in(5) ? kOther : TestTrace::kScheduler);
  const std::string node = any_node();
  open_.push_back({*pod, node, by, trace_.request(ms_, *pod, node, by)});
}

void RandomDay::answer() {
  if (open_.empty()) return;
  std::swap(open_[random_.below(static_cast<uint32_t>(open_.size()))], open_.back());
  const Bind bind = open_.back();
  open_.pop_back();
  if (random_.one_in(20)) return;  // it is never answered
  uint16_t code = 404;
  const bool free = lives(bind.pod) && !now(bind.pod).bound() && accepted_.count(bind.pod.pod) == 0;
  if (lives(bind.pod)) code = free ? 201 : 409;
  if (strays_ && random_.one_in(6)) code = 201;  // twice
  const uint16_t others[] = {0, 409, 500, 504};
  const bool otherwise = random_.one_in(8);
  if (otherwise) code = one_of(random_, others);
  // Of one that failed without an answer nobody knows whether it was carried out.
  const bool applied = code == 201 || ((code == 0 || code >= 500) && random_.one_in(2));
  trace_.answer(ms_, bind.seq, code);
  if (!applied || !free) return;
  accepted_.insert(bind.pod.pod);
  given_[bind.pod.pod] = bind.node;
  if (random_.one_in(2)) confirm();
}

void RandomDay::confirm() {
  for (auto& [name, pod] : pods_) {
    if (accepted_.count(pod.pod) == 0 || random_.one_in(4)) continue;
    accepted_.erase(pod.pod);
    pod.node = trace_.catalog().node(given_[pod.pod]);
    return tell(Verb::kModified, pod);
  }
  // Bound by a scheduler whose log nobody has; or a frame that comes before the answer.
  PodFacts* pod = any_pod();
  if (pod == nullptr || pod->bound() || pod->gated || accepted_.count(pod->pod) > 0 || !random_.one_in(2)) return;
  const auto sent =
      std::find_if(open_.begin(), open_.end(), [&](const Bind& bind) { return bind.pod.pod == pod->pod; });
  pod->node = trace_.catalog().node(sent != open_.end() ? sent->node : any_node());
  const trace::Seq seq = sent != open_.end() ? sent->seq : 0;
  if (seq != 0) open_.erase(sent);
  tell(Verb::kModified, *pod);
  if (seq == 0) return;
  wait();
  trace_.answer(ms_, seq, 201);
}

void RandomDay::change() {
  PodFacts* pod = any_pod();
  if (pod == nullptr || accepted_.count(pod->pod) > 0) return;
  if (pod->bound() && random_.one_in(2)) {
    const PodPhase phases[] = {PodPhase::kRunning, PodPhase::kSucceeded, PodPhase::kFailed};
    if (!pod->terminal()) pod->phase = one_of(random_, phases);
  } else if (random_.one_in(3)) {
    pod->deletion = at(ms_ + 30'000);
  } else if (pod->gated) {
    pod->gated = false;
  } else {
    pod->scheduled = pod->bound() ? Condition::kTrue : Condition::kFalse;
  }
  tell(Verb::kModified, *pod);
}

void RandomDay::remove() {
  PodFacts* pod = any_pod();
  if (pod == nullptr || accepted_.count(pod->pod) > 0) return;
  const PodFacts last = *pod;
  pods_.erase(name_of(last));
  tell(Verb::kDeleted, last);
}

NodeFacts RandomDay::made(const std::string& node) {
  const int64_t rooms[] = {500, 1000, 4000};
  nodes_[node] = one_of(random_, rooms);
  NodeFacts out = trace_.node(node, nodes_[node]);
  if (random_.one_in(8)) out.unschedulable = true;
  if (random_.one_in(8)) out.ready = Condition::kFalse;
  return out;
}

void RandomDay::touch_node() {
  const std::string node = any_node();
  const bool there = nodes_.count(node) > 0;
  if (there && random_.one_in(2)) {
    nodes_.erase(node);
    trace_.frame(ms_, Verb::kDeleted, trace_.node(node));
  } else {
    trace_.frame(ms_, there ? Verb::kModified : Verb::kAdded, made(node));
  }
}

void RandomDay::list() {
  if (random_.one_in(3)) {
    trace_.mark(ms_, RecordKind::kBookmark, trace_.rv);
    return;
  }
  if (random_.one_in(3)) {
    std::vector<NodeFacts> nodes;
    for (const auto& [name, room] : nodes_) nodes.push_back(trace_.node(name, room));
    trace_.nodes_listed(ms_, nodes);
    return;
  }
  // A list shows what the API holds, and what the stream has not shown yet it never will.
  std::vector<PodFacts> pods;
  for (auto& [name, pod] : pods_) {
    if (accepted_.erase(pod.pod) > 0) {
      pod.node = trace_.catalog().node(given_[pod.pod]);
      pod.rv = ++trace_.rv;
    }
    pods.push_back(pod);
  }
  main_.clear();
  trace_.pods_listed(ms_, pods, random_.one_in(3) ? TestTrace::Checkpoint::kYes : TestTrace::Checkpoint::kNo);
}

// An old version, or one of a pod that is gone.
void RandomDay::stray() {
  if (told_.empty()) return;
  Shown shown = told_[random_.below(static_cast<uint32_t>(told_.size()))];
  if (random_.one_in(2)) shown.pod.rv = ++trace_.rv;
  if (random_.one_in(2)) shown.verb = Verb::kModified;
  if (shown.pod.rv == trace_.rv && lives(shown.pod)) return;  // the API would hold it
  trace_.frame(ms_, shown.verb, shown.pod);
}

// --- Runs

scheduler::Policy random_policy(SplitMix& random) {
  const std::map<std::string_view, std::vector<std::string_view>> values = {
      {"ttl", {"never", "700ms", "3s", "30s"}},
      {"ttl-from", {"assume", "answer"}},
      {"expire-while-bind-open", {"no", "yes"}},
      {"expiry", {"exact", "tick"}},
      {"assume", {"never", "before", "after"}},
      {"binds", {"serial", "3", "16"}},
      {"purge", {"decision", "event", "both"}},
      {"deletes-to", {"scheduled", "both"}},
      {"deletes-wait", {"no", "500ms", "4s"}},
      {"tombstones", {"last-seen", "everywhere"}},
      {"relist", {"never", "5s", "60s"}},
      {"relist-stores", {"none", "scheduled", "queued,nodes", "assumed", "scheduled,queued,nodes,assumed"}},
      {"key", {"name", "uid"}},
      {"uid-change", {"update", "split"}},
      {"when-marked", {"keep", "forget"}},
      {"watches", {"one", "two"}},
      {"queue", {"fifo", "priority"}},
      {"score", {"least", "least+balanced", "most"}},
      {"ready", {"condition", "taints"}},
      {"journal", {"no", "yes"}},
  };
  INQUEST_CHECK(values.size() == scheduler::parameters().size(), "a parameter that is never varied");
  const auto presets = scheduler::presets();
  scheduler::Policy policy = presets[random.below(static_cast<uint32_t>(presets.size()))];
  for (uint32_t left = random.below(4); left > 0; --left) {
    const auto parameters = scheduler::parameters();
    const scheduler::Parameter& parameter = parameters[random.below(static_cast<uint32_t>(parameters.size()))];
    const auto& of = values.at(parameter.name);
    INQUEST_CHECK(parameter.set(policy, of[random.below(static_cast<uint32_t>(of.size()))]).ok(), parameter.name);
  }
  return policy;
}

namespace {

std::string random_span(SplitMix& random) {
  const char* spans[] = {"1ms", "30ms", "500ms", "1s", "2s", "5s", "31s"};
  return one_of(random, spans);
}

std::string random_change(SplitMix& random, uint64_t records, bool deleted) {
  if (random.one_in(2) && !deleted)
    return joined({"@", std::to_string(1 + random.below(static_cast<uint32_t>(records)))});
  std::string out = "pods";
  const char* verbs[] = {" ADDED", " MODIFIED", " DELETED", ""};
  if (!deleted) out += one_of(random, verbs);
  if (!deleted && random.one_in(6)) return "nodes";
  if (random.one_in(2)) out.append(" name=p").append(std::to_string(random.below(6)));
  if (random.one_in(4)) out.append(" watch=").append(random.one_in(2) ? "scheduled" : "queued");
  const char* counts[] = {"", " nth=2", " nth=3", " nth=all"};
  return out.append(one_of(random, counts));
}

std::string random_instant(SplitMix& random, uint64_t records) {
  if (random.one_in(2)) return joined({"at=+", std::to_string(random.below(60'000)), "ms"});
  return joined({"at=@", std::to_string(1 + random.below(static_cast<uint32_t>(records)))});
}

std::string random_words(SplitMix& random, uint64_t records, FaultKind kind) {
  const bool deleted = kind == FaultKind::kTombstone || kind == FaultKind::kCollapse;
  std::string change = random_change(random, records, deleted);
  const std::string span = random_span(random);
  const char* thens[] = {"resume", "relist", "gone"};
  const char* lists[] = {"empty=true", "stale=", "late="};
  const char* answers[] = {"lost", "late", "404", "409", "500", "other-uid", "lost applied=false", "500 applied=true"};
  const std::string nth = joined({"nth=", std::to_string(1 + random.below(4))});
  switch (kind) {
    case FaultKind::kDrop:
    case FaultKind::kDuplicate:
      return joined({change, random.one_in(3) ? " all-of=uid" : ""});
    case FaultKind::kDelay:
      return joined({change, " by=", span, random.one_in(2) ? " overtake=true" : ""});
    case FaultKind::kSwap:
    case FaultKind::kTombstone:
    case FaultKind::kCollapse:
      return change;
    case FaultKind::kRvBack:
      return joined({change, " back=", span});
    case FaultKind::kDisconnect:
      return joined({random_instant(random, records), " for=", span, " then=", one_of(random, thens)});
    case FaultKind::kBookmarks:
      return "pods nth=all";
    case FaultKind::kList: {
      const std::string what = one_of(random, lists);
      return joined({"pods ", nth, " ", what, what == "empty=true" ? "" : std::string_view(span)});
    }
    case FaultKind::kBind: {
      const std::string what = one_of(random, answers);
      return joined({nth, " answer=", what, what == "late" ? joined({" by=", span}) : std::string()});
    }
    case FaultKind::kRestart:
      return joined({random_instant(random, records), random.one_in(2) ? joined({" for=", span}) : std::string()});
    case FaultKind::kClock:
      return joined({random_instant(random, records), " step=", random.one_in(2) ? "-" : "", span});
  }
  return "";
}

}  // namespace

std::vector<Fault> random_faults(SplitMix& random, uint64_t records) {
  std::vector<Fault> out;
  for (uint32_t left = random.below(4); left > 0; --left) {
    const auto kind = static_cast<FaultKind>(random.below(kFaultKinds));
    const std::string words = random_words(random, records, kind);
    const auto fault = parse_fault(kind, words);
    INQUEST_CHECK(fault.ok(), words, fault.ok() ? "" : fault.error().message());
    out.push_back(*fault);
  }
  return out;
}

std::string described(const RunConfig& config) {
  std::string out(config.mode == Mode::kFollow ? "follow " : "decide ");
  out += config.policy.name;
  const auto preset = scheduler::preset(config.policy.name);
  for (const scheduler::Parameter& parameter : scheduler::parameters()) {
    if (parameter.get(config.policy) == parameter.get(*preset)) continue;
    out.append(" ").append(parameter.name).append("=").append(parameter.get(config.policy));
  }
  for (const Fault& fault : config.plan.faults) out.append(" | ").append(fault.text);
  return out;
}

}  // namespace inquest::replayer
