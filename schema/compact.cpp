#include "schema/compact.h"

#include "schema/copy.h"
#include "schema/file_lock.h"
#include "schema/open.h"
#include "schema/reader.h"
#include "schema/whole.h"
#include "schema/writer.h"

namespace inquest::trace {
namespace {

Result<void> copy_records(TraceReader& reader, TraceWriter& writer) {
  while (true) {
    INQUEST_TRY(const Record* record, reader.next());
    if (record == nullptr) return {};
    INQUEST_TRY(const std::string body, reader.body(record->seq));
    INQUEST_TRY_VOID(writer.append(*record, body));
    if (reader.at_batch_end() && reader.name_bytes() > names_kept(record->objects.size())) {
      INQUEST_TRY_VOID(writer.forget_names());
      reader.forget_names();
    }
  }
}

Result<void> copy(const std::string& input, const OutputFile& output, CompactReport& report) {
  INQUEST_TRY(TraceReader reader, TraceReader::open(input));
  const TraceInfo& info = reader.info();
  INQUEST_TRY_VOID(check_whole(reader, input));
  report.bytes_before = info.file_bytes;
  report.batches_before = info.batches;
  report.records = info.records;
  INQUEST_TRY(TraceWriter writer, TraceWriter::create(output.temporary(), header_of(info), reader.catalog(),
                                                      TraceWriter::Existing::kRefuse, WriterOptions::keep()));
  INQUEST_TRY_VOID(copy_summary(info, writer));
  INQUEST_TRY_VOID(copy_records(reader, writer));
  return writer.close(info.state);
}

}  // namespace

TraceHeader header_of(const TraceInfo& info) { return {info.cluster_version, info.server, info.scope, info.uuid}; }

Result<void> copy_summary(const TraceInfo& info, TraceWriter& writer) {
  for (const StreamSummary& summary : info.streams) INQUEST_TRY_VOID(writer.add_stream(summary.stream));
  for (const TraceLoss& loss : info.losses) writer.add_loss(loss.source, loss.what, loss.count);
  for (const TraceLoss& note : info.all_notes()) writer.add_note(note.source, note.what, note.count);
  return {};
}

Result<CompactReport> compact(const std::string& input, const std::string& output, OutputFile::Existing existing) {
  INQUEST_TRY(OutputFile file, OutputFile::prepare(output, existing));
  CompactReport report;
  INQUEST_TRY_VOID(FileLock::check_unlocked(input));
  INQUEST_TRY_VOID(copy(input, file, report));
  report.bytes_after = stored_bytes(file.temporary());
  INQUEST_TRY(const TraceReader written, TraceReader::open(file.temporary()));
  report.batches_after = written.info().batches;
  INQUEST_TRY_VOID(file.finish());
  return report;
}

}  // namespace inquest::trace
