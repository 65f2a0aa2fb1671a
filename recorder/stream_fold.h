// StreamFold: one watch stream folded up to an instant, and that state as a LIST.
//
// Facts stand in memory; bodies stay in the trace until the list is written: then only the latest of each object are
// read, in the order of the trace. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recorder/body_spool.h"
#include "recorder/object_filter.h"
#include "schema/reader.h"
#include "schema/writer.h"

namespace inquest::recorder {

class ListBody;

// Where a made list goes.
struct FoldTools {
  trace::TraceReader& reader;
  trace::TraceWriter& writer;
  BodySpool& spool;
};

class StreamFold {
 public:
  // The next record of the stream.
  void take(const trace::Record& record, const Catalog& catalog);

  bool begun() const { return begun_; }
  ResourceVersion reached() const { return reached_; }

  struct Object {
    ObjectFacts facts;
    trace::Seq seq = 0;   // of the record that holds its body
    uint32_t item = kNo;  // which of the items, if that is a list
  };
  static constexpr uint32_t kNo = UINT32_MAX;
  using Objects = std::map<std::pair<uint64_t, uint64_t>, Object>;  // by identity_of()
  const Objects& objects() const { return objects_; }

  // Writes the state of what the filter keeps, as of `at`: the LIST, the gap behind it if there is one, and whether the
  // watch was open. Each says in its text that it was made.
  struct Made {
    uint64_t objects = 0;
    bool with_bodies = false;  // false: a body is missing in the trace; the list then has none at all
  };
  Result<Made> write(const trace::Stream& stream, Time at, const ObjectFilter& filter, const FoldTools& tools) const;

 private:
  enum class Watch : uint8_t { kUnknown, kOpen, kClosed };
  struct Parts {  // of a list's body
    std::vector<trace::Seq> parts, streamed;
  };
  using Wanted = std::vector<const Object*>;  // in the order of the trace

  void take_list(const trace::Record& record, const Catalog& catalog);
  void take_source(const trace::Record& record, std::string_view text);
  Wanted wanted(const ObjectFilter& filter, const Catalog& catalog) const;
  Result<bool> collect(const Wanted& wanted, const trace::Stream& stream, const FoldTools& tools,
                       std::vector<BodySpool::Ref>& pieces) const;
  Result<bool> add_items(const Wanted& wanted, const FoldTools& tools, ListBody& body) const;
  Result<bool> add_streamed(const Wanted& wanted, const FoldTools& tools, ListBody& body) const;
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
