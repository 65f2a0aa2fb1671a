// BindSet: all binds of all bind inputs, gathered in memory as small structs, their words in a spool, then joined and
// put in order.
//
// The same bind seen twice is one bind with two observations: same pod (uid; namespace/name where a source has no uid),
// same node, same code, overlapping times, different inputs. What is the same at all these and still two binds is told
// apart by who sent it:
//   - two bind logs, or two audit logs, that name different schedulers saw different binds;
//   - an audit log and a bind log may call one scheduler two names, but an audited name that has a bind log of its own
//     is joined to that log alone.
// Times overlap if they come within kJoinSlack of each other, because clocks do. A scheduler's own log is the client's
// view: it gives the primary times and the name. Pure but for the spool.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recorder/body_spool.h"
#include "recorder/line_parser.h"
#include "schema/record.h"

namespace inquest::recorder {

inline constexpr Duration kJoinSlack = Duration::milliseconds(100);
inline constexpr size_t kMaxBinds = size_t{1} << 20;  // observations, about 120 MB of them

using Aliases = std::vector<std::pair<std::string, std::string>>;

// The name of who bound (design 6): the bind log's, else the user agent up to its first '/', else the user without
// "system:"; then the alias, if one is given.
std::string_view scheduler_name(const BindLine& line, const Aliases& aliases);

// What an observation says in words; views into the line or into what was read of the spool.
struct BindWords {
  std::string_view ns, name, uid, node;
  std::string_view scheduler, user, agent, reason, message;
  std::string_view request, answer;  // bodies
};

// One observation. Names are hashes: what they stand for lies in the spool.
struct SeenBind {
  uint64_t pod = 0;        // name_hash()
  uint64_t uid = 0;        // 0: not known
  uint64_t node = 0;       // 0: not known
  uint64_t scheduler = 0;  // 0: no name
  uint64_t audit = 0;      // of the auditID; 0: none
  Time sent, answered;
  BodySpool::Ref words;
  uint32_t next = UINT32_MAX;  // observation of the same bind
  uint16_t input = 0, code = 0;
  bool own_log = false;  // in a scheduler's own log; otherwise in an audit log
  bool panicked = false;
};
uint64_t text_hash(std::string_view text);  // 0 of ""

// One bind.
struct JoinedBind {
  uint32_t first = 0, last = 0;  // indices into BindSet::seen(); the first observation is the primary one
  uint32_t names_uid = 0;        // the observation that does, if one of them does
  uint32_t names_node = 0;
};

class BindSet {
 public:
  explicit BindSet(BodySpool& spool) : spool_(&spool) {}

  Result<void> add(uint32_t input, const BindLine& line, const Aliases& aliases);
  // Of one input's times, before join().
  void shift(uint32_t input, int64_t offset_ns);
  void join();

  // Made elsewhere, without words.
  void add(const SeenBind& bind) { seen_.push_back(bind); }
  std::deque<SeenBind>& seen() { return seen_; }
  const std::deque<SeenBind>& seen() const { return seen_; }
  // In the order they were sent; ties by input, then by the order in the input.
  const std::vector<JoinedBind>& joined() const { return joined_; }
  std::vector<uint32_t> observations(const JoinedBind& bind) const;
  // Indices into joined() of the binds that were answered, by the time of the answer.
  const std::vector<uint32_t>& answered() const { return answered_; }
  // When an answer stands in the trace: never before its request.
  Time answer_time(const JoinedBind& bind) const {
    return std::max(seen_[bind.first].sent, seen_[bind.first].answered);
  }
  // The views live in `kept`.
  Result<BindWords> words(const SeenBind& bind, std::string& kept) const;

 private:
  void drop_repeated_stages();
  void join_group(const std::vector<uint32_t>& group);
  enum class Names : uint8_t { kEqual, kMayDiffer };
  JoinedBind* partner(uint32_t index, size_t begin, size_t end, Names names);
  void take(JoinedBind* bind, uint32_t index);
  bool may_be_same_sender(const SeenBind& a, const SeenBind& b) const;
  void put_in_order();

  BodySpool* spool_;
  std::deque<SeenBind> seen_;  // no vector: growing one doubles it
  std::vector<JoinedBind> joined_;
  std::vector<uint32_t> answered_;
  std::vector<uint64_t> logged_;  // names that have a bind log of their own, sorted
};

}  // namespace inquest::recorder
