#include "replayer/checkpoints.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/hash_map.h"
#include "replayer/identity.h"
#include "schema/identity_hash.h"
#include "schema/table_hash.h"

namespace inquest::replayer {

using trace::Record;
using trace::RecordKind;
using trace::Seq;

namespace {

// An object as the watch left it.
struct Folded {
  ResourceVersion rv = 0;
  uint64_t node = 0;  // a hash of its name; 0: none
  Seq seq = 0;        // where it was shown
  friend bool operator==(const Folded& a, const Folded& b) { return a.rv == b.rv && a.node == b.node; }
};
using State = HashMap<Folded>;  // by identity_hash()
struct Nothing {};

uint64_t node_hash(const Catalog& catalog, NodeId node) { return node ? table_hash(catalog.node_name(node)) | 1 : 0; }

struct Pending {
  ResourceVersion rv = 0;
  Seq seq = 0;
};

// One stream's watch, folded.
struct Fold {
  std::string name;
  std::vector<Pending> pending;  // by rv; from `next` on not yet compared
  size_t next = 0;
  State state;
  ResourceVersion reached = 0;
  bool gap = false;
  bool partial = false;   // objects were not kept
  bool listing = false;   // the objects of source records are those of the list that began this
  uint64_t expected = 0;  // of them
};

class Comparer {
 public:
  explicit Comparer(trace::TraceReader& reader) : reader_(reader) {}

  Result<CheckpointReport> run() {
    INQUEST_TRY_VOID(collect());
    reader_.rewind();
    while (true) {
      INQUEST_TRY(const Record* record, reader_.next());
      if (record == nullptr) break;
      INQUEST_TRY_VOID(take(*record));
      reader_.forget_names_beyond(trace::kWalkNames);
    }
    for (Fold& fold : folds_) {
      end_list(fold);
      INQUEST_TRY_VOID(compare_up_to(fold, UINT64_MAX));
    }
    reader_.rewind();
    return report_;
  }

 private:
  Result<void> collect() {
    for (const trace::StreamSummary& summary : reader_.info().streams) {
      folds_.resize(std::max<size_t>(folds_.size(), size_t{summary.stream.id.value} + 1));
      folds_[summary.stream.id.value].name = summary.stream.name;
    }
    reader_.rewind();
    while (true) {
      INQUEST_TRY(const Record* record, reader_.next());
      if (record == nullptr) break;
      if (record->kind == RecordKind::kList && record->checkpoint) {
        if (++report_.checkpoints > kMaxCheckpoints) {
          ++report_.not_compared;
        } else {
          folds_[record->stream.value].pending.push_back({record->rv, record->seq});
        }
      }
      reader_.forget_names_beyond(trace::kWalkNames);
    }
    for (Fold& fold : folds_) {
      std::sort(fold.pending.begin(), fold.pending.end(),
                [](const Pending& a, const Pending& b) { return std::tie(a.rv, a.seq) < std::tie(b.rv, b.seq); });
    }
    return {};
  }

  Result<void> take(const Record& record) {
    Fold& fold = folds_[record.stream.value];
    if (record.kind == RecordKind::kSource) {
      take_items(fold, record);
      return {};
    }
    end_list(fold);
    switch (record.kind) {
      case RecordKind::kList: {
        if (record.checkpoint) return {};
        INQUEST_TRY_VOID(compare_up_to(fold, record.rv));
        folded_ -= fold.state.size();
        fold.state.clear();
        fold.partial = false;
        fold.listing = true;
        fold.expected = record.objects.size() + record.more_objects;
        take_items(fold, record);
        fold.reached = std::max(fold.reached, record.rv);
        fold.gap = false;
        return {};
      }
      case RecordKind::kFrame: {
        if (record.objects.empty()) return {};
        const ObjectFacts& object = record.objects.front();
        const ResourceVersion rv = rv_of(object);
        // A checkpoint at an earlier resourceVersion is complete: compare it before this change.
        if (rv > 0) INQUEST_TRY_VOID(compare_up_to(fold, rv));
        if (record.verb == Verb::kDeleted) {
          folded_ -= fold.state.erase(identity_hash(reader_.catalog(), object)) ? 1 : 0;
        } else {
          put(fold, record, object);
        }
        fold.reached = std::max(fold.reached, rv);
        return {};
      }
      case RecordKind::kBookmark:
        fold.reached = std::max(fold.reached, record.rv);
        return {};
      case RecordKind::kGap:
        fold.gap = true;
        return {};
      default:
        return {};
    }
  }

