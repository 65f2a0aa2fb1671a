#include "recorder/bind_set.h"

#include <algorithm>
#include <tuple>

#include "base/hash.h"

namespace inquest::recorder {
namespace {

constexpr size_t kCandidates = 64;  // looked at for one observation: a pod refused again and again must not cost n²

// Without an answer a bind is open for as long as anyone may look.
Time end_of(const SeenBind& bind) { return bind.answered.known() ? std::max(bind.sent, bind.answered) : Time::never(); }

// 0 if the two overlap, else the time between them.
Duration distance(const SeenBind& a, const SeenBind& b) {
  const Duration apart = std::max(a.sent, b.sent) - std::min(end_of(a), end_of(b));
  return std::max(apart, Duration{0});
}

Duration overlap(const SeenBind& a, const SeenBind& b) {
  return std::min(end_of(a), end_of(b)) - std::max(a.sent, b.sent);
}

}  // namespace

std::string_view scheduler_name(const BindLine& line, const Aliases& aliases) {
  std::string_view name = line.scheduler;
  if (name.empty()) name = line.agent.substr(0, line.agent.find('/'));
  if (name.empty()) {
    constexpr std::string_view kSystem = "system:";
    name = line.user;
    if (name.substr(0, kSystem.size()) == kSystem) name.remove_prefix(kSystem.size());
  }
  for (const auto& [wanted, alias] : aliases) {
    if (name == alias) return wanted;
  }
  return name;
}

Result<void> BindSet::add(uint32_t input, const BindLine& line, const Aliases& aliases) {
  if (seen_.size() >= kMaxBinds) {
    return Error{ErrorCode::kOutOfLimit, "more than " + std::to_string(kMaxBinds) + " binds", "",
                 "import less at once"};
  }
  SeenBind bind;
  bind.input = input;
  bind.own_log = line.audit_id.empty() && line.stage.empty();
  bind.pod =
      catalog_->pod(catalog_->key(catalog_->string(line.ns), catalog_->string(line.name)), catalog_->string(line.uid));
  const auto text = [&](std::string_view value) { return value.empty() ? StringId() : catalog_->string(value); };
  if (!line.node.empty()) bind.node = catalog_->node(line.node);
  bind.scheduler = text(scheduler_name(line, aliases));
  bind.user = text(line.user);
  bind.agent = text(line.agent);
  bind.reason = text(line.reason);
  bind.message = text(line.message);
  bind.code = line.code;
  bind.panicked = line.stage == "Panic";
  bind.sent = line.sent;
  bind.answered = line.answered;
  if (!line.audit_id.empty()) {
    // A request is about one pod: an id that comes with another pod, however odd, is another request.
    const uint64_t pod = combine(hash_bytes(line.ns), hash_bytes(line.name));
    bind.audit_hash[0] = combine(hash_bytes(line.audit_id), pod) | 1;
    bind.audit_hash[1] = combine(line.audit_id.size(), hash_bytes(std::string(line.audit_id) + "#"));
  }
  INQUEST_TRY(bind.request, spool_->put(line.request));
  INQUEST_TRY(bind.answer, spool_->put(line.answer));
  seen_.push_back(bind);
  return {};
}

void BindSet::shift(uint32_t input, int64_t offset_ns) {
  for (SeenBind& bind : seen_) {
    if (bind.input != input) continue;
    bind.sent = bind.sent + Duration{offset_ns};
    if (bind.answered.known()) bind.answered = bind.answered + Duration{offset_ns};
  }
}

// An audited request may be logged at more than one stage of its end; a whole answer is worth more than a panic. The
// same event may also stand in two files, when a log was rotated by copying.
void BindSet::drop_repeated_stages() {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < seen_.size(); ++i) {
    if (seen_[i].audit_hash[0] != 0) order.push_back(i);
  }
  const auto id = [&](uint32_t i) { return std::make_tuple(seen_[i].audit_hash[0], seen_[i].audit_hash[1]); };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::make_tuple(id(a), seen_[a].panicked, a) < std::make_tuple(id(b), seen_[b].panicked, b);
  });
  std::vector<bool> drop(seen_.size(), false);
  for (size_t i = 1; i < order.size(); ++i) drop[order[i]] = id(order[i]) == id(order[i - 1]);
  size_t kept = 0;
  for (size_t i = 0; i < seen_.size(); ++i) {
    if (!drop[i]) seen_[kept++] = seen_[i];
  }
  seen_.resize(kept);
}

bool BindSet::may_be_same_sender(const SeenBind& a, const SeenBind& b) const {
  if (a.scheduler == b.scheduler) return true;
  if (a.own_log == b.own_log) return false;
  const SeenBind& audited = a.own_log ? b : a;
  return !std::binary_search(logged_.begin(), logged_.end(), audited.scheduler);
}

