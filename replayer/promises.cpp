#include "replayer/promises.h"

#include <algorithm>

#include "base/hash_map.h"
#include "replayer/identity.h"
#include "schema/identity_hash.h"

namespace inquest::replayer {

using trace::Record;
using trace::RecordKind;

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
  bool partial = false;  // not all objects were kept
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
          broken(Promise::kOrdered, record, watch, nullptr,
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
    for (const ObjectFacts& object : record.objects) {
      const Shown* before = watch.objects.find(identity_hash(reader_.catalog(), object));
      if (before == nullptr) continue;
      if (watch.deleted(*before)) {
        broken(Promise::kNoTimeTravel, record, watch, &object, "is listed after it was deleted");
      } else {
        check_time(record, watch, object, before->rv, rv_of(object));
      }
    }
    ++watch.lists;
    for (const ObjectFacts& object : record.objects) {
      remember(watch, identity_hash(reader_.catalog(), object), {rv_of(object), watch.lists, Verb::kAdded});
    }
    watch.reached = record.rv;
    watch.begun = true;
    watch.gap = false;
  }

  void take_open(const Record& record, Watched& watch) {
    const ResourceVersion rv = record.rv;  // where its path says to begin; 0: nowhere
    watch.unordered = rv == 0;
    if (rv != 0 && watch.begun && rv < watch.reached) {
      broken(Promise::kResumable, record, watch, nullptr,
             "opened at rv " + std::to_string(rv) + ", before rv " + std::to_string(watch.reached) +
                 " which the stream had reached");
    }
    if (rv > watch.reached && !watch.gap) {
      broken(Promise::kNoSilentHole, record, watch, nullptr,
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
      broken(Promise::kUnique, record, watch, &object, "came before, at the same rv " + std::to_string(rv));
    } else {
      if (rv != 0 && rv <= watch.reached && !watch.unordered) {
        broken(Promise::kOrdered, record, watch, &object,
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
      broken(Promise::kNoTimeTravel, record, watch, &object, "comes back after it was deleted");
    } else if (record.verb == Verb::kAdded && alive) {
      broken(Promise::kKnown, record, watch, &object, "ADDED though it was there");
    } else if (record.verb != Verb::kAdded && shown == nullptr && !watch.gap && !watch.partial) {
      broken(Promise::kKnown, record, watch, &object, "was never listed or ADDED");
    } else if (record.verb == Verb::kDeleted && shown != nullptr && !alive) {
      broken(Promise::kKnown, record, watch, &object, "DELETED twice");
    } else if (alive) {
      check_time(record, watch, object, shown->rv, rv_of(object));
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

  void check_time(const Record& record, Watched& watch, const ObjectFacts& object, ResourceVersion before,
                  ResourceVersion after) {
    if (before == 0 || after == 0 || after >= before) return;
    broken(Promise::kNoTimeTravel, record, watch, &object,
           "its rv falls from " + std::to_string(before) + " to " + std::to_string(after));
  }

  void broken(Promise promise, const Record& record, const Watched& watch, const ObjectFacts* object,
              std::string what) {
    ++report_.broken[static_cast<size_t>(promise)];
    if (report_.first.size() >= kKeptBroken) return;
    const std::string name =
        object == nullptr ? "" : name_in(reader_.catalog(), identify(reader_.catalog(), *object).first);
    report_.first.push_back({promise, record.seq, watch.name, name, std::move(what)});
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
