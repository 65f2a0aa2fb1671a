// Run files as files: read whole, written whole or not at all.
#pragma once

#include <string>

#include "base/result.h"
#include "report/run_file.h"
#include "schema/output_file.h"

namespace inquest::cli {

// Errors: what OutputFile says; there is a file of that name and it is no run file.
Result<trace::OutputFile> prepare_run_file(const std::string& path);
Result<void> write_run_file(trace::OutputFile& file, const std::string& text);

// Whether there is such a file and it begins as JSON does, which no trace does.
bool looks_like_json(const std::string& path);
// Errors: it cannot be read, is no regular file, or is no run file (report::parse_run_file).
Result<report::RunFile> load_run_file(const std::string& path);

}  // namespace inquest::cli
