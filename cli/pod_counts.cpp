#include "cli/pod_counts.h"

#include "base/grown.h"

namespace inquest::cli {
namespace {

// True the first time that `index` is named.
bool first(std::vector<bool>& seen, uint32_t index) {
  if (grown(seen, index)) return false;
  seen[index] = true;
  return true;
}

}  // namespace

Result<report::PodCounts> count_pods(trace::TraceReader& reader) {
  report::PodCounts counts;
  std::vector<bool> pods, names;
  reader.rewind();
  while (true) {
    INQUEST_TRY(const trace::Record* record, reader.next());
    if (record == nullptr) break;
    for (const ObjectFacts& object : record->objects) {
      const auto* pod = std::get_if<PodFacts>(&object);
      if (pod == nullptr) continue;
      if (first(pods, pod->pod.value)) ++counts.pods;
      if (first(names, reader.catalog().key_of(pod->pod).value)) ++counts.names;
    }
  }
  reader.rewind();
  return counts;
}

}  // namespace inquest::cli
