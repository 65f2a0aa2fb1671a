// From steps to the records of a trace: an API server in small, a recorder that watches it, and its schedulers' log of
// binds.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/hash.h"
#include "kube/decode.h"
#include "replayer/scenario.h"
#include "replayer/steps_objects.h"

namespace inquest::replayer {
namespace {

using trace::Record;
using trace::RecordKind;

constexpr size_t kMaxListed = 1'000'000;  // objects, in all lists of a trace
constexpr size_t kMaxOpenBinds = 100;     // of one pod: an answer is looked for among them
constexpr Duration kGrace = Duration::seconds(30);
constexpr const char* kLostAnswer = "connection reset by peer";

struct Resource {
  std::string_view name, kind, list_kind, api_version, path;
};
constexpr std::array<Resource, 3> kResources = {
    {{"nodes", "Node", "NodeList", "v1", "/api/v1/nodes"},
     {"pods", "Pod", "PodList", "v1", "/api/v1/pods"},
     {"events", "Event", "EventList", "events.k8s.io/v1", "/apis/events.k8s.io/v1/events"}}};

Error impossible(std::string text, std::string next = "") {
  return {ErrorCode::kInput, std::move(text), "", std::move(next)};
}

using Key = std::pair<std::string, std::string>;  // namespace ("" of a node), name

// What a name stands for: the object that has it now, and how many had it.
struct Slot {
  std::optional<ApiObject> now;
  uint64_t lives = 0;
};

// A bind that a scheduler sent.
struct SentBind {
  Key pod;
  std::string uid, node, scheduler, request;
  Time sent, answered;  // answered not known: no answer comes
  trace::Seq seq = 0;
  std::string answer;  // its JSON; of a lost one the client's own words
  uint16_t code = 0;
};

// What binds have come to for a name, as far as the watch has not shown it yet.
struct Binding {
  std::string won;    // the node that a 201 gave it
  std::string asked;  // the latest node asked for whose answer is not a refusal
};

class Builder {
 public:
  Builder(const Scenario& scenario, trace::TraceWriter& writer, Catalog& catalog)
      : scenario_(scenario), writer_(writer), catalog_(catalog), decoder_(catalog) {}

  Result<void> write() {
    INQUEST_TRY_VOID(match_answers());
    INQUEST_TRY_VOID(declare_streams());
    now_ = scenario_.start;
    for (const Step& step : scenario_.present) INQUEST_TRY_VOID(at_line(step, add(step, Seen::kByList)));
    for (const Watched what : {Watched::kNodes, Watched::kPods, Watched::kEvents}) {
      if (!used(what)) continue;
      INQUEST_TRY_VOID(list(what, Checkpoint::kNo));
      INQUEST_TRY_VOID(open(what, rv_));
    }
    for (size_t i = 0; i < scenario_.steps.size(); ++i) {
      const Step& step = scenario_.steps[i];
      now_ = scenario_.start + step.at;
      INQUEST_TRY_VOID(at_line(step, take(step, i)));
    }
    INQUEST_TRY_VOID(write_bind_log());
    writer_.add_note(scenario_.name, "told in steps by hand, not recorded", scenario_.steps.size());
    return writer_.close();
  }

 private:
  enum class Seen : uint8_t { kByList, kByFrame };
  enum class Checkpoint : uint8_t { kNo, kYes };
  struct Watch {
    trace::StreamId id;
    bool used = false, open = false, gone = false;
    ResourceVersion seen = 0;         // the latest that the stream has shown
    std::vector<std::string> missed;  // frames since it was cut
  };
  Watch& watch(Watched what) { return watches_[static_cast<size_t>(what)]; }
  bool used(Watched what) { return watch(what).used; }
  static const Resource& resource(Watched what) { return kResources[static_cast<size_t>(what)]; }

  Result<void> at_line(const Step& step, Result<void> done) const {
    if (done.ok() || done.error().code != ErrorCode::kInput) return done;
    Error error = done.error();
    error.place = scenario_.path + ":" + std::to_string(step.line);
    return error;
  }

