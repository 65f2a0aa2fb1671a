// What selectors and tolerations mean: the filters NodeAffinity, TaintToleration and NodeUnschedulable of
// kube-scheduler (kubernetes-facts 9.5, 9.6, 10.12 V1-V8), for one pod and one node. Pure; whoever asks often keeps the
// answers by (PlacementId, LabelsId or TaintsId).
#pragma once

#include <span>
#include <string_view>

#include "schema/catalog.h"

namespace inquest {

// Whether a node with these labels and this name is one that the pod's nodeSelector and required node affinity ask for.
// The labels are canonical. A requirement that the API would refuse (an invalid key, two values where one must stand,
// an unknown operator) makes its term match nothing.
bool matches(const Placement& placement, const Labels& labels, NodeId node, const Catalog& catalog);

// The operators Gt and Lt tolerate nothing: their feature gate is off.
bool tolerates(const Toleration& toleration, const Taint& taint);

// The first taint of effect NoSchedule or NoExecute that none of the tolerations tolerates; nullptr: there is none.
const Taint* first_untolerated(std::span<const Toleration> tolerations, std::span<const Taint> taints);

// spec.unschedulable keeps out whoever does not tolerate the taint that goes with it,
// node.kubernetes.io/unschedulable:NoSchedule, whether or not the node has that taint already.
bool tolerates_unschedulable(std::span<const Toleration> tolerations, const Catalog& catalog);

// Names of labels and their values as the API accepts them.
bool is_label_key(std::string_view text);
bool is_label_value(std::string_view text);

}  // namespace inquest
