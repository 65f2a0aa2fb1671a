// StreamFold: one watch stream folded up to an instant, and that state as a LIST.
//
// Some bytes for each object stand in memory, its record's number first of all; names, facts and bodies stay in the
// trace until the list is written: then only the latest of each object are read, in the order of the trace. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_map.h"
#include "base/result.h"
#include "recorder/body_spool.h"
#include "recorder/names.h"
#include "recorder/object_filter.h"
#include "schema/reader.h"
#include "schema/writer.h"

namespace inquest::recorder {

class ListBody;

// Where a made list goes.
struct FoldTools {
  trace::TraceReader& reader;  // that nobody walks with, so that its names can go at any time
  Names& names;                // the reader's in the catalog
  Catalog& catalog;            // the writer's
  trace::TraceWriter& writer;
  BodySpool& spool;

  // A record, with its names as the writer knows them.
  Result<trace::Record> record(trace::Seq seq) const;
};

inline constexpr size_t kMaxFolded = size_t{2} << 20;  // objects alive at once, of all streams

class StreamFold {
 public:
  // The next record of the stream, of which only the objects that the filter keeps count. `folded`: how many objects
  // all folds hold, kept up to date. Errors: kOutOfLimit, they are more than kMaxFolded.
  Result<void> take(const trace::Record& record, const Catalog& catalog, const ObjectFilter& filter, size_t& folded);

  bool begun() const { return begun_; }
  ResourceVersion reached() const { return reached_; }

  struct Object {
    trace::Seq seq = 0;   // of the record that holds its body
    uint64_t name = 0;    // name_hash() of a pod; else 0
    uint32_t item = kNo;  // which of the items, if that is a list
    bool bound = false;
  };
  static constexpr uint32_t kNo = UINT32_MAX;
  using Objects = HashMap<Object>;  // by identity_hash()
  const Objects& objects() const { return objects_; }

  // Writes the state as of `at`: the LIST, the gap behind it if there is one, and whether the
  // watch was open. Each says in its text that it was made.
  struct Made {
    uint64_t objects = 0;
    bool with_bodies = false;  // false: a body is missing in the trace; the list then has none at all
  };
  Result<Made> write(const trace::Stream& stream, Time at, const FoldTools& tools) const;

 private:
  enum class Watch : uint8_t { kUnknown, kOpen, kClosed };
  struct Parts {  // of a list's body
    std::vector<trace::Seq> parts, streamed;
  };
  struct Wanted {
    Object object;
    uint64_t identity = 0;
  };

  Result<void> take_list(const trace::Record& record, const Catalog& catalog, const ObjectFilter& filter,
                         size_t& folded);
  Result<void> take_source(const trace::Record& record, std::string_view text);
  Result<void> put(const trace::Record& record, uint32_t item, const Catalog& catalog, size_t& folded);
  std::vector<Wanted> wanted() const;
  Result<std::vector<ObjectFacts>> facts(const std::vector<Wanted>& wanted, const FoldTools& tools) const;
  Result<bool> collect(std::span<const Wanted> wanted, const trace::Stream& stream, const FoldTools& tools,
                       std::vector<BodySpool::Ref>& pieces) const;
  Result<bool> add_items(std::span<const Wanted> wanted, const FoldTools& tools, ListBody& body) const;
  Result<bool> add_streamed(std::span<const Wanted> wanted, const FoldTools& tools, ListBody& body) const;
  Result<void> write_watch(trace::Record record, const FoldTools& tools) const;

  Objects objects_;
  std::map<trace::Seq, Parts> lists_;
  std::vector<trace::Seq> streamed_;
  trace::Seq list_ = 0;  // the list whose parts may follow
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
