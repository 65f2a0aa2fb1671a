// What is left of a trace whose summary cannot be believed as a whole. Private to schema/, for recover.
#pragma once

#include <cstdint>
#include <string>

#include "schema/batch_decoder.h"
#include "schema/batch_rows.h"
#include "schema/dictionaries.h"
#include "schema/sqlite.h"

namespace inquest::trace {

struct Remains {
  TraceInfo info;  // uuid, header, streams, losses, notes; each row for itself, nothing where it is lost
  std::string dictionary_sha;
  bool says_open = false;  // false: it says something else, or nothing that can be read
};

Remains load_remains(Database& database);

// Walks all batches and puts a stand-in into `streams` for each that a record names and that is lost: its
// kind and resource are what its records show. Returns how many.
uint64_t stand_in_for_streams(BatchRows& rows, const Dictionaries& dictionaries, std::vector<StreamSummary>& streams);

}  // namespace inquest::trace
