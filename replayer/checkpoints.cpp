#include "replayer/checkpoints.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "replayer/identity.h"

namespace inquest::replayer {

using trace::Record;
using trace::RecordKind;
using trace::Seq;

namespace {

using State = std::map<Identity, Version>;

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
    }
    for (Fold& fold : folds_) INQUEST_TRY_VOID(compare_up_to(fold, UINT64_MAX));
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
      if (record->kind != RecordKind::kList || !record->checkpoint) continue;
      folds_[record->stream.value].pending.push_back({record->rv, record->seq});
      ++report_.checkpoints;
    }
    for (Fold& fold : folds_) {
      std::sort(fold.pending.begin(), fold.pending.end(),
                [](const Pending& a, const Pending& b) { return std::tie(a.rv, a.seq) < std::tie(b.rv, b.seq); });
    }
    return {};
  }

  Result<void> take(const Record& record) {
    Fold& fold = folds_[record.stream.value];
    switch (record.kind) {
      case RecordKind::kList: {
        if (record.checkpoint) return {};
        State listed = state_of(record);
        const ResourceVersion rv = record.rv;
        INQUEST_TRY_VOID(compare_up_to(fold, rv));
        fold.state = std::move(listed);
        fold.reached = std::max(fold.reached, rv);
        fold.gap = false;
        return {};
      }
      case RecordKind::kFrame: {
        if (record.objects.empty()) return {};
        const auto [identity, version] = identify(reader_.catalog(), record.objects.front());
        const Verb verb = record.verb;
        // A checkpoint at an earlier resourceVersion is complete: compare it before this change.
        if (version.rv > 0) INQUEST_TRY_VOID(compare_up_to(fold, version.rv));
        if (verb == Verb::kDeleted) {
          fold.state.erase(identity);
        } else {
          fold.state[identity] = version;
        }
        fold.reached = std::max(fold.reached, version.rv);
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

  State state_of(const Record& list) const {
    State state;
    for (const ObjectFacts& object : list.objects) state.insert(identify(reader_.catalog(), object));
    return state;
  }

  // Compares the checkpoints below `rv`. Reads records, so the one that next() gave last is gone afterwards.
  Result<void> compare_up_to(Fold& fold, ResourceVersion rv) {
    for (; fold.next < fold.pending.size() && fold.pending[fold.next].rv < rv; ++fold.next) {
      const Pending& checkpoint = fold.pending[fold.next];
      INQUEST_TRY(const Record list, reader_.record(checkpoint.seq));
      const State listed = state_of(list);
      if (listed == fold.state) {
        ++report_.equal;
      } else if (fold.gap || fold.reached == 0 || (rv == UINT64_MAX && fold.reached < checkpoint.rv)) {
        ++report_.not_compared;  // the watch had not begun, or may just not have got there
      } else {
        describe(fold, checkpoint, listed);
      }
    }
    return {};
  }

  void describe(const Fold& fold, const Pending& checkpoint, const State& listed) {
    for (const auto& [identity, version] : listed) {
      const auto folded = fold.state.find(identity);
      if (folded == fold.state.end()) {
        add(fold, checkpoint, identity,
            "in the list at rv " + std::to_string(version.rv) + ", not in the folded watch");
      } else if (folded->second.rv != version.rv) {
        add(fold, checkpoint, identity,
            "rv " + std::to_string(version.rv) + " in the list, rv " + std::to_string(folded->second.rv) +
                " in the folded watch");
      } else if (folded->second.node != version.node) {
        add(fold, checkpoint, identity,
            "on '" + std::string(reader_.catalog().node_name(version.node)) + "' in the list, on '" +
                std::string(reader_.catalog().node_name(folded->second.node)) + "' in the folded watch");
      }
    }
    for (const auto& [identity, version] : fold.state) {
      if (listed.contains(identity)) continue;
      add(fold, checkpoint, identity, "in the folded watch at rv " + std::to_string(version.rv) + ", not in the list");
    }
  }

  void add(const Fold& fold, const Pending& checkpoint, const Identity& identity, std::string what) {
    ++report_.differences;
    if (report_.first.size() >= kKeptDifferences) return;
    report_.first.push_back({checkpoint.seq, fold.name, name_in(reader_.catalog(), identity), std::move(what)});
  }

  trace::TraceReader& reader_;
  std::vector<Fold> folds_;  // by stream id
  CheckpointReport report_;
};

}  // namespace

Result<CheckpointReport> compare_checkpoints(trace::TraceReader& reader) { return Comparer(reader).run(); }

}  // namespace inquest::replayer
