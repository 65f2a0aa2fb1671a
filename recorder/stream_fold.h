// StreamFold: one watch stream folded up to an instant, and that state as a LIST.
//
// Some bytes for each object stand in memory, its record's number first of all; names, facts and bodies stay in the
// trace until the list is written: then only the latest of each object are read, in the order of the trace. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_map.h"
#include "base/result.h"
#include "recorder/body_spool.h"
#include "recorder/list_body.h"
#include "recorder/names.h"
#include "recorder/object_filter.h"
#include "schema/reader.h"
#include "schema/writer.h"

namespace inquest::recorder {

// Where a made list goes.
struct FoldTools {
  trace::TraceReader& reader;  // that nobody walks with, so that its names can go at any time
  Names& names;                // the reader's in the catalog
  Catalog& catalog;            // the writer's
  trace::TraceWriter& writer;
  BodySpool& spool;
  // Empties that catalog if it takes too much memory: no ordinal may be kept over it.
  std::function<Result<void>()> spare_names;

  // A record, with its names as the writer knows them.
  Result<trace::Record> record(trace::Seq seq) const;
  Result<std::string> body(trace::Seq seq) const;
  // Looking for either takes in the names of a batch.
  void spare_read_names() const {
    if (reader.forget_names_beyond(trace::kWalkNames)) names.clear();
  }
};

inline constexpr size_t kMaxFolded = size_t{3} << 19;      // objects alive at once, of all streams
inline constexpr size_t kMaxListedOnce = size_t{1} << 20;  // of one, when its list is made

class StreamFold {
 public:
  // The next record of the stream, of which only the objects that the filter keeps count. `folded`: how many objects
  // all folds hold, kept up to date. Errors: kOutOfLimit, they are more than kMaxFolded.
  Result<void> take(const trace::Record& record, const Catalog& catalog, const ObjectFilter& filter, size_t& folded);

  bool begun() const { return begun_; }
  ResourceVersion reached() const { return reached_; }

  struct Object {
    trace::Seq seq = 0;   // of the record that holds its facts
    uint64_t name = 0;    // name_hash() of a pod; else 0
    uint32_t item = kNo;  // which of its objects, if that is a list or a part of one
    bool bound = false;
  };
  static constexpr uint32_t kNo = UINT32_MAX;
  using Objects = HashMap<Object>;  // by identity_hash()
  const Objects& objects() const { return objects_; }

  // Writes the state as of `at`: the LIST, the gap behind it if there is one, and whether the
  // watch was open. Each says in its text that it was made. The objects are gone then: a million of them and the
  // writing of their list do not fit into memory together.
  struct Made {
    uint64_t objects = 0;
    bool with_bodies = false;  // false: a body is missing in the trace; the list then has none at all
  };
  Result<Made> write(const trace::Stream& stream, Time at, const FoldTools& tools);

 private:
  enum class Watch : uint8_t { kUnknown, kOpen, kClosed };
  struct Part {
    trace::Seq seq = 0;
    uint64_t first = 0;  // which of the list's objects is its first
  };
  struct List {  // that began the state
    trace::Seq seq = 0;
    std::vector<Part> parts;
    std::vector<trace::Seq> streamed;
    uint64_t objects = 0;
  };
  struct Wanted {
    trace::Seq seq = 0;
    uint64_t identity = 0;
    uint32_t item = kNo;
  };

  Result<void> take_list(const trace::Record& record, const Catalog& catalog, const ObjectFilter& filter,
                         size_t& folded);
  Result<void> take_items(const trace::Record& record, const Catalog& catalog, const ObjectFilter& filter,
                          size_t& folded);
  Result<void> take_source(const trace::Record& record, const Catalog& catalog, const ObjectFilter& filter,
                           size_t& folded);
  Result<void> put(const trace::Record& record, uint32_t item, const Catalog& catalog, size_t& folded);
  std::vector<Wanted> wanted() const;
  Result<std::vector<ObjectFacts>> facts(std::span<const Wanted> wanted, const FoldTools& tools) const;
  Result<bool> collect(std::span<const Wanted> wanted, const trace::Stream& stream, const FoldTools& tools,
                       std::vector<ListBody::Piece>& pieces) const;
  Result<bool> add_listed(std::span<const Wanted> wanted, const FoldTools& tools, ListBody& body) const;
  Result<bool> add_streamed(std::span<const Wanted> wanted, const FoldTools& tools, ListBody& body) const;
  uint64_t place_in_list(const Wanted& wanted) const;
  Result<void> write_list(std::span<const Wanted> wanted, std::span<const ListBody::Piece> pieces, trace::Record record,
                          const FoldTools& tools) const;
  Result<void> write_watch(trace::Record record, const FoldTools& tools) const;

  Objects objects_;
  List list_;
  std::vector<trace::Seq> streamed_;
  bool listing_ = false;  // parts of the list may follow
  ResourceVersion reached_ = 0;
  bool begun_ = false;
  bool unordered_ = false;  // between a watch from no resourceVersion and the end of its initial objects
  bool gap_ = false;
  ResourceVersion gap_from_ = 0, gap_to_ = 0;
  std::string gap_text_;
  Watch watch_ = Watch::kUnknown;
  std::string list_path_, watch_path_, closed_because_;
};

}  // namespace inquest::recorder
