// The index: tables label, pod, bind and gap, for people with sqlite3 alone. Private to schema/.
//
// Collected while records are appended, written when the trace is closed. It takes about 100 bytes of memory for each
// pod and bind, up to kMaxIndexRows of each; what comes beyond is left out, and the trace says so.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "schema/catalog.h"
#include "schema/integrity.h"
#include "schema/record.h"
#include "schema/sqlite.h"

namespace inquest::trace {

class Index {
 public:
  void add(const Record& record, Seq seq);
  // Within the caller's transaction. Fills in seals.index and seals.index_sha.
  Result<void> save(Database& database, const Catalog& catalog, Time start, Seals& seals) const;

 private:
  struct Moment {
    Seq seq = 0;
    Time wall;
  };
  struct Pod {
    PodId pod;
    NodeId node;
    Moment first, bound, deleted;
    Seq deleting = 0, last = 0;
  };
  struct BindRow {
    Seq seq = 0, answer = 0;
    PodId pod;
    NodeId node;
    StringId scheduler;
    uint16_t code = 0;
    Time sent, answered;
  };
  struct Gap {
    Seq seq = 0;
    StreamId stream;
    ResourceVersion from = 0, to = 0;
    Time wall;
    StringId why;
  };

  void add(const PodFacts& facts, const Record& record, Seq seq);

  std::vector<uint32_t> row_of_;  // by PodId: index into pods_ plus one; 0: not there
  std::deque<Pod> pods_;          // deques, because growing a vector doubles it
  std::deque<BindRow> binds_;     // in order of seq
  std::deque<Gap> gaps_;
  Seq list_ = 0;  // the latest
  bool partial_ = false;
};

// What seals.index_sha holds: over all rows of the index, in hexadecimal. Errors: a value of an unusual type or size.
Result<std::string> index_sha(Database& database);
std::string empty_index_sha();

}  // namespace inquest::trace