  // --- Streams

  Result<void> declare_streams() {
    bool events = false, binds = false;
    for (const Step& step : scenario_.steps) {
      events = events || step.kind == StepKind::kUnschedulable || step.what == Watched::kEvents;
      binds = binds || step.kind == StepKind::kSent;
    }
    for (const Watched what : {Watched::kNodes, Watched::kPods, Watched::kEvents}) {
      if (what == Watched::kEvents && !events) continue;
      const std::string name(resource(what).name);
      watch(what).used = true;
      INQUEST_TRY(watch(what).id,
                  writer_.add_stream({{}, trace::StreamKind::kWatch, name, name, scenario_.name + ".jsonl"}));
    }
    if (!binds) return {};
    const std::string name = scenario_.name + ".binds";
    INQUEST_TRY(bind_log_, writer_.add_stream({{}, trace::StreamKind::kBindLog, name, "", name + ".jsonl"}));
    return {};
  }

  Record record(Watched what, RecordKind kind) {
    Record out;
    out.stream = watch(what).id;
    out.kind = kind;
    out.wall = now_;
    return out;
  }

  Result<void> append(const Record& record, std::string_view body) {
    const auto seq = writer_.append(record, body);
    return seq.ok() ? Result<void>() : Result<void>(seq.error());
  }

  // What the decoder makes of a body must be what the steps meant.
  Result<void> no_warnings() {
    const auto warnings = decoder_.take_warnings();
    if (warnings.empty()) return {};
    return impossible(warnings.front().object + ": " + warnings.front().field + ": " + warnings.front().text);
  }

  // All objects of a resource, as they are now.
  Result<void> list(Watched what, Checkpoint checkpoint) {
    std::string body = R"({"kind":")" + std::string(resource(what).list_kind) + R"(","apiVersion":")" +
                       std::string(resource(what).api_version) + R"(","metadata":{"resourceVersion":")" +
                       std::to_string(rv_) + R"("},"items":[)";
    const std::map<Key, Slot>& objects = what == Watched::kNodes ? nodes_ : pods_;
    bool first = true;
    for (const auto& [key, slot] : objects) {
      if (what == Watched::kEvents || !slot.now) continue;
      if (++listed_ > kMaxListed)
        return Error{ErrorCode::kOutOfLimit, "its lists hold more than 1000000 objects", scenario_.path, ""};
      body.append(first ? "" : ",").append(json(what, *slot.now));
      first = false;
    }
    body += "]}\n";
    auto decoded = decoder_.list(body);
    INQUEST_CHECK(decoded.ok(), body);
    INQUEST_TRY_VOID(no_warnings());
    Record out = record(what, RecordKind::kList);
    out.status = 200;
    out.rv = decoded->rv;
    out.checkpoint = checkpoint == Checkpoint::kYes;
    out.path = catalog_.string(resource(what).path);
    out.objects = std::move(decoded->objects);
    if (!out.checkpoint) watch(what).seen = rv_;
    return append(out, body);
  }

  static std::string json(Watched what, const ApiObject& object) {
    return what == Watched::kNodes ? node_json(object) : pod_json(object);
  }

  Result<void> open(Watched what, ResourceVersion from) {
    Record out = record(what, RecordKind::kOpen);
    out.status = 200;
    out.rv = from;
    out.path = catalog_.string(std::string(resource(what).path) +
                               "?watch=1&allowWatchBookmarks=true&resourceVersion=" + std::to_string(from));
    watch(what).open = true;
    watch(what).gone = false;
    watch(what).seen = std::max(watch(what).seen, from);
    return append(out, "");
  }

  Result<void> close(Watched what, const char* why) {
    watch(what).open = false;
    Record out = record(what, RecordKind::kClose);
    out.text = catalog_.string(why);
    return append(out, "");
  }

  // Of changes between what the stream has seen and `to`; none if there were none.
  Result<void> gap(Watched what, ResourceVersion to, const char* why) {
    if (to <= watch(what).seen) return {};
    Record out = record(what, RecordKind::kGap);
    out.gap_from = watch(what).seen;
    out.rv = to;
    out.text = catalog_.string(why);
    return append(out, "");
  }

