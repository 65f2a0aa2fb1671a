#include "replayer/promises.h"

#include <algorithm>
#include <utility>

#include "base/hash_map.h"
#include "replayer/identity.h"
#include "schema/identity_hash.h"

namespace inquest::replayer {

using trace::Record;
using trace::RecordKind;
using trace::Seq;

namespace {

// An object as one stream last showed it.
struct Shown {
  ResourceVersion rv = 0;
  uint32_t list = 0;  // how many lists the stream had shown by then: what a later one lacks is gone
  Verb verb = Verb::kAdded;
};

// What one watch has shown so far.
struct Watched {
  std::string name;
  HashMap<Shown> objects;  // by identity_hash(); deleted ones too: they must not come back
  uint32_t lists = 0;
  Seq list = 0;           // the one that is being read; 0: none
  uint64_t expected = 0;  // objects of it
  bool partial = false;   // not all objects were kept
  ResourceVersion reached = 0;
  bool begun = false;
  bool gap = false;        // a gap record since the last list: what follows may be of objects never seen
  bool unordered = false;  // the initial ADDEDs of a watch from rv 0 come in no order (kubernetes-facts 5.3)

  bool deleted(const Shown& shown) const { return shown.verb == Verb::kDeleted || shown.list != lists; }
};

class Checker {
 public:
  explicit Checker(trace::TraceReader& reader) : reader_(reader) {}

  Result<PromiseReport> run() {
    for (const trace::StreamSummary& summary : reader_.info().streams) {
      watches_.resize(std::max<size_t>(watches_.size(), size_t{summary.stream.id.value} + 1));
      watches_[summary.stream.id.value].name = summary.stream.name;
    }
    reader_.rewind();
    while (true) {
      INQUEST_TRY(const Record* record, reader_.next());
      if (record == nullptr) break;
      take(*record);
      reader_.forget_names_beyond(trace::kWalkNames);
    }
    reader_.rewind();
    return report_;
  }

 private:
  void take(const Record& record) {
    Watched& watch = watches_[record.stream.value];
    if (record.kind == RecordKind::kSource) return take_items(record, watch);
    end_list(watch);
    switch (record.kind) {
      case RecordKind::kList:
        if (!record.checkpoint) take_list(record, watch);
        return;
      case RecordKind::kOpen:
        return take_open(record, watch);
      case RecordKind::kFrame:
        if (!record.objects.empty()) take_frame(record, watch);
        return;
      case RecordKind::kBookmark:
        if (record.rv < watch.reached) {
          broken(Promise::kOrdered, record.seq, watch, nullptr,
                 "a bookmark at rv " + std::to_string(record.rv) + " after rv " + std::to_string(watch.reached));
        }
        watch.unordered = false;
        watch.reached = std::max(watch.reached, record.rv);
        return;
      case RecordKind::kGap:
        watch.gap = true;
        return;
      default:
        return;
    }
  }

  void take_list(const Record& record, Watched& watch) {
    ++watch.lists;
    watch.list = record.seq;
    watch.expected = record.objects.size() + record.more_objects;
    watch.reached = record.rv;
    watch.begun = true;
    watch.gap = false;
    take_items(record, watch);
  }

  // Of a list, or a part of one.
  void take_items(const Record& record, Watched& watch) {
    if (watch.list == 0) return;
    watch.expected -= std::min<uint64_t>(watch.expected, record.objects.size());
    for (const ObjectFacts& object : record.objects) {
      const uint64_t identity = identity_hash(reader_.catalog(), object);
      const Shown* before = watch.objects.find(identity);
      if (before != nullptr && before->list != watch.lists) {
        if (before->verb == Verb::kDeleted || before->list + 1 != watch.lists) {
          broken(Promise::kNoTimeTravel, watch.list, watch, &object, "is listed after it was deleted");
        } else {
          check_time(watch.list, watch, object, before->rv, rv_of(object));
        }
      }
      remember(watch, identity, {rv_of(object), watch.lists, Verb::kAdded});
    }
  }

  // Of a list whose end is missing nothing is concluded, nor of what comes up to the next.
  void end_list(Watched& watch) {
    watch.list = 0;
    if (std::exchange(watch.expected, 0) == 0) return;
    remembered_ -= watch.objects.size();
    watch.objects.clear();
    watch.gap = true;
  }

  void take_open(const Record& record, Watched& watch) {
    const ResourceVersion rv = record.rv;  // where its path says to begin; 0: nowhere
    watch.unordered = rv == 0;
    if (rv != 0 && watch.begun && rv < watch.reached) {
      broken(Promise::kResumable, record.seq, watch, nullptr,
             "opened at rv " + std::to_string(rv) + ", before rv " + std::to_string(watch.reached) +
                 " which the stream had reached");
    }
    if (rv > watch.reached && !watch.gap) {
      broken(Promise::kNoSilentHole, record.seq, watch, nullptr,
             "opened at rv " + std::to_string(rv) + " beyond rv " + std::to_string(watch.reached) +
                 ", and no gap says so");
    }
    watch.begun = true;
  }