  // Of a list, or a part of one.
  void take_items(Fold& fold, const Record& record) {
    if (!fold.listing) return;
    fold.expected -= std::min<uint64_t>(fold.expected, record.objects.size());
    for (const ObjectFacts& object : record.objects) put(fold, record, object);
  }

  void end_list(Fold& fold) {
    fold.listing = false;
    fold.partial = fold.partial || std::exchange(fold.expected, 0) > 0;
  }

  void put(Fold& fold, const Record& record, const ObjectFacts& object) {
    const Catalog& catalog = reader_.catalog();
    const uint64_t identity = identity_hash(catalog, object);
    const Folded value{rv_of(object), node_hash(catalog, identify(catalog, object).second.node), record.seq};
    if (Folded* known = fold.state.find(identity); known != nullptr) {
      *known = value;
    } else if (folded_ == kMaxFolded) {
      fold.partial = true;
      ++report_.not_kept;
    } else {
      fold.state[identity] = value;
      ++folded_;
    }
  }

  // Compares the checkpoints below `rv`.
  Result<void> compare_up_to(Fold& fold, ResourceVersion rv) {
    for (; fold.next < fold.pending.size() && fold.pending[fold.next].rv < rv; ++fold.next) {
      INQUEST_TRY_VOID(compare(fold, fold.pending[fold.next], rv == UINT64_MAX));
    }
    return {};
  }

  Result<void> compare(Fold& fold, const Pending& checkpoint, bool at_end) {
    if (fold.partial) {
      ++report_.not_compared;
      return {};
    }
    HashMap<Nothing> listed;  // of what the watch has
    bool equal = true;
    INQUEST_TRY(const bool whole, read_list(checkpoint.seq, [&](const ObjectFacts& object) {
                  const uint64_t identity = identity_hash(lists_->catalog(), object);
                  const Folded* folded = fold.state.find(identity);
                  equal = equal && folded != nullptr && *folded == version_of(object);
                  if (folded != nullptr) listed[identity];
                  return true;
                }));
    // The watch had not begun, or may just not have got there.
    const bool not_there = fold.gap || fold.reached == 0 || (at_end && fold.reached < checkpoint.rv);
    const bool same = equal && listed.size() == fold.state.size();
    if (!whole || (!same && not_there)) {
      ++report_.not_compared;
    } else if (same) {
      ++report_.equal;
    } else {
      INQUEST_TRY_VOID(describe(fold, checkpoint.seq, listed));
    }
    return {};
  }

  // By a reader of its own, whose names can be forgotten at any time.
  Result<void> open_lists() {
    if (!lists_) {
      INQUEST_TRY(auto opened, trace::TraceReader::open(reader_.path()));
      lists_.emplace(std::move(opened));
    }
    lists_->forget_names_beyond(trace::kWalkNames);
    return {};
  }

  // Hands all objects of a list to `use`, as long as it says true. Says whether none is missing.
  template <typename Use>
  Result<bool> read_list(Seq seq, Use&& use) {
    using Go = trace::TraceReader::Go;
    INQUEST_TRY_VOID(open_lists());
    return lists_->list(seq, [&](const Record& part) -> Result<Go> {
      for (const ObjectFacts& object : part.objects) {
        if (!use(object)) return Go::kNoFurther;
      }
      lists_->forget_names_beyond(trace::kWalkNames);
      return Go::kOn;
    });
  }

