#include "cli/pod_counts.h"

#include "base/hash_map.h"
#include "schema/identity_hash.h"

namespace inquest::cli {
namespace {

constexpr size_t kMaxCounted = size_t{4} << 20;

// How many different ones there are, as long as that is not too many to be remembered.
class Different {
 public:
  void add(uint64_t hash) {
    if (seen_.size() < kMaxCounted) seen_[hash];
  }
  uint64_t count() const { return seen_.size(); }
  bool full() const { return seen_.size() == kMaxCounted; }

 private:
  struct Nothing {};
  HashMap<Nothing> seen_;
};

}  // namespace

Result<report::PodCounts> count_pods(trace::TraceReader& reader) {
  Different pods, names;
  reader.rewind();
  while (true) {
    INQUEST_TRY(const trace::Record* record, reader.next());
    if (record == nullptr) break;
    const Catalog& catalog = reader.catalog();
    for (const ObjectFacts& object : record->objects) {
      const auto* pod = std::get_if<PodFacts>(&object);
      if (pod == nullptr) continue;
      const KeyId key = catalog.key_of(pod->pod);
      const uint64_t name = name_hash(catalog.ns(key), catalog.name(key));
      names.add(name);
      pods.add(identity_hash(name, catalog.uid(pod->pod)));
    }
    reader.forget_names_beyond(trace::kWalkNames);
  }
  reader.rewind();
  return report::PodCounts{pods.count(), names.count(), pods.full() || names.full()};
}

}  // namespace inquest::cli
