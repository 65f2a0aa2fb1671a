#include "recorder/import.h"

#include <algorithm>
#include <memory>

#include "kube/decode.h"
#include "recorder/bind_feed.h"
#include "recorder/bind_set.h"
#include "recorder/capture_feed.h"
#include "recorder/clock_pairs.h"
#include "recorder/input.h"
#include "recorder/json_shape.h"
#include "recorder/losses.h"
#include "recorder/name_limits.h"
#include "recorder/output_file.h"
#include "recorder/source_lines.h"
#include "recorder/value_feed.h"

namespace inquest::recorder {
namespace {

using trace::same_file;

constexpr size_t kMaxInputs = 1000;
// Of memory for names: where the catalog is emptied, and where whoever still holds names of it has to let go.
constexpr size_t kNamesKept = size_t{56} << 20;
constexpr size_t kNamesAtMost = size_t{112} << 20;

Error usage(std::string text, std::string place, std::string next = "") {
  return {ErrorCode::kUsage, std::move(text), std::move(place), std::move(next)};
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
        lines_(output.folder()),
        binds_(spool_),
        decoder_(catalog_),
        redactor_(options.redact) {}

  Result<ImportReport> run();

 private:
  Result<void> read_binds();
  Result<void> read_audit(uint32_t input, const Line& line);
  Result<void> read_bind_log(uint32_t input, const Line& line);
  Result<void> align_clocks();
  Result<void> declare_bind_streams(trace::TraceWriter& writer, std::vector<trace::StreamId>& streams);
  struct Head {
    uint32_t input;
    std::unique_ptr<CaptureFeed> feed;
  };
  std::unique_ptr<CaptureFeed> feed_of(Input& input, const std::vector<Head>& heads, trace::TraceWriter& writer);
  Result<void> merge(trace::TraceWriter& writer);
  Result<void> spare_names(const std::vector<Head>& heads, trace::TraceWriter& writer);

  const ImportOptions* options_;
  std::vector<Input> inputs_;
  const OutputFile* output_;
  Catalog catalog_;
  BodySpool spool_;
  SourceLines lines_;
  BindSet binds_;
  kube::Decoder decoder_;
  Redactor redactor_;
  std::string line_;  // one of a bind input, redacted
  Losses losses_;
  Warnings warnings_;
  ImportReport report_;
};

// Bind inputs are read whole: their lines stand in the order of the answers, and their binds have to be joined.
Result<void> Import::read_binds() {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    if (!holds_binds(input.kind())) continue;
    while (std::optional<Line> line = input.next(losses_)) {
      if (const std::string_view kept = redactor_.redact(line->text); kept.data() != line->text.data()) {
        line_.assign(kept).append(kLinePadding, ' ');
        line->text = std::string_view(line_).substr(0, kept.size());
      }
      INQUEST_TRY_VOID(lines_.put(i, line->text));
      INQUEST_TRY_VOID(input.kind() == InputKind::kAudit ? read_audit(i, *line) : read_bind_log(i, *line));
    }
    INQUEST_TRY_VOID(input.check_useful());
  }
  return {};
}

// An event, or a batch of them.
Result<void> Import::read_audit(uint32_t i, const Line& line) {
  Input& input = inputs_[i];
  std::vector<std::string_view> events{line.text};
  if (const size_t kind = line.text.find("\"EventList\"");
      kind != std::string_view::npos && shape_of(line.text).kind == "EventList") {
    events = items_of(line.text);
  }
  for (const std::string_view text : events) {
    Line event = line;
    event.text = text;
    const auto bind = input.parser().audit(event);
    if (!bind.ok()) {
      input.lose(line, bind.error().text, losses_);
      continue;
    }
    if (bind.value() && name_too_long(*bind.value())) {
      input.lose(line, kNameTooLong, losses_);
      continue;
    }
    input.used();
    if (bind.value()) INQUEST_TRY_VOID(binds_.add(i, *bind.value(), options_->aliases));
  }
  return {};
}

Result<void> Import::read_bind_log(uint32_t i, const Line& line) {
  Input& input = inputs_[i];
  const auto bind = input.parser().bind_log(line);
  if (!bind.ok() || name_too_long(*bind)) {
    input.lose(line, bind.ok() ? kNameTooLong : bind.error().text, losses_);
    return {};
  }
  input.used();
  return binds_.add(i, bind.value(), options_->aliases);
}

Result<void> Import::align_clocks() {
  if (binds_.seen().empty()) return {};
  for (const InputOffset& found : estimate_offsets(inputs_, binds_)) {
    if (found.offset.applied) binds_.shift(found.input, found.offset.offset_ns);
    report_.offsets.push_back(found.offset);
  }
  return {};
}

Result<void> Import::declare_bind_streams(trace::TraceWriter& writer, std::vector<trace::StreamId>& streams) {
  streams.resize(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!holds_binds(inputs_[i].kind())) continue;
    trace::Stream stream;
    stream.kind = inputs_[i].kind() == InputKind::kAudit ? trace::StreamKind::kAudit : trace::StreamKind::kBindLog;
    stream.name = stem(inputs_[i].path());
    stream.source = inputs_[i].name();
    INQUEST_TRY(streams[i], writer.add_stream(stream));
  }
  return {};
}