  // A change of the API: what the open watch shows, and a closed one will when it is resumed.
  Result<void> show(Watched what, std::string_view verb, const std::string& object) {
    std::string body = frame_json(verb, object);
    if (watch(what).open) return write_frame(what, body);
    watch(what).missed.push_back(std::move(body));
    return {};
  }

  Result<void> write_frame(Watched what, const std::string& body) {
    auto frame = decoder_.frame(body);
    INQUEST_CHECK(frame.ok(), body);
    INQUEST_TRY_VOID(no_warnings());
    Record out = record(what, RecordKind::kFrame);
    out.verb = static_cast<Verb>(frame->type);
    out.rv = frame->rv;
    out.objects.push_back(std::move(frame->object));
    watch(what).seen = frame->rv;
    return append(out, body);
  }

  Result<void> take_watch(const Step& step) {
    const Watched what = step.what;
    Watch& stream = watch(what);
    const std::string name(resource(what).name);
    const bool needs_open =
        step.kind == StepKind::kCut || step.kind == StepKind::kBookmark || step.kind == StepKind::kListed;
    if (needs_open && !stream.open)
      return impossible("the watch of " + name + " is not open", "resumed or relisted first");
    const bool needs_closed =
        step.kind == StepKind::kResumed || step.kind == StepKind::kRelisted || step.kind == StepKind::kGap;
    if (needs_closed && stream.open) return impossible("the watch of " + name + " is open", "cut or gone first");
    if (stream.gone && step.kind != StepKind::kRelisted && !needs_open) {
      return impossible("after 410 Gone only a list goes on", "say '" + name + " relisted'");
    }
    switch (step.kind) {
      case StepKind::kCut:
        return close(what, "EOF");
      case StepKind::kResumed:
        return resume(what);
      case StepKind::kRelisted:
        return relist(what);
      case StepKind::kGone:
        return end_gone(what);
      case StepKind::kGap:
        stream.missed.clear();
        INQUEST_TRY_VOID(gap(
            what, rv_, "the watch opened beyond what the stream had seen: changes in between, if any, were not seen"));
        return open(what, rv_);
      case StepKind::kBookmark:
        return bookmark(what);
      default:
        for (const Key& pod : unconfirmed_) {
          if (what != Watched::kPods) break;
          return impossible("the bind of '" + pod.second + "' was answered 201: a list would show it",
                            "confirmed first");
        }
        return list(what, Checkpoint::kYes);
    }
  }

  Result<void> resume(Watched what) {
    INQUEST_TRY_VOID(open(what, watch(what).seen));
    for (const std::string& body : std::exchange(watch(what).missed, {})) INQUEST_TRY_VOID(write_frame(what, body));
    return {};
  }

  Result<void> relist(Watched what) {
    if (what == Watched::kPods) {
      for (const Key& pod : std::set<Key>(unconfirmed_)) INQUEST_TRY_VOID(confirm(pod, ""));
    }
    watch(what).missed.clear();
    INQUEST_TRY_VOID(gap(what, rv_, "listed anew: changes in between, if any, were not seen one by one"));
    INQUEST_TRY_VOID(list(what, Checkpoint::kNo));
    return open(what, rv_);
  }

  Result<void> end_gone(Watched what) {
    if (!watch(what).open) INQUEST_TRY_VOID(open(what, watch(what).seen));
    const std::string body = gone_json(watch(what).seen, rv_);
    const auto frame = decoder_.frame(body);
    INQUEST_CHECK(frame.ok(), body);
    Record out = record(what, RecordKind::kError);
    out.status = 410;
    out.text = catalog_.string(frame.value().message);
    INQUEST_TRY_VOID(append(out, body));
    watch(what).gone = true;
    return close(what, "410 Gone");
  }

  Result<void> bookmark(Watched what) {
    Record out = record(what, RecordKind::kBookmark);
    out.rv = watch(what).seen = rv_;
    return append(out, bookmark_json(resource(what).kind, resource(what).api_version, rv_));
  }

