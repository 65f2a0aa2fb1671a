#include "scheduler/policy.h"

#include <algorithm>
#include <array>

#include "base/duration.h"

namespace inquest::scheduler {
namespace {

constexpr uint32_t kMaxOpenBinds = 100'000;

// A parameter whose values are the names of an enum, in the order of the enum.
template <typename Enum, size_t N>
struct Names {
  std::array<std::string_view, N> names;

  std::string get(Enum value) const { return std::string(names[static_cast<size_t>(value)]); }
  Result<void> set(Enum& out, std::string_view text) const {
    std::string allowed;
    for (size_t i = 0; i < N; ++i) {
      if (names[i] == text) {
        out = static_cast<Enum>(i);
        return {};
      }
      allowed += (i == 0 ? "" : ", ") + std::string(names[i]);
    }
    return Error{ErrorCode::kUsage, "'" + std::string(text) + "' is none of " + allowed, "", ""};
  }
};

constexpr Names<AssumeWhen, 3> kAssume{{"never", "before", "after"}};
constexpr Names<TtlFrom, 2> kTtlFrom{{"assume", "answer"}};
constexpr Names<ExpireWhileBindOpen, 2> kExpireOpen{{"no", "yes"}};
constexpr Names<Expiry, 2> kExpiry{{"exact", "tick"}};
constexpr Names<Purge, 3> kPurge{{"decision", "event", "both"}};
constexpr Names<DeletesTo, 2> kDeletesTo{{"scheduled", "both"}};
constexpr Names<Tombstones, 2> kTombstones{{"last-seen", "everywhere"}};
constexpr Names<PodKey, 2> kKey{{"name", "uid"}};
constexpr Names<UidChange, 2> kUidChange{{"update", "split"}};
constexpr Names<WhenMarked, 2> kWhenMarked{{"keep", "forget"}};
constexpr Names<Watches, 2> kWatches{{"one", "two"}};
constexpr Names<QueueOrder, 2> kQueue{{"fifo", "priority"}};
constexpr Names<Scoring, 3> kScore{{"least", "least+balanced", "most"}};
constexpr Names<Readiness, 2> kReady{{"condition", "taints"}};
constexpr Names<KeepsJournal, 2> kJournal{{"no", "yes"}};

// A duration, or the word for none.
std::string get_period(const std::optional<Duration>& period, std::string_view none = "never") {
  return period ? format_duration(*period) : std::string(none);
}

Result<void> set_period(std::optional<Duration>& period, std::string_view text, std::string_view none = "never") {
  if (text == none) {
    period.reset();
    return {};
  }
  INQUEST_TRY(const Duration parsed, parse_duration(text));
  if (parsed.ns == 0) {
    return Error{ErrorCode::kUsage, "it must be longer than 0", "", "say " + std::string(none) + " to switch it off"};
  }
  period = parsed;
  return {};
}

struct RelistStore {
  std::string_view name;
  bool Relist::*member;
};
constexpr std::array<RelistStore, 4> kRelistStores = {{{"scheduled", &Relist::scheduled},
                                                       {"queued", &Relist::queued},
                                                       {"nodes", &Relist::nodes},
                                                       {"assumed", &Relist::assumed}}};

std::string get_relist_stores(const Policy& policy) {
  std::string out;
  for (const RelistStore& store : kRelistStores) {
    if (policy.relist.*store.member) out += (out.empty() ? "" : ",") + std::string(store.name);
  }
  return out.empty() ? "none" : out;
}

Result<void> set_relist_stores(Policy& policy, std::string_view text) {
  Relist chosen{policy.relist.period, false, false, false, false};
  for (std::string_view rest = text; text != "none";) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const RelistStore* found = nullptr;
    for (const RelistStore& store : kRelistStores) {
      if (store.name == word) found = &store;
    }
    if (found == nullptr) {
      return Error{ErrorCode::kUsage, "'" + std::string(word) + "' is no store", "",
                   "name some of scheduled, queued, nodes, assumed, separated by commas"};
    }
    chosen.*found->member = true;
    if (word.size() == rest.size()) break;
    rest.remove_prefix(word.size() + 1);
  }
  policy.relist = chosen;
  return {};
}

Result<void> set_relist(Policy& policy, std::string_view text) {
  INQUEST_TRY_VOID(set_period(policy.relist.period, text));
  Relist& relist = policy.relist;
  if (!relist.scheduled && !relist.queued && !relist.nodes && !relist.assumed) {
    relist.scheduled = relist.queued = relist.nodes = true;  // a re-list that corrects nothing is not what was meant
  }
  return {};
}

Result<void> set_binds(Policy& policy, std::string_view text) {
  if (text == "serial") {
    policy.binds = 1;
    return {};
  }
  uint32_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > kMaxOpenBinds) return Error{ErrorCode::kUsage, "it is no count", "", ""};
    value = value * 10 + static_cast<uint32_t>(c - '0');
  }
  if (value == 0 || value > kMaxOpenBinds) {
    return Error{ErrorCode::kUsage, "it must be 'serial' or a count from 1 to 100000", "", ""};
  }
  policy.binds = value;
  return {};
}

