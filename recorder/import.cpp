#include "recorder/import.h"

#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "kube/decode.h"
#include "recorder/bind_feed.h"
#include "recorder/bind_set.h"
#include "recorder/capture_feed.h"
#include "recorder/clock_pairs.h"
#include "recorder/input.h"
#include "recorder/losses.h"
#include "recorder/output_file.h"

namespace inquest::recorder {
namespace {

constexpr size_t kMaxInputs = 1000;
constexpr size_t kWarningsShown = 20;

Error usage(std::string text, std::string place, std::string next = "") {
  return {ErrorCode::kUsage, std::move(text), std::move(place), std::move(next)};
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat x {
  }, y{};
  if (::stat(a.c_str(), &x) != 0 || ::stat(b.c_str(), &y) != 0) return a == b;
  return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

Result<void> check_options(const ImportOptions& options) {
  if (options.inputs.empty()) return usage("no file to import", "", "name one or more");
  if (options.inputs.size() > kMaxInputs) return usage("more than 1000 files to import", "", "import less at once");
  if (options.output.empty()) return usage("no name for the trace", "", "say -o FILE");
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    const std::string& input = options.inputs[i];
    if (same_file(input, options.output)) return usage("is an input and the output", input, "name another output");
    for (size_t j = 0; j < i; ++j) {
      if (same_file(input, options.inputs[j])) return usage("is given twice", input, "every file counts once");
    }
  }
  for (const auto& [name, alias] : options.aliases) {
    if (name.empty() || alias.empty()) return usage("an alias without a name", "", "--alias NAME=OTHER-NAME");
  }
  return {};
}

// One import, from opened inputs to a closed trace.
class Import {
 public:
  Import(const ImportOptions& options, std::vector<Input> inputs, const OutputFile& output)
      : options_(&options),
        inputs_(std::move(inputs)),
        output_(&output),
        spool_(output.folder()),
        binds_(catalog_, spool_),
        decoder_(catalog_) {}

  Result<ImportReport> run();

 private:
  Result<void> read_binds();
  Result<void> align_clocks();
  Result<void> declare_bind_streams(trace::TraceWriter& writer, std::vector<trace::StreamId>& streams);
  Result<void> merge(trace::TraceWriter& writer);

  const ImportOptions* options_;
  std::vector<Input> inputs_;
  const OutputFile* output_;
  Catalog catalog_;
  BodySpool spool_;
  BindSet binds_;
  kube::Decoder decoder_;
  Losses losses_;
  ImportReport report_;
};

// Bind inputs are read whole: their lines stand in the order of the answers, and their binds have to be joined.
Result<void> Import::read_binds() {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    if (input.kind() == InputKind::kCapture) continue;
    while (const std::optional<Line> line = input.next(losses_)) {
      if (input.kind() == InputKind::kAudit) {
        const auto bind = input.parser().audit(*line);
        if (bind.ok() && bind.value()) INQUEST_TRY_VOID(binds_.add(i, *bind.value(), options_->aliases));
        if (bind.ok()) {
          input.used();
        } else {
          input.lose(*line, bind.error().text, losses_);
        }
        continue;
      }
      const auto bind = input.parser().bind_log(*line);
      if (!bind.ok()) {
        input.lose(*line, bind.error().text, losses_);
        continue;
      }
      input.used();
      INQUEST_TRY_VOID(binds_.add(i, bind.value(), options_->aliases));
    }
    INQUEST_TRY_VOID(input.check_useful());
  }
  return {};
}

Result<void> Import::align_clocks() {
  if (binds_.seen().empty()) return {};
  for (const InputOffset& found : estimate_offsets(inputs_, binds_, catalog_)) {
    if (found.offset.applied) binds_.shift(found.input, found.offset.offset_ns);
    report_.offsets.push_back(found.offset);
  }
  return {};
}

Result<void> Import::declare_bind_streams(trace::TraceWriter& writer, std::vector<trace::StreamId>& streams) {
  streams.resize(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].kind() == InputKind::kCapture) continue;
    trace::Stream stream;
    stream.kind = inputs_[i].kind() == InputKind::kAudit ? trace::StreamKind::kAudit : trace::StreamKind::kBindLog;
    stream.name = stem(inputs_[i].path());
    stream.source = inputs_[i].name();
    INQUEST_TRY(streams[i], writer.add_stream(stream));
  }
  return {};
}

// Always the earliest of what stands first in each input; ties go to the input named first.
Result<void> Import::merge(trace::TraceWriter& writer) {
  std::vector<trace::StreamId> streams;
  INQUEST_TRY_VOID(declare_bind_streams(writer, streams));
  BindFeed binds(binds_, spool_, std::move(streams), writer);
  struct Head {
    uint32_t input;
    CaptureFeed feed;
  };
  std::vector<Head> heads;
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].kind() != InputKind::kCapture) continue;
    heads.push_back({i, CaptureFeed(inputs_[i], catalog_, decoder_, writer, losses_)});
    if (!heads.back().feed.advance()) heads.pop_back();
  }
  while (!heads.empty() || !binds.done()) {
    const auto first = std::min_element(heads.begin(), heads.end(), [](const Head& a, const Head& b) {
      return std::make_pair(a.feed.at(), a.input) < std::make_pair(b.feed.at(), b.input);
    });
    const bool bind = !binds.done() && (first == heads.end() || std::make_pair(binds.at(), binds.input()) <
                                                                    std::make_pair(first->feed.at(), first->input));
    if (bind) {
      INQUEST_TRY_VOID(binds.write());
      continue;
    }
    INQUEST_TRY_VOID(first->feed.write());
    if (!first->feed.advance()) heads.erase(first);
  }
  for (const Input& input : inputs_) INQUEST_TRY_VOID(input.check_useful());
  return {};
}

Result<ImportReport> Import::run() {
  INQUEST_TRY_VOID(read_binds());
  INQUEST_TRY_VOID(align_clocks());
  binds_.join();
  INQUEST_TRY(auto writer, trace::TraceWriter::create(output_->temporary(), trace::TraceHeader{}, catalog_));
  INQUEST_TRY_VOID(merge(writer));
  losses_.tell(writer);
  INQUEST_TRY_VOID(writer.close());
  report_.output = options_->output;
  report_.losses = losses_.shown();
  report_.loss_count = losses_.count();
  report_.warning_count = decoder_.warning_count();
  for (const kube::Warning& warning : decoder_.take_warnings()) {
    if (report_.warnings.size() == kWarningsShown) break;
    report_.warnings.push_back(warning.object + ": " + warning.field + ": " + warning.text);
  }
  return std::move(report_);
}

}  // namespace

Result<ImportReport> import_files(const ImportOptions& options) {
  INQUEST_TRY_VOID(check_options(options));
  const auto existing = options.replace ? OutputFile::Existing::kReplace : OutputFile::Existing::kRefuse;
  INQUEST_TRY(auto output, OutputFile::prepare(options.output, existing));
  std::vector<Input> inputs;
  for (const std::string& path : options.inputs) {
    INQUEST_TRY(auto input, Input::open(path));
    inputs.push_back(std::move(input));
  }
  // The import, and with it the writer, is gone before the file gets its name or is thrown away.
  auto report = std::make_unique<Import>(options, std::move(inputs), output)->run();
  if (!report.ok()) return report.error();
  INQUEST_TRY_VOID(output.finish());
  return report;
}

}  // namespace inquest::recorder
