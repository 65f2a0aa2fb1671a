// Opening a trace for reading: what is this file, and may we believe its schema? Private to schema/.
#pragma once

#include <cstdint>
#include <string>

#include "schema/sqlite.h"

namespace inquest::trace {

inline constexpr int64_t kApplicationId = 0x494E5154;  // "INQT"

// A database that is a trace of a format we read, with tables exactly as we declare them. Errors say what the file is
// instead: missing, a folder, empty, not readable, a capture, compressed, a page of HTML, somebody else's database, a
// trace of a newer format (kNewer).
Result<Database> open_trace(const std::string& path);

// The size of the file and of the WAL beside it.
uint64_t stored_bytes(const std::string& path);

}  // namespace inquest::trace
