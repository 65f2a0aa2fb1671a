#include "recorder/source_lines.h"

#include <cstring>

#include "recorder/source.h"

namespace inquest::recorder {

Result<void> SourceLines::put(uint32_t input, std::string_view line) {
  char size[sizeof(uint32_t)];
  const auto bytes = static_cast<uint32_t>(line.size());
  std::memcpy(size, &bytes, sizeof size);
  INQUEST_TRY(const BodySpool::Ref ref, spool_.put({size, sizeof size}));
  INQUEST_TRY(const BodySpool::Ref text, spool_.put(line));
  static_cast<void>(text);
  Run& run = runs_[input];
  if (run.lines++ == 0) run.first = ref;
  return {};
}

Result<void> SourceLines::write(const std::vector<trace::StreamId>& streams, trace::TraceWriter& writer,
                                Catalog& catalog) {
  for (const auto& [input, run] : runs_) {
    BodySpool::Ref at = run.first;
    for (uint64_t i = 0; i < run.lines; ++i) {
      INQUEST_TRY(const std::string size, spool_.get({at.offset, sizeof(uint32_t)}));
      uint32_t bytes = 0;
      std::memcpy(&bytes, size.data(), sizeof bytes);
      INQUEST_TRY(const std::string line, spool_.get({at.offset + sizeof bytes, bytes}));
      at.offset += sizeof bytes + bytes;
      trace::Record record;
      record.stream = streams[input];
      record.kind = trace::RecordKind::kSource;
      record.text = catalog.string(trace::kLine);
      INQUEST_TRY(const trace::Seq seq, writer.append(record, line));
      static_cast<void>(seq);
    }
  }
  return {};
}

}  // namespace inquest::recorder
