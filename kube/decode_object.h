// One Kubernetes object taken apart, whatever the order of its fields. Internal to the decoder.
//
// Nothing is entered into the catalog before the whole object was read without damage, so that bytes which turn out to
// be no JSON leave no trace in it.
#pragma once

#include <string>
#include <string_view>

#include "kube/decode_placement.h"
#include "kube/json_walk.h"
#include "kube/pod_requests.h"
#include "schema/facts.h"

namespace inquest::kube {

// Views live as long as the document's walk.
struct RawMeta {
  bool present = false;
  std::string_view name, ns, uid, list_continue;
  ResourceVersion rv = 0;
  Time created, deletion;
  bool mirror = false;
  bool initial_events_end = false;
};

struct RawPod {
  std::string_view node, scheduler;
  PodSpec spec;
  RawPlacement placement;
  int32_t priority = 0;
  PodPhase phase = PodPhase::kUnknown;
  Condition scheduled = Condition::kAbsent;
  bool gated = false;
  unsigned affinity = 0, spread = 0, volumes = 0, claims = 0, nominated = 0;  // of Unmodelled, by where it stands

  uint8_t unmodelled() const { return static_cast<uint8_t>(affinity | spread | volumes | claims | nominated); }
  void clear();
};

struct RawNode {
  Allocatable allocatable;
  RawTaints taints;
  Condition ready = Condition::kAbsent;
  bool unschedulable = false;
};

struct RawEvent {
  std::string_view controller, component;  // reportingController; the older source.component
  std::string_view kind, ns, name, uid;    // of what it is about
};

struct RawObject {
  std::string_view kind, api_version;
  ObjectKind type = ObjectKind::kOther;
  RawMeta meta;
  RawPod pod;
  RawNode node;
  RawLabels labels;  // of a node
  RawEvent event;
  int64_t code = 0;                  // of a Status
  std::string_view reason, message;  // of a Status; reason of an event too

  bool is_table() const { return kind == "Table" && api_version.starts_with("meta.k8s.io/"); }
  std::string label() const;  // "pod sched-lab/pod1", for warnings
  void clear();
};

// What the items of a list are; the list's own kind says so, and they seldom repeat it.
struct ItemType {
  std::string_view kind, api_version;
  bool known() const { return !kind.empty(); }
};

class ObjectReader {
 public:
  explicit ObjectReader(JsonWalk& walk) : walk_(walk) {}

  // Damage shows in the walk's broken(). The result is overwritten by the next call.
  const RawObject& read(json::object object, const ItemType& assumed, const Path* parent);
  // The metadata of a list, alone.
  RawMeta meta(Item& item, const Path& path);

 private:
  enum class Pass : uint8_t { kAll, kTyped };
  void read_field(Item& item, const Path& path, Pass pass);
  void read_meta(Item& item, const Path& path);
  void read_annotations(Item& item, const Path& path);
  bool read_typed(Item& item, const Path& path);
  void read_pod_spec(Item& item, const Path& path);
  void read_pod_status(Item& item, const Path& path);
  void read_node_spec(Item& item, const Path& path);
  void read_node_status(Item& item, const Path& path);
  void read_allocatable(Item& item, const Path& path);
  void read_placement(Item& item, const Path& path);
  void read_labels_alone(Item& item, const Path& path);
  void read_node_labels(Item& item, const Path& path);
  void read_labels(Item& item, const Path& path, std::vector<RawLabel>& out);
  void read_tolerations(Item& item, const Path& path, std::vector<RawToleration>& out);
  void read_taints(Item& item, const Path& path);
  void read_affinity(Item& item, const Path& path);
  void read_terms(Item& item, const Path& path);
  void read_requirements(Item& item, const Path& path, std::vector<RawRequirement>& out);
  void read_topology_spread(Item& item, const Path& path);
  void read_volumes(Item& item, const Path& path);
  bool another_part(const Path& path);
  bool not_empty(Item& item, const Path& path);
  void read_source(Item& item, const Path& path);
  void read_regarding(Item& item, const Path& path);
  void read_containers(Item& item, const Path& path, std::vector<Container>& out, ContainerRole role);
  void read_container(Item& item, const Path& path, Container& out);
  void read_ports(Item& item, const Path& path, Container& out);
  ContainerPort read_port(Item& item, const Path& path);
  void read_requests(Item& item, const Path& path, ResourceList& out);
  void read_resource_list(Item& item, const Path& path, ResourceList& out);
  void read_resource(Item& item, const Path& path, ResourceList& out);
  Condition read_condition(Item& item, const Path& path, std::string_view wanted);
  ResourceVersion read_rv(Item& item, const Path& path);
  Time read_time(Item& item, const Path& path);
  void set_text(std::string_view& out, Item& item, const Path& path);

  JsonWalk& walk_;
  RawObject raw_;
  bool typed_ = false;     // raw_.type is settled for this pass
  bool deferred_ = false;  // a field was met before the type was known
  size_t scalars_ = 0;     // named resources of this object so far
  size_t selector_parts_ = 0;
};

ObjectFacts to_facts(const RawObject& raw, Catalog& catalog);

}  // namespace inquest::kube