  // --- Objects

  Result<void> take(const Step& step, size_t index) {
    switch (step.kind) {
      case StepKind::kAdded:
        return add(step, Seen::kByFrame);
      case StepKind::kChanged:
      case StepKind::kRunning:
      case StepKind::kSucceeded:
      case StepKind::kFailed:
      case StepKind::kDeleting:
      case StepKind::kRemoved:
        return change(step);
      case StepKind::kConfirmed:
        return confirm({step.ns, step.name}, step.node);
      case StepKind::kSent:
        return send(step, index);
      case StepKind::kAnswered:
        return answer(index);
      case StepKind::kUnschedulable:
        return fail_attempt(step);
      default:
        return take_watch(step);
    }
  }

  std::map<Key, Slot>& objects(Watched what) { return what == Watched::kNodes ? nodes_ : pods_; }

  Result<void> add(const Step& step, Seen seen) {
    Slot& slot = objects(step.what)[{step.ns, step.name}];
    if (slot.now) return impossible("'" + step.name + "' is there already");
    if (step.what == Watched::kPods && step.again != (slot.lives > 0)) {
      return step.again ? impossible("there was no '" + step.name + "' before", "say created")
                        : impossible("'" + step.name + "' was there before", "say re-created: it gets another uid");
    }
    ApiObject object;
    object.ns = step.ns;
    object.name = step.name;
    object.uid = uid_of(resource(step.what).kind, step.ns, step.name, ++slot.lives);
    object.rv = ++rv_;
    object.created = now_;
    object.settings = step.settings;
    for (const auto& [key, value] : step.settings) {
      if (key != "node" || step.what != Watched::kPods) continue;
      object.node = value;
      object.bound = now_;
    }
    slot.now = std::move(object);
    return seen == Seen::kByList ? Result<void>() : show(step.what, "ADDED", json(step.what, *slot.now));
  }

  // The object of that name as it is, for a step that needs it there.
  Result<ApiObject*> present(Watched what, const Key& key) {
    const auto found = objects(what).find(key);
    const std::string quoted = "'" + key.second + "'";
    if (found == objects(what).end() || found->second.lives == 0) {
      return impossible("there is no " + quoted, what == Watched::kPods ? "created first" : "added first");
    }
    if (!found->second.now) return impossible(quoted + " is gone by then");
    return &*found->second.now;
  }

  Result<void> change(const Step& step) {
    const Key key{step.ns, step.name};
    INQUEST_TRY(ApiObject* const object, present(step.what, key));
    if (step.what == Watched::kPods && unconfirmed_.count(key) > 0) {
      return impossible("the bind of '" + step.name + "' was answered 201, and no frame has shown it",
                        "confirmed first");
    }
    if (step.kind == StepKind::kRemoved) {
      object->rv = ++rv_;
      const std::string last = json(step.what, *object);
      objects(step.what)[key].now.reset();
      return show(step.what, "DELETED", last);
    }
    INQUEST_TRY_VOID(alter(step, *object));
    object->rv = ++rv_;
    return show(step.what, "MODIFIED", json(step.what, *object));
  }

  Result<void> alter(const Step& step, ApiObject& object) const {
    switch (step.kind) {
      case StepKind::kRunning:
        if (object.node.empty()) return impossible("'" + step.name + "' has no node to run on", "placed first");
        object.phase = "Running";
        return {};
      case StepKind::kSucceeded:
        object.phase = "Succeeded";
        return {};
      case StepKind::kFailed:
        object.phase = "Failed";
        return {};
      case StepKind::kDeleting:
        if (object.deletion.known()) return impossible("'" + step.name + "' is being deleted already");
        object.deletion = now_ + kGrace;
        return {};
      default:
        for (const auto& [key, value] : step.settings) INQUEST_TRY_VOID(set(step, object, key, value));
        return {};
    }
  }