  void take_frame(const Record& record, Watched& watch) {
    ++report_.frames;
    const ObjectFacts& object = record.objects.front();
    const uint64_t identity = identity_hash(reader_.catalog(), object);
    const ResourceVersion rv = rv_of(object);
    const Shown* known = watch.objects.find(identity);
    const bool again = known != nullptr && rv != 0 && known->rv == rv && watch.reached >= rv &&
                       (watch.deleted(*known) ? Verb::kDeleted : known->verb) == record.verb;
    if (record.verb != Verb::kAdded) watch.unordered = false;
    if (again) {
      broken(Promise::kUnique, record.seq, watch, &object, "came before, at the same rv " + std::to_string(rv));
    } else {
      if (rv != 0 && rv <= watch.reached && !watch.unordered) {
        broken(Promise::kOrdered, record.seq, watch, &object,
               "rv " + std::to_string(rv) + " after rv " + std::to_string(watch.reached));
      }
      check_known(record, watch, object, known);
    }
    remember(watch, identity, {rv, watch.lists, record.verb});
    if (rv != 0) watch.reached = std::max(watch.reached, rv);
  }

  void check_known(const Record& record, Watched& watch, const ObjectFacts& object, const Shown* shown) {
    const bool alive = shown != nullptr && !watch.deleted(*shown);
    if (shown != nullptr && !alive && record.verb != Verb::kDeleted) {
      broken(Promise::kNoTimeTravel, record.seq, watch, &object, "comes back after it was deleted");
    } else if (record.verb == Verb::kAdded && alive) {
      broken(Promise::kKnown, record.seq, watch, &object, "ADDED though it was there");
    } else if (record.verb != Verb::kAdded && shown == nullptr && !watch.gap && !watch.partial) {
      broken(Promise::kKnown, record.seq, watch, &object, "was never listed or ADDED");
    } else if (record.verb == Verb::kDeleted && shown != nullptr && !alive) {
      broken(Promise::kKnown, record.seq, watch, &object, "DELETED twice");
    } else if (alive) {
      check_time(record.seq, watch, object, shown->rv, rv_of(object));
    }
  }

  void remember(Watched& watch, uint64_t identity, const Shown& shown) {
    if (Shown* known = watch.objects.find(identity); known != nullptr) {
      *known = shown;
      return;
    }
    if (remembered_ >= kMaxRemembered) forget_deleted();
    if (remembered_ >= kMaxRemembered) {
      watch.partial = true;
      ++report_.not_kept;
      return;
    }
    watch.objects[identity] = shown;
    ++remembered_;
  }

  // Only where it makes room for long: it looks at all objects.
  void forget_deleted() {
    if (look_again_ > 0) {
      --look_again_;
      return;
    }
    for (Watched& watch : watches_) {
      const size_t before = watch.objects.size();
      watch.objects.erase_if([&](const Shown& shown) { return watch.deleted(shown); });
      report_.forgotten += before - watch.objects.size();
      remembered_ -= before - watch.objects.size();
    }
    if (remembered_ > kMaxRemembered / 8 * 7) look_again_ = kMaxRemembered / 8;
  }

  void check_time(Seq seq, Watched& watch, const ObjectFacts& object, ResourceVersion before, ResourceVersion after) {
    if (before == 0 || after == 0 || after >= before) return;
    broken(Promise::kNoTimeTravel, seq, watch, &object,
           "its rv falls from " + std::to_string(before) + " to " + std::to_string(after));
  }

  void broken(Promise promise, Seq seq, const Watched& watch, const ObjectFacts* object, std::string what) {
    ++report_.broken[static_cast<size_t>(promise)];
    if (report_.first.size() >= kKeptBroken) return;
    const std::string name =
        object == nullptr ? "" : name_in(reader_.catalog(), identify(reader_.catalog(), *object).first);
    report_.first.push_back({promise, seq, watch.name, name, std::move(what)});
  }

  trace::TraceReader& reader_;
  std::vector<Watched> watches_;  // by stream id
  size_t remembered_ = 0;         // objects of all watches
  size_t look_again_ = 0;         // after so many that found no room
  PromiseReport report_;
};

}  // namespace

std::string_view name_of(Promise promise) {
  switch (promise) {
    case Promise::kOrdered:
      return "ordered";
    case Promise::kUnique:
      return "unique";
    case Promise::kResumable:
      return "resumable";
    case Promise::kKnown:
      return "known";
    case Promise::kNoTimeTravel:
      return "no time travel";
    case Promise::kNoSilentHole:
      return "no silent hole";
  }
  return "";
}

uint64_t PromiseReport::total() const {
  uint64_t sum = 0;
  for (const uint64_t count : broken) sum += count;
  return sum;
}

Result<PromiseReport> check_promises(trace::TraceReader& reader) { return Checker(reader).run(); }

}  // namespace inquest::replayer