  // As a list shows it.
  Folded version_of(const ObjectFacts& object) const {
    const Catalog& catalog = lists_->catalog();
    return {rv_of(object), node_hash(catalog, identify(catalog, object).second.node), 0};
  }

  Result<void> describe(Fold& fold, Seq list, HashMap<Nothing>& listed) {
    struct Other {
      size_t difference;
      Seq shown;
      uint64_t identity;
    };
    std::vector<Other> on_other_nodes;  // of which the folded watch's names are still to be read
    INQUEST_TRY_VOID(read_list(list, [&](const ObjectFacts& object) {
      const auto [identity, version] = identify(lists_->catalog(), object);
      const uint64_t hash = identity_hash(lists_->catalog(), object);
      const Folded* folded = fold.state.find(hash);
      if (folded != nullptr && *folded == version_of(object)) return true;
      const std::string name = name_in(lists_->catalog(), identity);
      const std::string node(lists_->catalog().node_name(version.node));
      if (folded == nullptr) {
        add(fold, list, name, "in the list at rv " + std::to_string(version.rv) + ", not in the folded watch");
      } else if (folded->rv != version.rv) {
        add(fold, list, name,
            "rv " + std::to_string(version.rv) + " in the list, rv " + std::to_string(folded->rv) +
                " in the folded watch");
      } else {
        if (report_.first.size() < kKeptDifferences)
          on_other_nodes.push_back({report_.first.size(), folded->seq, hash});
        add(fold, list, name, "on '" + node + "' in the list, on '");
      }
      return true;
    }));
    for (const Other& other : on_other_nodes) {
      INQUEST_TRY(const Shown shown, shown_at(other.shown, other.identity));
      report_.first[other.difference].what += shown.node + "' in the folded watch";
    }
    std::vector<std::pair<Seq, uint64_t>> missing;
    missing.reserve(fold.state.size() - listed.size());
    fold.state.for_each([&](uint64_t identity, const Folded& folded) {
      if (!listed.contains(identity)) missing.emplace_back(folded.seq, identity);
    });
    std::sort(missing.begin(), missing.end());
    for (const auto& [seq, identity] : missing) {
      ++report_.differences;
      if (report_.first.size() >= kKeptDifferences) continue;
      INQUEST_TRY(const Shown shown, shown_at(seq, identity));
      report_.first.push_back(
          {list, fold.name, shown.name, "in the folded watch at rv " + std::to_string(shown.rv) + ", not in the list"});
    }
    return {};
  }

  struct Shown {
    std::string name, node;
    ResourceVersion rv = 0;
  };
  Result<Shown> shown_at(Seq seq, uint64_t identity) {
    INQUEST_TRY_VOID(open_lists());
    INQUEST_TRY(const Record record, lists_->record(seq));
    const Catalog& catalog = lists_->catalog();
    for (const ObjectFacts& object : record.objects) {
      if (identity_hash(catalog, object) != identity) continue;
      const auto [who, version] = identify(catalog, object);
      return Shown{name_in(catalog, who), std::string(catalog.node_name(version.node)), version.rv};
    }
    return Shown{};
  }

  void add(const Fold& fold, Seq list, const std::string& name, std::string what) {
    ++report_.differences;
    if (report_.first.size() < kKeptDifferences) report_.first.push_back({list, fold.name, name, std::move(what)});
  }

  trace::TraceReader& reader_;
  std::optional<trace::TraceReader> lists_;
  std::vector<Fold> folds_;  // by stream id
  size_t folded_ = 0;
  CheckpointReport report_;
};

}  // namespace

Result<CheckpointReport> compare_checkpoints(trace::TraceReader& reader) { return Comparer(reader).run(); }

}  // namespace inquest::replayer
