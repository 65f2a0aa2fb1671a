// Export: a trace as the lines it was imported from, each source apart.
//
// Lines of a capture are written from their records; lines of an unusual form, of audit logs and of bind logs stand in
// records of their own (source.h). Identical to what was imported, line by line, but for what redaction removed, blank
// lines, a '\r' before the line end, and lines that import counted as lost. Inputs without lines (kubectl's JSON, YAML)
// come back value by value. Streams of a live recording come back as capture lines. Memory: one record.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "schema/reader.h"

namespace inquest::recorder {

class ExportSink {
 public:
  virtual ~ExportSink() = default;
  // The next line of a source, without its line end. A line may come in several pieces, the last one with kYes.
  enum class LineEnd : uint8_t { kNo, kYes };
  virtual Result<void> write(std::string_view source, std::string_view text, LineEnd end) = 0;
};

struct ExportReport {
  uint64_t lines = 0;
};

Result<ExportReport> export_trace(trace::TraceReader& reader, ExportSink& sink);

// One file for each source, in a folder that exists, by the names of the sources without a compression's ending. An
// existing file is an error.
Result<ExportReport> export_to_folder(trace::TraceReader& reader, const std::string& folder);

}  // namespace inquest::recorder