// The best of joined_[begin, end), which are in the order they were sent, to take in this observation; or nullptr.
JoinedBind* BindSet::partner(uint32_t index, size_t begin, size_t end, Names names) {
  const SeenBind& bind = seen_[index];
  const auto primary = [&](size_t i) -> const SeenBind& { return seen_[joined_[i].observations.front()]; };
  size_t near = begin;  // the first that was sent after this one
  for (size_t above = end; near < above;) {
    const size_t middle = near + (above - near) / 2;
    if (primary(middle).sent <= bind.sent) {
      near = middle + 1;
    } else {
      above = middle;
    }
  }
  JoinedBind* best = nullptr;
  std::pair<Duration, Duration> best_rank;  // distance, minus the overlap
  const size_t last = std::min(end, near + kCandidates);
  for (size_t i = near - std::min(near - begin, kCandidates); i < last; ++i) {
    JoinedBind& candidate = joined_[i];
    const SeenBind& other = primary(i);
    const StringId uid = catalog_->uid_id(bind.pod), uid2 = catalog_->uid_id(candidate.pod);
    if (uid != uid2 && !catalog_->text(uid).empty() && !catalog_->text(uid2).empty()) continue;
    if (bind.node != candidate.node && bind.node.known() && candidate.node.known()) continue;
    if (names == Names::kEqual ? bind.scheduler != other.scheduler : !may_be_same_sender(bind, other)) continue;
    if (distance(bind, other) > kJoinSlack) continue;
    const bool taken = std::any_of(candidate.observations.begin(), candidate.observations.end(),
                                   [&](uint32_t o) { return seen_[o].input == bind.input; });
    if (taken) continue;
    const std::pair<Duration, Duration> rank{distance(bind, other), Duration{0} - overlap(bind, other)};
    if (best == nullptr || rank < best_rank) {
      best = &candidate;
      best_rank = rank;
    }
  }
  return best;
}

void BindSet::take(JoinedBind* bind, uint32_t index) {
  if (bind == nullptr) {
    joined_.push_back({{index}, seen_[index].pod, seen_[index].node});
    return;
  }
  bind->observations.push_back(index);
  if (catalog_->uid(bind->pod).empty()) bind->pod = seen_[index].pod;
  if (!bind->node.known()) bind->node = seen_[index].node;
}

// Of one pod name and one code: own logs first, each kind in the order sent. What agrees in the name is joined before
// anything else can take its place.
void BindSet::join_group(const std::vector<uint32_t>& group) {
  const size_t first = joined_.size();
  size_t audits = first;  // where the binds begin that no own log has
  std::vector<uint32_t> rest;
  for (const uint32_t index : group) {
    JoinedBind* same = partner(index, first, audits, Names::kEqual);
    if (same == nullptr && !seen_[index].own_log) {
      rest.push_back(index);
      continue;
    }
    take(same, index);
    audits = joined_.size();
  }
  for (const uint32_t index : rest) {
    JoinedBind* bind = partner(index, first, audits, Names::kMayDiffer);
    if (bind == nullptr) bind = partner(index, audits, joined_.size(), Names::kEqual);
    take(bind, index);
  }
}

void BindSet::join() {
  drop_repeated_stages();
  joined_.clear();
  logged_.clear();
  for (const SeenBind& bind : seen_) {
    if (bind.own_log) logged_.push_back(bind.scheduler);
  }
  std::sort(logged_.begin(), logged_.end());
  logged_.erase(std::unique(logged_.begin(), logged_.end()), logged_.end());

  std::vector<uint32_t> order(seen_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto group_of = [&](uint32_t i) { return std::make_tuple(catalog_->key_of(seen_[i].pod), seen_[i].code); };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::make_tuple(group_of(a), !seen_[a].own_log, seen_[a].sent, a) <
           std::make_tuple(group_of(b), !seen_[b].own_log, seen_[b].sent, b);
  });
  std::vector<uint32_t> group;
  for (size_t i = 0; i < order.size(); ++i) {
    group.push_back(order[i]);
    if (i + 1 < order.size() && group_of(order[i + 1]) == group_of(order[i])) continue;
    join_group(group);
    group.clear();
  }
  put_in_order();
}

void BindSet::put_in_order() {
  const auto primary = [&](const JoinedBind& bind) { return bind.observations.front(); };
  std::sort(joined_.begin(), joined_.end(), [&](const JoinedBind& a, const JoinedBind& b) {
    const uint32_t x = primary(a), y = primary(b);
    return std::make_tuple(seen_[x].sent, seen_[x].input, x) < std::make_tuple(seen_[y].sent, seen_[y].input, y);
  });
  moments_.clear();
  for (uint32_t i = 0; i < joined_.size(); ++i) {
    const SeenBind& bind = seen_[primary(joined_[i])];
    moments_.push_back({bind.sent, i, false});
    if (bind.answered.known()) moments_.push_back({std::max(bind.sent, bind.answered), i, true});
  }
  std::sort(moments_.begin(), moments_.end(), [](const BindMoment& a, const BindMoment& b) {
    return std::make_tuple(a.at, a.bind, a.answer) < std::make_tuple(b.at, b.bind, b.answer);
  });
}

}  // namespace inquest::recorder
