#include "recorder/clock_pairs.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "kube/decode.h"
#include "recorder/clock_offset.h"
#include "schema/identity_hash.h"

namespace inquest::recorder {
namespace {

constexpr size_t kNamesKept = size_t{32} << 20;

bool is_regular(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Accepted binds that no frame has shown yet, by pod.
class Waiting {
 public:
  explicit Waiting(const BindSet& binds) : binds_(&binds) {
    for (uint32_t i = 0; i < binds.seen().size(); ++i) {
      const SeenBind& bind = binds.seen()[i];
      if (bind.code != 201 || !bind.answered.known() || bind.uid == 0) continue;
      by_pod_.emplace_back(combine(bind.pod, bind.uid), i);
      estimates_[bind.input];
    }
    std::sort(by_pod_.begin(), by_pod_.end());
    left_ = by_pod_.size();
    shown_.resize(left_, false);
  }

  bool done() const {
    return left_ == 0 || std::all_of(estimates_.begin(), estimates_.end(),
                                     [](const auto& entry) { return entry.second.pairs() >= kMaxPairs; });
  }

  void frame(const Catalog& catalog, const PodFacts& facts, Time arrived) {
    const KeyId key = catalog.key_of(facts.pod);
    const uint64_t pod = combine(name_hash(catalog.ns(key), catalog.name(key)), text_hash(catalog.uid(facts.pod)));
    const uint64_t node = text_hash(catalog.node_name(facts.node));
    auto at = std::lower_bound(by_pod_.begin(), by_pod_.end(), std::make_pair(pod, uint32_t{0}));
    for (; at != by_pod_.end() && at->first == pod; ++at) {
      const auto place = static_cast<size_t>(at - by_pod_.begin());
      const SeenBind& bind = binds_->seen()[at->second];
      if (shown_[place] || bind.node != node) continue;
      shown_[place] = true;
      --left_;
      estimates_[bind.input].pair(bind.sent, bind.answered, arrived);
    }
  }

  const std::map<uint32_t, ClockEstimate>& estimates() const { return estimates_; }

 private:
  const BindSet* binds_;
  std::vector<std::pair<uint64_t, uint32_t>> by_pod_;
  std::vector<bool> shown_;
  size_t left_ = 0;
  std::map<uint32_t, ClockEstimate> estimates_;
};

// What cannot be read here is told when the file is read in earnest.
void read_ahead(const std::string& path, Waiting& waiting) {
  Catalog catalog;
  kube::Decoder decoder(catalog);
  auto source = LineSource::open(path);
  if (!source.ok()) return;
  LineParser parser;
  while (!waiting.done() && source->bytes() < kReadAhead) {
    if (catalog.memory() > kNamesKept) catalog = Catalog();
    const Line line = source->next();
    if (line.kind == Line::Kind::kEnd) return;
    if (line.kind != Line::Kind::kText) continue;
    const auto capture = parser.capture(line);
    if (!capture.ok() || capture.value().kind != CaptureLine::Kind::kFrame) continue;
    const auto frame = decoder.frame(capture.value().body);
    if (!frame.ok()) continue;
    const auto* pod = std::get_if<PodFacts>(&frame.value().object);
    if (pod != nullptr && pod->bound()) waiting.frame(catalog, *pod, capture.value().t);
  }
}

}  // namespace

std::vector<InputOffset> estimate_offsets(const std::vector<Input>& inputs, const BindSet& binds) {
  std::vector<InputOffset> out;
  Waiting waiting(binds);
  for (const Input& input : inputs) {
    if (waiting.done()) break;
    if (input.kind() == InputKind::kCapture && is_regular(input.path())) read_ahead(input.path(), waiting);
  }
  for (const auto& [index, estimate] : waiting.estimates()) {
    if (estimate.pairs() == 0) continue;
    out.push_back({index, estimate.result()});
    out.back().offset.source = inputs[index].name();
  }
  return out;
}

}  // namespace inquest::recorder
