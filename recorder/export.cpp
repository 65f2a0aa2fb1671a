#include "recorder/export.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "recorder/envelope.h"
#include "recorder/source.h"

namespace inquest::recorder {
namespace {

using trace::Record;
using trace::RecordKind;
using LineEnd = ExportSink::LineEnd;

// The line that is being made: from a record, perhaps with the envelope and the parts of the body that follow it.
class Exporter {
 public:
  Exporter(trace::TraceReader& reader, ExportSink& sink) : reader_(&reader), sink_(&sink) {
    for (const trace::TraceLoss& note : reader.info().notes) {
      if (note.what == kNoteMadeUp) plain_.push_back(note.source);
    }
  }

  Result<ExportReport> run() {
    reader_->rewind();
    for (;;) {
      INQUEST_TRY(const Record* record, reader_->next());
      if (record == nullptr) break;
      INQUEST_TRY_VOID(take(*record));
      reader_->forget_names_beyond(trace::kWalkNames);
    }
    INQUEST_TRY_VOID(finish());
    return report_;
  }

 private:
  Result<void> take(const Record& record) {
    const trace::Stream& stream = reader_->info().streams[record.stream.value].stream;
    const std::string_view text = record.text.known() ? reader_->catalog().text(record.text) : std::string_view();
    if (record.kind == RecordKind::kSource && text != kSourceStreamed) return take_source(record, stream, text);
    INQUEST_TRY_VOID(finish());
    if (stream.kind != trace::StreamKind::kWatch || record.kind == RecordKind::kGap) return {};
    INQUEST_TRY(body_, reader_->body(record.seq));
    // A list without a body says what other records add up to.
    if (record.kind == RecordKind::kList && body_.empty()) return {};
    source_ = stream.source;
    open_ = true;
    begun_ = false;
    plain_value_ = std::find(plain_.begin(), plain_.end(), source_) != plain_.end();
    style_ = Escapes::kShort;
    raw_ = false;
    head_.clear();
    if (plain_value_) {
      tail_.clear();
      return {};
    }
    usual_head(fields_of(record, stream.name, reader_->catalog()), !body_.empty(), head_);
    tail_ = usual_tail(!body_.empty());
    return {};
  }

  Result<void> take_source(const Record& record, const trace::Stream& stream, std::string_view text) {
    if (text == trace::kOrigin) return origin(record, stream);
    if (text == kSourcePart) {
      INQUEST_TRY_VOID(begin());
      INQUEST_TRY(body_, reader_->body(record.seq));
      return put_body();
    }
    INQUEST_TRY(std::string body, reader_->body(record.seq));
    if (text == kSourceEnvelope) {
      if (!open_ || record.rv > body.size()) return {};
      head_ = body.substr(0, record.rv);
      tail_ = body.substr(record.rv);
      raw_ = record.status == kRawBody;
      if (!raw_ && record.status < kEscapeStyles) style_ = static_cast<Escapes>(record.status);
      return {};
    }
    if (text == kSourceWhole) {
      if (body.empty()) return {};  // redacted later: the record is written in the usual form
      open_ = false;
      return whole_line(source_, body);
    }
    INQUEST_TRY_VOID(finish());
    return text == trace::kLine ? whole_line(stream.source, body) : Result<void>();
  }

  // What has no times has none for an origin either.
  Result<void> origin(const Record& record, const trace::Stream& stream) {
    const bool capture = stream.kind == trace::StreamKind::kWatch &&
                         std::find(plain_.begin(), plain_.end(), stream.source) == plain_.end();
    if (!capture) return {};
    LineFields fields;
    fields.t = record.wall;
    fields.stream = stream.name;
    fields.kind = "origin";
    std::string line;
    usual_head(fields, false, line);
    return whole_line(stream.source, line.append(usual_tail(false)));
  }

  Result<void> whole_line(const std::string& source, std::string_view line) {
    ++report_.lines;
    return sink_->write(source, line, LineEnd::kYes);
  }

  Result<void> begin() {
    if (!open_ || begun_) return {};
    begun_ = true;
    INQUEST_TRY_VOID(sink_->write(source_, head_, LineEnd::kNo));
    return put_body();
  }

  Result<void> put_body() {
    if (!open_) return {};
    if (raw_ || plain_value_) return sink_->write(source_, body_, LineEnd::kNo);
    escaped_.clear();
    escape(body_, style_, escaped_);
    return sink_->write(source_, escaped_, LineEnd::kNo);
  }

