#include "cli/import_steps.h"

#include <filesystem>
#include <fstream>

#include "replayer/scenario.h"
#include "schema/output_file.h"

namespace inquest::cli {
namespace {

constexpr size_t kHead = 4096;  // comments may stand before the first key

Error usage(std::string text, std::string place, std::string next) {
  return {ErrorCode::kUsage, std::move(text), std::move(place), std::move(next)};
}

Result<void> write(const replayer::Scenario& scenario, const std::string& path) {
  Catalog catalog;
  INQUEST_TRY(auto writer,
              trace::TraceWriter::create(path, replayer::trace_header(scenario), catalog,
                                         trace::TraceWriter::Existing::kRefuse, trace::WriterOptions::keep()));
  return replayer::write_trace(scenario, writer, catalog);
}

}  // namespace

StoryKind story_kind(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return StoryKind::kNone;  // reading a pipe would take from it
  std::ifstream file(path, std::ios::binary);
  std::string head(kHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  if (replayer::looks_like_steps(head)) return StoryKind::kSteps;
  const bool yaml = path.ends_with(".yaml") || path.ends_with(".yml");
  return yaml ? StoryKind::kOtherYaml : StoryKind::kNone;
}

Result<recorder::ImportReport> import_steps(const recorder::ImportOptions& options) {
  const std::string& input = options.inputs.front();
  if (options.inputs.size() > 1) {
    return usage("a story in steps is a whole trace, and takes no other input beside it", "",
                 "import it alone, and merge the traces");
  }
  if (!options.aliases.empty()) return usage("a story in steps names its schedulers itself", "--alias", "");
  std::error_code failed;
  if (std::filesystem::equivalent(input, options.output, failed)) {
    return usage("is an input and the output", input, "name another output");
  }
  INQUEST_TRY(const replayer::Scenario scenario, replayer::load_scenario(input));
  const auto existing = options.replace ? trace::OutputFile::Existing::kReplace : trace::OutputFile::Existing::kRefuse;
  INQUEST_TRY(auto output, trace::OutputFile::prepare(options.output, existing));
  INQUEST_TRY_VOID(write(scenario, output.temporary()));
  INQUEST_TRY_VOID(output.finish());
  recorder::ImportReport report;
  report.output = options.output;
  return report;
}

}  // namespace inquest::cli