constexpr std::array kParameters = {
    Parameter{"ttl", "never | DURATION", "how long an assumption may stay unconfirmed",
              [](const Policy& p) { return get_period(p.ttl); },
              [](Policy& p, std::string_view v) { return set_period(p.ttl, v); }},
    Parameter{"ttl-from", "assume | answer", "what the TTL counts from",
              [](const Policy& p) { return kTtlFrom.get(p.ttl_from); },
              [](Policy& p, std::string_view v) { return kTtlFrom.set(p.ttl_from, v); }},
    Parameter{"expire-while-bind-open", "no | yes", "whether it may run out before the bind is answered",
              [](const Policy& p) { return kExpireOpen.get(p.expire_while_bind_open); },
              [](Policy& p, std::string_view v) { return kExpireOpen.set(p.expire_while_bind_open, v); }},
    Parameter{"expiry", "exact | tick", "whether it leaves when its time is up, or at the next tick of a second",
              [](const Policy& p) { return kExpiry.get(p.expiry); },
              [](Policy& p, std::string_view v) { return kExpiry.set(p.expiry, v); }},
    Parameter{"assume", "never | before | after", "when a decision enters the assumed store",
              [](const Policy& p) { return kAssume.get(p.assume); },
              [](Policy& p, std::string_view v) { return kAssume.set(p.assume, v); }},
    Parameter{"binds", "serial | COUNT", "how many binds may be open at once",
              [](const Policy& p) { return p.binds == 1 ? std::string("serial") : std::to_string(p.binds); },
              set_binds},
    Parameter{"purge", "decision | event | both", "when an assumption is dropped because its pod was seen scheduled",
              [](const Policy& p) { return kPurge.get(p.purge); },
              [](Policy& p, std::string_view v) { return kPurge.set(p.purge, v); }},
    Parameter{"deletes-to", "scheduled | both", "which stores hear of a deleted pod",
              [](const Policy& p) { return kDeletesTo.get(p.deletes_to); },
              [](Policy& p, std::string_view v) { return kDeletesTo.set(p.deletes_to, v); }},
    Parameter{"deletes-wait", "no | DURATION",
              "whether a delete waits for its pod's open bind, which is given up after so long",
              [](const Policy& p) { return get_period(p.deletes_wait, "no"); },
              [](Policy& p, std::string_view v) { return set_period(p.deletes_wait, v, "no"); }},
    Parameter{"tombstones", "last-seen | everywhere",
              "which stores of one watch hear of a delete that a list made known",
              [](const Policy& p) { return kTombstones.get(p.tombstones); },
              [](Policy& p, std::string_view v) { return kTombstones.set(p.tombstones, v); }},
    Parameter{"relist", "never | DURATION", "how often all is listed again",
              [](const Policy& p) { return get_period(p.relist.period); }, set_relist},
    Parameter{"relist-stores", "none | scheduled,queued,nodes,assumed", "which stores the list corrects",
              get_relist_stores, set_relist_stores},
    Parameter{"key", "name | uid", "what makes two pods the same", [](const Policy& p) { return kKey.get(p.key); },
              [](Policy& p, std::string_view v) { return kKey.set(p.key, v); }},
    Parameter{"uid-change", "update | split",
              "by uid: whether a new uid of a name is an update, or a delete and an add",
              [](const Policy& p) { return kUidChange.get(p.uid_change); },
              [](Policy& p, std::string_view v) { return kUidChange.set(p.uid_change, v); }},
    Parameter{"when-marked", "keep | forget",
              "what becomes of an assumption when its pod, not yet seen bound, is marked for deletion",
              [](const Policy& p) { return kWhenMarked.get(p.when_marked); },
              [](Policy& p, std::string_view v) { return kWhenMarked.set(p.when_marked, v); }},
    Parameter{"watches", "one | two", "one watch of all pods, or one of pods with a node and one of those without",
              [](const Policy& p) { return kWatches.get(p.watches); },
              [](Policy& p, std::string_view v) { return kWatches.set(p.watches, v); }},
    Parameter{"queue", "fifo | priority", "who is next, and how a pod waits that found no node",
              [](const Policy& p) { return kQueue.get(p.queue); },
              [](Policy& p, std::string_view v) { return kQueue.set(p.queue, v); }},
    Parameter{"score", "least | least+balanced | most", "which node is best: by how much is allocated, and how evenly",
              [](const Policy& p) { return kScore.get(p.score); },
              [](Policy& p, std::string_view v) { return kScore.set(p.score, v); }},
    Parameter{"ready", "condition | taints", "what keeps pods off a node that is not ready: that, or its taints alone",
              [](const Policy& p) { return kReady.get(p.ready); },
              [](Policy& p, std::string_view v) { return kReady.set(p.ready, v); }},
    Parameter{"journal", "no | yes", "whether decisions are on disk before their bind and assumed again at a restart",
              [](const Policy& p) { return kJournal.get(p.journal); },
              [](Policy& p, std::string_view v) { return kJournal.set(p.journal, v); }},
};