  static Result<void> set(const Step& step, ApiObject& object, const std::string& key, const std::string& value) {
    if (step.what == Watched::kPods && key == "node")
      return impossible("a pod's node does not change", "say confirmed on");
    for (auto& [name, old] : object.settings) {
      if (name != key) continue;
      old = value;
      return {};
    }
    object.settings.emplace_back(key, value);
    return {};
  }

  Result<void> fail_attempt(const Step& step) {
    INQUEST_TRY(const ApiObject* const pod, present(Watched::kPods, {step.ns, step.name}));
    FailedEvent event;
    event.name = step.name + "." + hex(static_cast<uint64_t>(now_.ns)) + "-" + std::to_string(++events_);
    event.uid = uid_of("Event", step.ns, event.name, 1);
    event.scheduler = step.scheduler;
    event.rv = ++rv_;
    event.at = now_;
    return show(Watched::kEvents, "ADDED", event_json(event, *pod));
  }

  // --- Binds

  // Which answer belongs to which request: the log of a bind says both at once.
  Result<void> match_answers() {
    std::map<Key, std::vector<size_t>> open;
    sent_by_.assign(scenario_.steps.size(), SIZE_MAX);
    answered_by_.assign(scenario_.steps.size(), SIZE_MAX);
    for (size_t i = 0; i < scenario_.steps.size(); ++i) {
      const Step& step = scenario_.steps[i];
      if (step.kind != StepKind::kSent && step.kind != StepKind::kAnswered) continue;
      std::vector<size_t>& waiting = open[{step.ns, step.name}];
      if (step.kind == StepKind::kSent) {
        if (waiting.size() == kMaxOpenBinds) return at_line(step, impossible("more than 100 binds of it are open"));
        waiting.push_back(i);
        continue;
      }
      const auto found = std::find_if(waiting.begin(), waiting.end(), [&](size_t sent) {
        return step.scheduler.empty() || scenario_.steps[sent].scheduler == step.scheduler;
      });
      if (found == waiting.end()) {
        const std::string by = step.scheduler.empty() ? "" : " by " + step.scheduler;
        return at_line(step, impossible("no bind of '" + step.name + "'" + by + " waits for an answer", "sent first"));
      }
      sent_by_[i] = *found;
      answered_by_[*found] = i;
      waiting.erase(found);
    }
    return {};
  }

  Result<void> send(const Step& step, size_t index) {
    const Key key{step.ns, step.name};
    const auto slot = pods_.find(key);
    if (slot == pods_.end() || slot->second.lives == 0)
      return impossible("there is no '" + step.name + "'", "created first");
    SentBind bind;
    bind.pod = key;
    if (!step.without_uid) bind.uid = uid_of("Pod", step.ns, step.name, slot->second.lives);
    bind.node = step.node;
    bind.scheduler = step.scheduler;
    bind.sent = now_;
    if (answered_by_[index] != SIZE_MAX) bind.answered = scenario_.start + scenario_.steps[answered_by_[index]].at;
    bind.request = binding_json(step.ns, step.name, bind.uid, step.node);
    Record out = bind_record(bind, RecordKind::kBindRequest);
    out.bind.observations.push_back({bind_log_, bind.sent, bind.answered});
    INQUEST_TRY(bind.seq, writer_.append(out, bind.request));
    bindings_[key].asked = step.node;
    bind_of_[index] = binds_.size();
    binds_.push_back(std::move(bind));
    return {};
  }

  Record bind_record(const SentBind& bind, RecordKind kind) {
    Record out;
    out.stream = bind_log_;
    out.kind = kind;
    out.wall = now_;
    const KeyId key = catalog_.key(catalog_.string(bind.pod.first), catalog_.string(bind.pod.second));
    out.bind.pod = catalog_.pod(key, catalog_.string(bind.uid));
    out.bind.node = catalog_.node(bind.node);
    out.bind.scheduler = catalog_.string(bind.scheduler);
    return out;
  }

