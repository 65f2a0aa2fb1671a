// For tests and the benchmark only: what Chooser answers, by asking every node anew. Slow and obvious.
#pragma once

#include <algorithm>
#include <vector>

#include "scheduler/filters.h"
#include "scheduler/scores.h"

namespace inquest::scheduler {

inline int64_t naive_score(const NodeBook& book, const Resources& offered, const PodShape& shape, Scoring scoring) {
  const Share nonzero[] = {{book.nonzero_cpu_milli + shape.nonzero_cpu_milli, offered.cpu_milli},
                           {book.nonzero_memory + shape.nonzero_memory, offered.memory}};
  const Share requested[] = {{book.cpu_milli + shape.requests.cpu_milli, offered.cpu_milli},
                             {book.memory + shape.requests.memory, offered.memory}};
  const bool asks = shape.requests.cpu_milli != 0 || shape.requests.memory != 0;
  if (scoring == Scoring::kMost) return most_allocated(nonzero);
  const bool balanced = scoring == Scoring::kLeastAndBalanced && asks;
  return least_allocated(nonzero) + (balanced ? balanced_allocation(requested) : 0);
}

inline NodeId naive_choice(const Catalog& catalog, const NodeBooks& books, const Filters& filters, Scoring scoring,
                           PodKind pod, uint64_t tie) {
  std::vector<NodeId> best;
  int64_t best_score = 0;
  for (uint32_t i = 0; i < books.size(); ++i) {
    if (!filters.all(books, {i}, pod).fits()) continue;
    const NodeBook& book = books.book({i});
    const Resources& offered = catalog.allocatable(book.facts.allocatable).resources;
    const int64_t score = naive_score(book, offered, catalog.shape(pod.shape), scoring);
    if (score > best_score) best.clear();
    if (score >= best_score) best.push_back({i});
    best_score = std::max(best_score, score);
  }
  return best.empty() ? NodeId::none() : best[tie % best.size()];
}

}  // namespace inquest::scheduler
