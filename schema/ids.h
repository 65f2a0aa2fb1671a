// The ordinals that a Catalog gives out, one type for each kind of thing.
#pragma once

#include "base/strong_id.h"

namespace inquest {

using StringId = StrongId<struct StringTag>;
using KeyId = StrongId<struct KeyTag>;                  // a namespace and a name
using PodId = StrongId<struct PodTag>;                  // one life of a pod: namespace, name and uid
using NodeId = StrongId<struct NodeTag>;                // a node's name, whether or not such a node exists
using ShapeId = StrongId<struct ShapeTag>;              // what a pod asks of a node
using AllocatableId = StrongId<struct AllocatableTag>;  // what a node offers
using PlacementId = StrongId<struct PlacementTag>;      // which nodes a pod may go to
using LabelsId = StrongId<struct LabelsTag>;            // all labels of a node
using TaintsId = StrongId<struct TaintsTag>;            // all taints of a node

inline constexpr StringId kEmptyText{0};  // "" in every catalog

}  // namespace inquest