std::unique_ptr<CaptureFeed> Import::feed_of(Input& input, const std::vector<Head>& heads, trace::TraceWriter& writer) {
  const FeedTools tools{catalog_,  decoder_,  writer, losses_,
                        warnings_, redactor_, spool_, [&] { return spare_names(heads, writer); }};
  if (input.kind() == InputKind::kCapture) return std::make_unique<CaptureFeed>(input, tools);
  return std::make_unique<ValueFeed>(input, tools);
}

// Always the earliest of what stands first in each input; ties go to the input named first.
Result<void> Import::merge(trace::TraceWriter& writer) {
  std::vector<trace::StreamId> streams;
  INQUEST_TRY_VOID(declare_bind_streams(writer, streams));
  BindFeed binds(binds_, streams, catalog_, writer, redactor_);
  std::vector<Head> heads;
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (holds_binds(inputs_[i].kind())) continue;
    heads.push_back({i, feed_of(inputs_[i], heads, writer)});
    if (heads.back().feed->advance()) continue;
    heads.back().feed->finish();
    heads.pop_back();
  }
  while (!heads.empty() || !binds.done()) {
    INQUEST_TRY_VOID(spare_names(heads, writer));
    const auto first = std::min_element(heads.begin(), heads.end(), [](const Head& a, const Head& b) {
      return std::make_pair(a.feed->at(), a.input) < std::make_pair(b.feed->at(), b.input);
    });
    const bool bind = !binds.done() && (first == heads.end() || std::make_pair(binds.at(), binds.input()) <
                                                                    std::make_pair(first->feed->at(), first->input));
    if (bind) {
      INQUEST_TRY_VOID(binds.write());
      continue;
    }
    INQUEST_TRY_VOID(first->feed->write());
    if (first->feed->advance()) continue;
    first->feed->finish();
    heads.erase(first);
  }
  INQUEST_TRY_VOID(lines_.write(streams, writer, catalog_));
  for (const Input& input : inputs_) INQUEST_TRY_VOID(input.check_useful());
  return {};
}

// Names that come once would fill the memory. What goes with them is the index.
Result<void> Import::spare_names(const std::vector<Head>& heads, trace::TraceWriter& writer) {
  const size_t taken = catalog_.memory();
  if (taken <= kNamesKept) return {};
  const bool held = std::any_of(heads.begin(), heads.end(), [](const Head& head) { return head.feed->holds_names(); });
  if (held && taken <= kNamesAtMost) return {};
  for (const Head& head : heads) head.feed->let_go_of_names();
  INQUEST_TRY_VOID(writer.forget_names());
  catalog_ = Catalog();
  return {};
}

Result<ImportReport> Import::run() {
  INQUEST_TRY_VOID(read_binds());
  INQUEST_TRY_VOID(align_clocks());
  binds_.join();
  INQUEST_TRY(auto writer,
              trace::TraceWriter::create(output_->temporary(), trace::TraceHeader{}, catalog_,
                                         trace::TraceWriter::Existing::kRefuse, trace::WriterOptions::keep()));
  INQUEST_TRY_VOID(merge(writer));
  losses_.tell(writer);
  report_.redacted = redactor_.counts();
  for (size_t i = 0; i < kSecretKinds.size(); ++i) {
    writer.add_note("", std::string("redacted: ") + kSecretKinds[i], report_.redacted[i]);
  }
  INQUEST_TRY_VOID(writer.close());
  report_.output = options_->output;
  report_.losses = losses_.shown();
  report_.loss_count = losses_.count();
  report_.warning_count = warnings_.count();
  report_.warnings = warnings_.shown();
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
    const auto taken = [&](const std::string& name) {
      return std::any_of(inputs.begin(), inputs.end(), [&](const Input& other) { return other.name() == name; });
    };
    const std::string name = input.name();
    for (int i = 2; taken(input.name()); ++i) input.rename(name + " (" + std::to_string(i) + ")");
    inputs.push_back(std::move(input));
  }
  // The import, and with it the writer, is gone before the file gets its name or is thrown away.
  auto report = std::make_unique<Import>(options, std::move(inputs), output)->run();
  if (!report.ok()) return report.error();
  INQUEST_TRY_VOID(output.finish());
  return report;
}

}  // namespace inquest::recorder
