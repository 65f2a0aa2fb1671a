#include "recorder/bind_set.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "base/hash.h"
#include "schema/identity_hash.h"
#include "schema/table_hash.h"

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

uint64_t text_hash(std::string_view text) { return text.empty() ? 0 : table_hash(text) | 1; }

namespace {

// In the order they are written.
auto all_words(auto& words) {
  return std::array{&words.ns,    &words.name,   &words.uid,     &words.node,    &words.scheduler, &words.user,
                    &words.agent, &words.reason, &words.message, &words.request, &words.answer};
}

}  // namespace

Result<void> BindSet::add(uint32_t input, const BindLine& line, const Aliases& aliases) {
  if (seen_.size() >= kMaxBinds) {
    return Error{ErrorCode::kOutOfLimit, "more than " + std::to_string(kMaxBinds) + " binds", "",
                 "import less at once"};
  }
  const std::string_view scheduler = scheduler_name(line, aliases);
  SeenBind bind;
  bind.input = static_cast<uint16_t>(input);
  bind.own_log = line.audit_id.empty() && line.stage.empty();
  bind.pod = name_hash(line.ns, line.name);
  bind.uid = text_hash(line.uid);
  bind.node = text_hash(line.node);
  bind.scheduler = text_hash(scheduler);
  bind.code = line.code;
  bind.panicked = line.stage == "Panic";
  bind.sent = line.sent;
  bind.answered = line.answered;
  // A request is about one pod: an id that comes with another pod, however odd, is another request.
  if (!line.audit_id.empty()) bind.audit = combine(table_hash(line.audit_id), bind.pod) | 1;
  const BindWords words{line.ns,    line.name,   line.uid,     line.node,    scheduler,  line.user,
                        line.agent, line.reason, line.message, line.request, line.answer};
  std::string text;
  for (const std::string_view* word : all_words(words)) {
    const auto size = static_cast<uint32_t>(word->size());
    char bytes[sizeof size];
    std::memcpy(bytes, &size, sizeof size);
    text.append(bytes, sizeof size).append(*word);
  }
  INQUEST_TRY(bind.words, spool_->put(text));
  seen_.push_back(bind);
  return {};
}

Result<BindWords> BindSet::words(const SeenBind& bind, std::string& kept) const {
  INQUEST_TRY(kept, spool_->get(bind.words));
  BindWords words;
  size_t at = 0;
  for (std::string_view* word : all_words(words)) {
    uint32_t size = 0;
    std::memcpy(&size, kept.data() + at, sizeof size);
    *word = std::string_view(kept).substr(at + sizeof size, size);
    at += sizeof size + size;
  }
  return words;
}

std::vector<uint32_t> BindSet::observations(const JoinedBind& bind) const {
  std::vector<uint32_t> out;
  for (uint32_t i = bind.first; i != UINT32_MAX; i = seen_[i].next) out.push_back(i);
  return out;
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
    if (seen_[i].audit != 0) order.push_back(i);
  }
  const auto id = [&](uint32_t i) { return seen_[i].audit; };
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
  const auto primary = [&](size_t i) -> const SeenBind& { return seen_[joined_[i].first]; };
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
    const uint64_t uid = seen_[candidate.names_uid].uid, node = seen_[candidate.names_node].node;
    if (bind.uid != uid && bind.uid != 0 && uid != 0) continue;
    if (bind.node != node && bind.node != 0 && node != 0) continue;
    if (names == Names::kEqual ? bind.scheduler != other.scheduler : !may_be_same_sender(bind, other)) continue;
    if (distance(bind, other) > kJoinSlack) continue;
    bool taken = false;
    for (uint32_t o = candidate.first; o != UINT32_MAX; o = seen_[o].next) taken |= seen_[o].input == bind.input;
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
    joined_.push_back({index, index, index, index});
    return;
  }
  seen_[bind->last].next = index;
  bind->last = index;
  if (seen_[bind->names_uid].uid == 0) bind->names_uid = index;
  if (seen_[bind->names_node].node == 0) bind->names_node = index;
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
  joined_.reserve(seen_.size());
  for (SeenBind& bind : seen_) bind.next = UINT32_MAX;
  logged_.clear();
  for (const SeenBind& bind : seen_) {
    if (bind.own_log) logged_.push_back(bind.scheduler);
  }
  std::sort(logged_.begin(), logged_.end());
  logged_.erase(std::unique(logged_.begin(), logged_.end()), logged_.end());

  std::vector<uint32_t> order(seen_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto group_of = [&](uint32_t i) { return std::make_tuple(seen_[i].pod, seen_[i].code); };
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
  std::sort(joined_.begin(), joined_.end(), [&](const JoinedBind& a, const JoinedBind& b) {
    const SeenBind &x = seen_[a.first], &y = seen_[b.first];
    return std::make_tuple(x.sent, x.input, a.first) < std::make_tuple(y.sent, y.input, b.first);
  });
  answered_.clear();
  for (uint32_t i = 0; i < joined_.size(); ++i) {
    if (seen_[joined_[i].first].answered.known()) answered_.push_back(i);
  }
  std::sort(answered_.begin(), answered_.end(), [&](uint32_t a, uint32_t b) {
    return std::make_tuple(answer_time(joined_[a]), a) < std::make_tuple(answer_time(joined_[b]), b);
  });
}

}  // namespace inquest::recorder
