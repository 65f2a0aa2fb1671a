// The formats that we read, and how an older one becomes the current one. Private to schema/.
//
// A file is never changed. A step shows one table of format `from` as format `from + 1` has it; the steps of a table
// are nested and become one temporary view that stands before the table itself, so that the rest of the reader knows
// the current format alone. A new format: keep its predecessor's trace.sql, add the steps, add golden files
// (schema/testdata), and record the hashes of trace.sql and trace.capnp there.
#pragma once

#include <span>

#include "schema/sqlite.h"

namespace inquest::trace {

struct LiftStep {
  int from = 0;
  const char* table = nullptr;
  const char* select = nullptr;  // a SELECT with all columns of the table in format from + 1; % is the table as it was
};

// Those of all formats, in order.
std::span<const LiftStep> lift_steps();

// The declarations of a format between 1 and kFormatVersion.
const char* declarations_of(int format);

// After this, the tables of a database of `format` look like those of the last step's.
Result<void> lift(Database& database, int format, std::span<const LiftStep> steps);

}  // namespace inquest::trace