  Result<void> finish() {
    if (!open_) return {};
    INQUEST_TRY_VOID(begin());
    open_ = false;
    ++report_.lines;
    return sink_->write(source_, tail_, LineEnd::kYes);
  }

  trace::TraceReader* reader_;
  ExportSink* sink_;
  std::vector<std::string> plain_;  // sources whose values stood there without an envelope
  ExportReport report_;
  std::string source_, head_, tail_, body_, escaped_;
  Escapes style_ = Escapes::kShort;
  bool open_ = false, begun_ = false, raw_ = false, plain_value_ = false;
};

// Writes the files of a folder, all of them open at once, each with its own buffer.
class FolderSink : public ExportSink {
 public:
  explicit FolderSink(std::string folder) : folder_(std::move(folder)) {}

  Result<void> write(std::string_view source, std::string_view text, LineEnd end) override {
    File* file = last_;
    if (file == nullptr || source != last_source_) {
      INQUEST_TRY(file, open(source));
      last_ = file;
      last_source_ = source;
    }
    file->pending.append(text);
    if (end == LineEnd::kYes) file->pending += '\n';
    return file->pending.size() > kBuffer ? flush(*file) : Result<void>();
  }

  Result<void> close() {
    for (auto& [source, file] : files_) {
      INQUEST_TRY_VOID(flush(*file));
      if (::close(std::exchange(file->fd, -1)) != 0) return failed(file->path, "cannot be written");
    }
    return {};
  }

 private:
  static constexpr size_t kBuffer = size_t{64} << 10, kMaxFiles = 500;
  struct File {
    std::string path, pending;
    int fd = -1;
    ~File() {
      if (fd >= 0) ::close(fd);
    }
  };

  static Error failed(const std::string& path, const char* what) {
    return {ErrorCode::kIo, std::string(what) + ": " + std::strerror(errno), path, ""};
  }

  // A trace may come from a stranger: a source's name must not lead out of the folder.
  static std::string file_name(std::string_view source) {
    std::string name;
    for (const char c : source.substr(0, 200)) {
      name += static_cast<unsigned char>(c) < ' ' || c == '/' || c == '\x7f' ? '_' : c;
    }
    for (const std::string_view ending : {".zst", ".gz"}) {
      const size_t at = name.rfind(ending);
      if (at == std::string::npos || at == 0) continue;
      const std::string_view rest = std::string_view(name).substr(at + ending.size());
      if (rest.empty() || rest.starts_with(" (")) name.erase(at, ending.size());  // "x.jsonl.zst (2)"
    }
    return name.empty() || name == "." || name == ".." ? "trace.jsonl" : name;
  }

  Result<File*> open(std::string_view source) {
    if (const auto found = files_.find(source); found != files_.end()) return found->second.get();
    if (files_.size() == kMaxFiles) {
      return Error{ErrorCode::kOutOfLimit, "more than " + std::to_string(kMaxFiles) + " sources", folder_, ""};
    }
    auto file = std::make_unique<File>();
    file->path = folder_ + "/" + file_name(source);
    file->fd = ::open(file->path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd < 0 && errno == EEXIST) {
      return Error{ErrorCode::kUsage, "exists already", file->path, "name another folder"};
    }
    if (file->fd < 0) return failed(file->path, "cannot be made");
    return files_.emplace(source, std::move(file)).first->second.get();
  }

  static Result<void> flush(File& file) {
    for (size_t done = 0; done < file.pending.size();) {
      const ssize_t n = ::write(file.fd, file.pending.data() + done, file.pending.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return failed(file.path, "cannot be written");
      done += static_cast<size_t>(n);
    }
    file.pending.clear();
    return {};
  }

  std::string folder_, last_source_;
  std::map<std::string, std::unique_ptr<File>, std::less<>> files_;
  File* last_ = nullptr;
};

}  // namespace

Result<ExportReport> export_trace(trace::TraceReader& reader, ExportSink& sink) { return Exporter(reader, sink).run(); }

Result<ExportReport> export_to_folder(trace::TraceReader& reader, const std::string& folder) {
  FolderSink sink(folder);
  INQUEST_TRY(const ExportReport report, export_trace(reader, sink));
  INQUEST_TRY_VOID(sink.close());
  return report;
}

}  // namespace inquest::recorder
