// Chooser: which node a pod goes to: of all that take it, one with the best score; among equals a hash decides.
//
// Every node is considered at every decision, and the answer is that of a scan over all of them (choose_test.cpp
// compares the two). What makes it fast: the points that each node has for a kind of pod are remembered, and the next
// decision about a pod of this kind reckons only those nodes anew that have changed since. Memory: one byte for each
// node and remembered kind, 32 MiB at most beyond 8,192 nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/intern_table.h"
#include "scheduler/filters.h"
#include "scheduler/scores.h"

namespace inquest::scheduler {

class Chooser {
 public:
  static constexpr size_t kMostKinds = 4096;

  // `most_kinds`: so many kinds of pods are remembered at once; it changes no answer.
  Chooser(const Catalog& catalog, Scoring scoring, Readiness readiness, size_t most_kinds = kMostKinds)
      : catalog_(&catalog), filters_(catalog, readiness), scoring_(scoring), most_kinds_(most_kinds) {}
  // A copy chooses as its original does, but remembers nothing yet: copying costs nothing.
  Chooser(const Chooser& other) : Chooser(*other.catalog_, other) {}
  Chooser& operator=(const Chooser& other) { return *this = Chooser(other); }
  Chooser(Chooser&&) = default;
  Chooser& operator=(Chooser&&) = default;

  const Filters& filters() const { return filters_; }

  // To be told of every change of the books between two choices: of what is charged to a node, or of the node itself.
  void charge_changed(NodeId node) { note(node, What::kCharge); }
  void node_changed(NodeId node) { note(node, What::kNode); }

  // `books` are always the same. Of n equally good nodes, in the order of their ordinals, it is the one at tie % n;
  // none if no node takes the pod.
  NodeId choose(const NodeBooks& books, PodKind pod, uint64_t tie);

 private:
  enum class What : uint8_t { kCharge, kNode };
  struct Change {
    uint32_t node : 31;
    uint32_t what : 1;
  };
  // A node's book as far as most decisions need it, in one cache line.
  struct Row {
    int64_t free_cpu = 0, free_memory = 0, free_ephemeral = 0;
    int64_t cpu = 0, memory = 0;  // offered
    int64_t nonzero_cpu = 0, nonzero_memory = 0;
    int32_t free_pods = 0;
    bool known = false;
    bool exact = false;  // some amount is out of bounds: the book itself must be asked
  };
  // The points of each node for one kind of pod.
  struct Ranking {
    PodKind kind;
    uint64_t seen = 0;  // changes that are reckoned in
    std::vector<uint8_t> points;
  };
  struct Ask;

  Chooser(const Catalog& catalog, const Chooser& other)
      : catalog_(&catalog), filters_(other.filters_), scoring_(other.scoring_), most_kinds_(other.most_kinds_) {}

  void note(NodeId node, What what);
  uint64_t changes_end() const { return first_change_ + changes_.size(); }
  void refresh_rows(const NodeBooks& books);
  Row row_of(const NodeBook& book) const;
  Ranking& ranking_of(PodKind kind, size_t nodes);
  void catch_up(Ranking& ranking, const NodeBooks& books);
  uint8_t points(const NodeBooks& books, const Ask& ask, uint32_t node) const;
  uint8_t points_with_room(const NodeBooks& books, const Ask& ask, uint32_t node) const;
  int64_t score(const Ask& ask, std::span<const Share> nonzero, std::span<const Share> requested) const;

  const Catalog* catalog_;
  Filters filters_;
  Scoring scoring_;
  size_t most_kinds_;
  std::vector<Row> rows_;
  uint64_t rows_seen_ = 0;       // changes that are in the rows
  std::vector<Change> changes_;  // the latest ones; the first of them is number first_change_
  uint64_t first_change_ = 0;
  std::vector<PodKind> kinds_;
  InternTable kind_table_;
  std::vector<Ranking> rankings_;  // kind i is at i modulo the size
};

}  // namespace inquest::scheduler
