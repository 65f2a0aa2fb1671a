#include "scheduler/filters.h"

#include <map>
#include <set>

#include "schema/selectors.h"

namespace inquest::scheduler {
namespace {

Misfit refused(Misfit::Kind kind, const Taint* taint = nullptr) { return {kind, {}, nullptr, {}, taint}; }

}  // namespace

Misfit Filters::placement(const NodeFacts& node, PlacementId pod) const {
  static const Placement kAnywhere;
  static const Labels kNoLabels;
  const Placement& placement = pod ? catalog_->placement(pod) : kAnywhere;
  if (node.unschedulable && !tolerates_unschedulable(placement.tolerations, *catalog_)) {
    return refused(Misfit::Kind::kUnschedulable);
  }
  if (readiness_ == Readiness::kCondition && node.ready != Condition::kTrue) return refused(Misfit::Kind::kNotReady);
  if (node.taints) {
    const Taint* taint = first_untolerated(placement.tolerations, catalog_->taints(node.taints));
    if (taint != nullptr) return refused(Misfit::Kind::kTaint, taint);
  }
  const Labels& labels = node.labels ? catalog_->labels(node.labels) : kNoLabels;
  if (!matches(placement, labels, node.node, *catalog_)) return refused(Misfit::Kind::kAffinity);
  return {};
}

Misfit Filters::all(const NodeBooks& books, NodeId node, PodKind pod) const {
  const NodeBook& book = books.book(node);
  if (!book.known) return refused(Misfit::Kind::kNoSuchNode);
  if (const Misfit misfit = placement(book.facts, pod.placement); !misfit.fits()) return misfit;
  return books.fit(pod.shape, node, PodId::none(), ShapeId::none());
}

std::string Filters::reason(const Misfit& misfit) const {
  switch (misfit.kind) {
    case Misfit::Kind::kFits:
    case Misfit::Kind::kNoSuchNode:
      break;
    case Misfit::Kind::kUnschedulable:
      return "node(s) were unschedulable";
    case Misfit::Kind::kNotReady:
      return "node(s) were not ready";
    case Misfit::Kind::kTaint: {
      const auto text = [&](StringId id) { return std::string(catalog_->text(id)); };
      return "node(s) had untolerated taint {" + text(misfit.taint->key) + ": " + text(misfit.taint->value) + "}";
    }
    case Misfit::Kind::kAffinity:
      return "node(s) didn't match Pod's node affinity/selector";
    case Misfit::Kind::kPort:
      return "node(s) didn't have free ports for the requested pod ports";
    case Misfit::Kind::kPods:
      return "Too many pods";
    case Misfit::Kind::kCpu:
      return "Insufficient cpu";
    case Misfit::Kind::kMemory:
      return "Insufficient memory";
    case Misfit::Kind::kEphemeral:
      return "Insufficient ephemeral-storage";
    case Misfit::Kind::kExtended:
      return "Insufficient " + std::string(misfit.resource);
  }
  return "";
}

std::string Filters::fit_error(const NodeBooks& books, PodKind pod) const {
  size_t nodes = 0;
  std::map<std::string, size_t> counts;
  for (uint32_t node = 0; node < books.size(); ++node) {
    const NodeBook& book = books.book({node});
    if (!book.known) continue;
    ++nodes;
    if (const Misfit misfit = placement(book.facts, pod.placement); !misfit.fits()) {
      ++counts[reason(misfit)];
      continue;
    }
    for (const Misfit& misfit : books.misfits(pod.shape, {node})) ++counts[reason(misfit)];
  }
  if (nodes == 0) return "no nodes available to schedule pods";
  std::set<std::string> sorted;  // as strings, as upstream does: "10 …" comes before "2 …"
  for (const auto& [text, count] : counts) sorted.insert(std::to_string(count) + " " + text);
  std::string out = "0/" + std::to_string(nodes) + " nodes are available:";
  for (const std::string& one : sorted) out += (&one == &*sorted.begin() ? " " : ", ") + one;
  return out + ".";
}

}  // namespace inquest::scheduler
