// BindSet: all binds of all bind inputs, gathered in memory as small structs, then joined and put in order.
//
// The same bind seen twice is one bind with two observations: same pod (uid; namespace/name where a source has no uid),
// same node, same code, overlapping times, different inputs. What is the same at all these and still two binds is told
// apart by who sent it:
//   - two bind logs, or two audit logs, that name different schedulers saw different binds;
//   - an audit log and a bind log may call one scheduler two names, but an audited name that has a bind log of its own
//     is joined to that log alone.
// Times overlap if they come within kJoinSlack of each other, because clocks do. A scheduler's own log is the client's
// view: it gives the primary times and the name. Pure but for the spool of bodies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recorder/body_spool.h"
#include "recorder/line_parser.h"
#include "schema/record.h"

namespace inquest::recorder {

inline constexpr Duration kJoinSlack = Duration::milliseconds(100);
inline constexpr size_t kMaxBinds = size_t{1} << 20;  // observations, about 130 MB of them

using Aliases = std::vector<std::pair<std::string, std::string>>;

// The name of who bound (design 6): the bind log's, else the user agent up to its first '/', else the user without
// "system:"; then the alias, if one is given.
std::string_view scheduler_name(const BindLine& line, const Aliases& aliases);

// One observation.
struct SeenBind {
  uint32_t input = 0;
  bool own_log = false;  // in a scheduler's own log; otherwise in an audit log
  PodId pod;
  NodeId node;
  StringId scheduler, user, agent, reason, message;
  uint16_t code = 0;
  bool panicked = false;
  Time sent, answered;
  uint64_t audit_hash[2] = {0, 0};  // of the auditID; zero: none
  BodySpool::Ref request, answer;
};

// One bind; the first observation is the primary one.
struct JoinedBind {
  std::vector<uint32_t> observations;  // indices into BindSet::seen()
  PodId pod;                           // with the uid and node of whichever observation had them
  NodeId node;
};

// One record to come.
struct BindMoment {
  Time at;
  uint32_t bind = 0;  // index into BindSet::joined()
  bool answer = false;
};

class BindSet {
 public:
  BindSet(Catalog& catalog, BodySpool& spool) : catalog_(&catalog), spool_(&spool) {}

  Result<void> add(uint32_t input, const BindLine& line, const Aliases& aliases);
  // Of one input's times, before join().
  void shift(uint32_t input, int64_t offset_ns);
  void join();

  std::vector<SeenBind>& seen() { return seen_; }
  const std::vector<SeenBind>& seen() const { return seen_; }
  const std::vector<JoinedBind>& joined() const { return joined_; }
  // Requests by the time they were sent, answers by the time they came but never before their request; ties by input,
  // then by the order in the input.
  const std::vector<BindMoment>& moments() const { return moments_; }

 private:
  void drop_repeated_stages();
  void join_group(const std::vector<uint32_t>& group);
  enum class Names : uint8_t { kEqual, kMayDiffer };
  JoinedBind* partner(uint32_t index, size_t begin, size_t end, Names names);
  void take(JoinedBind* bind, uint32_t index);
  bool may_be_same_sender(const SeenBind& a, const SeenBind& b) const;
  void put_in_order();

  Catalog* catalog_;
  BodySpool* spool_;
  std::vector<SeenBind> seen_;
  std::vector<JoinedBind> joined_;
  std::vector<BindMoment> moments_;
  std::vector<StringId> logged_;  // names that have a bind log of their own, sorted
};

}  // namespace inquest::recorder
