#include "scheduler/choose.h"

#include <algorithm>
#include <array>

#include "base/hash.h"

namespace inquest::scheduler {
namespace {

// What a node's points say: barred by what it says of itself, no room, or its score above kRoom.
constexpr uint8_t kBarred = 0, kNoRoom = 1, kRoom = 2;

constexpr size_t kMostBytes = size_t{32} << 20;
constexpr int64_t kBound = int64_t{1} << 56;  // sums of a few amounts below it fit into an int64_t

bool in_bounds(Int128 amount) { return amount >= 0 && amount < kBound; }

}  // namespace

// What a pod asks for, looked up once a decision.
struct Chooser::Ask {
  PodKind kind;
  const PodShape& shape;
  bool exact;             // the rows do not tell whether it fits
  bool asks_for_nothing;  // BalancedAllocation skips such a pod
};

void Chooser::note(NodeId node, What what) {
  if (rows_.empty()) return;  // nobody has asked yet
  const Change change{node.value & 0x7fffffff, static_cast<uint32_t>(what) & 1};
  if (changes_end() > rows_seen_ && changes_.back().node == change.node && changes_.back().what == change.what) return;
  if (changes_.size() >= 2 * std::max<size_t>(rows_.size(), 64)) {
    const size_t half = changes_.size() / 2;
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(half));
    first_change_ += half;
  }
  changes_.push_back(change);
}

Chooser::Row Chooser::row_of(const NodeBook& book) const {
  Row row;
  row.known = book.known;
  if (!book.known) return row;
  const Allocatable& allocatable = catalog_->allocatable(book.facts.allocatable);
  const Resources& offered = allocatable.resources;
  for (const Int128 amount :
       {Int128{offered.cpu_milli}, Int128{offered.memory}, Int128{offered.ephemeral}, Int128{allocatable.pods},
        book.cpu_milli, book.memory, book.ephemeral, book.nonzero_cpu_milli, book.nonzero_memory}) {
    row.exact |= !in_bounds(amount);
  }
  if (row.exact) return row;
  row.cpu = offered.cpu_milli;
  row.memory = offered.memory;
  row.free_cpu = row.cpu - static_cast<int64_t>(book.cpu_milli);
  row.free_memory = row.memory - static_cast<int64_t>(book.memory);
  row.free_ephemeral = offered.ephemeral - static_cast<int64_t>(book.ephemeral);
  row.nonzero_cpu = static_cast<int64_t>(book.nonzero_cpu_milli);
  row.nonzero_memory = static_cast<int64_t>(book.nonzero_memory);
  row.free_pods = static_cast<int32_t>(std::clamp<int64_t>(allocatable.pods - book.pods, -1, INT32_MAX));
  return row;
}

void Chooser::refresh_rows(const NodeBooks& books) {
  const bool lost = rows_.empty() || rows_seen_ < first_change_;
  rows_.resize(books.size());
  if (lost) {
    for (uint32_t node = 0; node < books.size(); ++node) rows_[node] = row_of(books.book({node}));
  } else {
    for (uint64_t i = rows_seen_; i < changes_end(); ++i) {
      const uint32_t node = changes_[i - first_change_].node;
      rows_[node] = row_of(books.book({node}));
    }
  }
  rows_seen_ = changes_end();
}

Chooser::Ranking& Chooser::ranking_of(PodKind kind, size_t nodes) {
  const size_t most = std::min(most_kinds_, std::max<size_t>(16, kMostBytes / std::max<size_t>(1, nodes)));
  if (rankings_.size() != most) rankings_.assign(most, {});
  const uint32_t ordinal =
      kind_table_.find_or_insert(combine(kind.shape.value, kind.placement.value), static_cast<uint32_t>(kinds_.size()),
                                 [&](uint32_t at) { return kinds_[at] == kind; });
  if (ordinal == kinds_.size()) kinds_.push_back(kind);
  Ranking& ranking = rankings_[ordinal % most];
  if (ranking.kind == kind) return ranking;
  ranking.kind = kind;
  ranking.points.clear();
  return ranking;
}

int64_t Chooser::score(const Ask& ask, std::span<const Share> nonzero, std::span<const Share> requested) const {
  switch (scoring_) {
    case Scoring::kLeast:
      return least_allocated(nonzero);
    case Scoring::kLeastAndBalanced:
      return least_allocated(nonzero) + (ask.asks_for_nothing ? 0 : balanced_allocation(requested));
    case Scoring::kMost:
      return most_allocated(nonzero);
  }
  return 0;
}