constexpr Duration kTtl =
    Duration::seconds(30);  // of 2015 and of the first scheduler cache (kubernetes-facts 1.3, 2.3)
constexpr Duration kRelistPeriod = Duration::seconds(60);
constexpr Duration kBindTimeout = Duration::seconds(60);  // as long as the API server lets a request take
constexpr uint32_t kUpstreamBinds = 100;  // it has no bound of its own; its client lets a burst of 100 through
constexpr uint32_t kLiveBinds = 16;

Policy named(std::string name, std::string shows, Policy like = {}) {
  like.name = std::move(name);
  like.shows = std::move(shows);
  return like;
}

// Those of 2015 assume after success, bind serially, key by name, use two filtered watches, purge at the next decision.
std::vector<Policy> presets_of_2015() {
  Policy no_assume = named("no-assume", "two pods on one port: why the assumed store exists");
  no_assume.assume = AssumeWhen::kNever;

  const Policy naive = named("naive", "a pod deleted before the next decision is a zombie for ever");

  Policy delete_both =
      named("delete-both", "a delete that comes before the assumption is written leaves a zombie for ever");
  delete_both.deletes_to = DeletesTo::kBoth;

  Policy locked_delete = named("locked-delete", "the race is survived; a lost delete is still for ever", delete_both);
  locked_delete.deletes_wait = kBindTimeout;

  Policy relist_corrects_assumed = named(
      "relist-corrects-assumed", "a list taken just before a bind wipes an assumption that is right", delete_both);
  relist_corrects_assumed.relist = {kRelistPeriod, true, true, true, true};

  Policy ttl_only = named("ttl-only", "a confirmation later than the TTL finds its room given away", naive);
  ttl_only.ttl = kTtl;

  Policy combined = named("combined", "the proposal: the stores heal, at worst after one TTL or re-list", delete_both);
  combined.ttl = kTtl;
  combined.purge = Purge::kBoth;
  combined.relist = {kRelistPeriod, true, true, true, false};
  return {no_assume, naive, delete_both, locked_delete, relist_corrects_assumed, ttl_only, combined};
}

