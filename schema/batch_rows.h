// BatchRows: table batch, row by row. Private to schema/.
#pragma once

#include <string>
#include <string_view>

#include "schema/integrity.h"
#include "schema/sqlite.h"

namespace inquest::trace {

class BatchRows {
 public:
  static Result<BatchRows> open(Database& database);

  // A row whose CRC matches. `facts` and `chain`, as stored, stay valid until reset(), which ends the read transaction.
  struct Row {
    BatchRow batch;
    std::string_view facts;
  };
  Result<Row> read(uint64_t id);
  Result<uint64_t> next_id(uint64_t after);  // the lowest that is greater; 0: there is none
  Result<std::string_view> chain() const;
  void reset() {
    get_.reset();
    find_.reset();
  }

 private:
  Statement get_, find_;
};

}  // namespace inquest::trace