// Of a node that does not bar the pod.
uint8_t Chooser::points_with_room(const NodeBooks& books, const Ask& ask, uint32_t node) const {
  const Row& row = rows_[node];
  const PodShape& shape = ask.shape;
  const Resources& asked = shape.requests;
  std::array<Share, 2> nonzero, requested;
  if (row.exact || ask.exact) {
    if (!books.fit(shape, {node}, PodId::none(), ShapeId::none()).fits()) return kNoRoom;
    const NodeBook& book = books.book({node});
    const Resources& offered = catalog_->allocatable(book.facts.allocatable).resources;
    nonzero = {{{book.nonzero_cpu_milli + shape.nonzero_cpu_milli, offered.cpu_milli},
                {book.nonzero_memory + shape.nonzero_memory, offered.memory}}};
    requested = {{{book.cpu_milli + asked.cpu_milli, offered.cpu_milli}, {book.memory + asked.memory, offered.memory}}};
  } else {
    const auto exceeds = [](int64_t asks, int64_t free) { return asks > 0 && asks > free; };
    if (row.free_pods < 1 || exceeds(asked.cpu_milli, row.free_cpu) || exceeds(asked.memory, row.free_memory) ||
        exceeds(asked.ephemeral, row.free_ephemeral)) {
      return kNoRoom;
    }
    nonzero = {{{row.nonzero_cpu + shape.nonzero_cpu_milli, row.cpu},
                {row.nonzero_memory + shape.nonzero_memory, row.memory}}};
    requested = {{{row.cpu - row.free_cpu + asked.cpu_milli, row.cpu},
                  {row.memory - row.free_memory + asked.memory, row.memory}}};
  }
  return static_cast<uint8_t>(kRoom + score(ask, nonzero, requested));
}

uint8_t Chooser::points(const NodeBooks& books, const Ask& ask, uint32_t node) const {
  if (!rows_[node].known) return kBarred;
  if (!filters_.placement(books.book({node}).facts, ask.kind.placement).fits()) return kBarred;
  return points_with_room(books, ask, node);
}

void Chooser::catch_up(Ranking& ranking, const NodeBooks& books) {
  const PodShape& shape = catalog_->shape(ranking.kind.shape);
  const Resources& asked = shape.requests;
  Ask ask{ranking.kind, shape, !shape.ports.empty() || !asked.extended.empty(),
          asked.cpu_milli == 0 && asked.memory == 0};
  for (const int64_t amount :
       {asked.cpu_milli, asked.memory, asked.ephemeral, shape.nonzero_cpu_milli, shape.nonzero_memory}) {
    ask.exact |= !in_bounds(amount);
  }
  std::vector<uint8_t>& points = ranking.points;
  const bool lost = points.empty() || ranking.seen < first_change_ || changes_end() - ranking.seen >= rows_.size();
  points.resize(rows_.size(), kBarred);
  if (lost) {
    for (uint32_t node = 0; node < points.size(); ++node) points[node] = this->points(books, ask, node);
  } else {
    for (uint64_t i = ranking.seen; i < changes_end(); ++i) {
      const Change change = changes_[i - first_change_];
      uint8_t& now = points[change.node];
      if (change.what == static_cast<uint32_t>(What::kNode)) {
        now = this->points(books, ask, change.node);
      } else if (now != kBarred) {
        now = points_with_room(books, ask, change.node);
      }
    }
  }
  ranking.seen = changes_end();
}

NodeId Chooser::choose(const NodeBooks& books, PodKind pod, uint64_t tie) {
  refresh_rows(books);
  Ranking& ranking = ranking_of(pod, rows_.size());
  catch_up(ranking, books);
  const std::vector<uint8_t>& points = ranking.points;
  const auto best = std::max_element(points.begin(), points.end());
  if (best == points.end() || *best < kRoom) return NodeId::none();
  uint64_t left = tie % static_cast<uint64_t>(std::count(best, points.end(), *best));
  auto at = best;
  while (left-- > 0) at = std::find(at + 1, points.end(), *best);
  return {static_cast<uint32_t>(at - points.begin())};
}

}  // namespace inquest::scheduler
