// salvage: a damaged trace file → a database in which the rows that are left can be read again. Private to schema/.
//
// For recover, where SQLite cannot walk the file: the rows of all pages that look like a trace's go into a new database
// with a trace's tables. Of two rows with one key the first stays, but a batch whose CRC matches goes before one whose
// does not. What is in there is as little to be believed as what was in the file.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace inquest::trace {

// Makes the file `database`. Returns the number of batches whose CRC matches. Errors: the input cannot be read, the
// database cannot be written.
Result<uint64_t> salvage(const std::string& input, const std::string& database);

}  // namespace inquest::trace