std::vector<Policy> make_presets() {
  std::vector<Policy> out = presets_of_2015();
  const Policy combined = out.back();

  Policy upstream_2016 = named("upstream-2016", "the first scheduler cache: a TTL that runs from the bind's answer");
  upstream_2016.ttl = kTtl;
  upstream_2016.ttl_from = TtlFrom::kBindAnswer;
  upstream_2016.expire_while_bind_open = ExpireWhileBindOpen::kNo;
  upstream_2016.expiry = Expiry::kTick;
  upstream_2016.assume = AssumeWhen::kBeforeBind;
  upstream_2016.binds = kUpstreamBinds;
  upstream_2016.purge = Purge::kConfirmingEvent;
  upstream_2016.deletes_to = DeletesTo::kBoth;
  upstream_2016.tombstones = Tombstones::kLastSeen;
  upstream_2016.key = PodKey::kUid;
  upstream_2016.uid_change = UidChange::kUpdate;
  upstream_2016.watches = Watches::kOne;
  upstream_2016.score = Scoring::kLeastAndBalanced;

  Policy upstream_now = named("upstream-now", "an assumption never expires: a missed delete stays", upstream_2016);
  upstream_now.ttl.reset();
  upstream_now.queue = QueueOrder::kPriority;
  upstream_now.ready = Readiness::kTaints;
  upstream_now.tombstones = Tombstones::kEverywhere;
  upstream_now.uid_change = UidChange::kSplit;
  upstream_now.when_marked = WhenMarked::kForget;

  Policy journal = named("journal", "a crash between decision and bind is expensive", combined);
  journal.journal = KeepsJournal::kYes;

  Policy live = named("live", "what schedules a cluster: combined, and no bind waits for another", combined);
  live.assume = AssumeWhen::kBeforeBind;
  live.ttl_from = TtlFrom::kBindAnswer;
  live.expire_while_bind_open = ExpireWhileBindOpen::kNo;
  live.binds = kLiveBinds;
  live.queue = QueueOrder::kPriority;

  out.insert(out.end(), {upstream_2016, upstream_now, journal, live});
  return out;
}

}  // namespace

Duration Policy::heals_within() const {
  Duration out{};
  if (assume != AssumeWhen::kNever && ttl) out = out + *ttl + (expiry == Expiry::kTick ? kTick : Duration{});
  if (deletes_wait) out = out + *deletes_wait;
  if (relist.period) out = out + *relist.period;
  return out;
}

std::span<const Policy> presets() {
  static const std::vector<Policy> all = make_presets();
  return all;
}

Result<Policy> preset(std::string_view name) {
  std::string names;
  for (const Policy& policy : presets()) {
    if (policy.name == name) return policy;
    names += (names.empty() ? "" : ", ") + policy.name;
  }
  return Error{ErrorCode::kUsage, "there is no policy '" + std::string(name) + "'", "", "one of " + names};
}

std::span<const Parameter> parameters() { return kParameters; }

bool same_parameters(const Policy& a, const Policy& b) {
  const auto same = [&](const Parameter& parameter) { return parameter.get(a) == parameter.get(b); };
  return std::all_of(parameters().begin(), parameters().end(), same);
}

}  // namespace inquest::scheduler