  Result<void> answer(size_t index) {
    const Step& step = scenario_.steps[index];
    SentBind& bind = binds_[bind_of_[sent_by_[index]]];
    Binding& binding = bindings_[bind.pod];
    const Slot& slot = pods_[bind.pod];
    Record out = bind_record(bind, RecordKind::kBindAnswer);
    out.bind.request = bind.seq;
    out.bind.code = bind.code = step.code;
    if (step.code == 0) {
      bind.answer = kLostAnswer;
      out.bind.message = catalog_.string(kLostAnswer);
      return append(out, "");
    }
    const BindStatus status =
        bind_status(step.code, bind.pod.first, bind.pod.second, bind.uid, slot.now ? &*slot.now : nullptr);
    if (!status.reason.empty()) out.bind.reason = catalog_.string(status.reason);
    if (!status.message.empty()) out.bind.message = catalog_.string(status.message);
    bind.answer = status.json;
    if (step.code == RecordedBind::kCreated && slot.now && slot.now->node.empty()) {
      binding.won = bind.node;
      unconfirmed_.insert(bind.pod);
    } else if (step.code != RecordedBind::kCreated && binding.asked == bind.node) {
      binding.asked.clear();
    }
    return append(out, status.json);
  }

  // The API's own change: the pod has its node.
  Result<void> confirm(const Key& key, std::string node) {
    INQUEST_TRY(ApiObject* const pod, present(Watched::kPods, key));
    if (!pod->node.empty()) return impossible("'" + key.second + "' has a node already: " + pod->node);
    Binding& binding = bindings_[key];
    if (node.empty()) node = binding.won.empty() ? binding.asked : binding.won;
    if (node.empty())
      return impossible("no bind of '" + key.second + "' can have given it a node",
                        "sent first, or say confirmed on NODE");
    binding.won.clear();
    binding.asked.clear();
    unconfirmed_.erase(key);
    pod->node = node;
    pod->bound = now_;
    pod->rv = ++rv_;
    return show(Watched::kPods, "MODIFIED", pod_json(*pod));
  }

  // The lines of the schedulers' log, as an import keeps them for export.
  Result<void> write_bind_log() {
    for (const SentBind& bind : binds_) {
      std::string line = "{\"t\":" + std::to_string(bind.sent.ns);
      if (bind.answered.known()) line += ",\"t_answer\":" + std::to_string(bind.answered.ns);
      line += ",\"scheduler\":\"" + escaped(bind.scheduler) + "\",\"request\":" + bind.request;
      if (bind.code != 0) line += ",\"code\":" + std::to_string(bind.code) + ",\"response\":" + bind.answer;
      if (bind.code == 0 && bind.answered.known()) line += ",\"error\":\"" + escaped(bind.answer) + "\"";
      Record out;
      out.stream = bind_log_;
      out.kind = RecordKind::kSource;
      out.text = catalog_.string(trace::kLine);
      INQUEST_TRY_VOID(append(out, line + "}"));
    }
    return {};
  }

  const Scenario& scenario_;
  trace::TraceWriter& writer_;
  Catalog& catalog_;
  kube::Decoder decoder_;
  std::array<Watch, kResources.size()> watches_;
  trace::StreamId bind_log_;
  Time now_;
  ResourceVersion rv_ = 1;
  std::map<Key, Slot> nodes_, pods_;
  std::map<Key, Binding> bindings_;
  std::set<Key> unconfirmed_;  // answered 201, and no frame has shown it
  std::vector<SentBind> binds_;
  std::map<size_t, size_t> bind_of_;           // by index of the step that sent it
  std::vector<size_t> sent_by_, answered_by_;  // by index of a step; SIZE_MAX: none
  size_t listed_ = 0;
  uint64_t events_ = 0;
};

}  // namespace

trace::TraceHeader trace_header(const Scenario& scenario) {
  trace::TraceHeader header;
  header.uuid = uid_of("Trace", scenario.name, hex(scenario.digest), 1);
  return header;
}

Result<void> write_trace(const Scenario& scenario, trace::TraceWriter& writer, Catalog& catalog) {
  return Builder(scenario, writer, catalog).write();
}

}  // namespace inquest::replayer
