#include "cli/captures_for_tests.h"

#include <filesystem>
#include <map>
#include <string>

#include "base/check.h"
#include "base/test_folder.h"
#include "recorder/import.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

std::unique_ptr<replayer::Recording> import_capture(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path("traces") / name;
  const TestFolder place;
  recorder::ImportOptions options;
  options.output = place.path(name + ".trace");
  for (const std::string_view ending : {".jsonl.zst", ".binds.jsonl", ".audit.jsonl.zst"}) {
    const std::string file = (folder / (name + std::string(ending))).string();
    if (std::filesystem::exists(file)) options.inputs.push_back(file);
  }
  const auto report = recorder::import_files(options);
  INQUEST_CHECK(report.ok(), report.ok() ? "" : report.error().message());
  auto reader = trace::TraceReader::open(options.output);
  INQUEST_CHECK(reader.ok(), reader.ok() ? "" : reader.error().message());
  auto recording = replayer::Recording::load(*std::move(reader));
  INQUEST_CHECK(recording.ok(), recording.ok() ? "" : recording.error().message());
  return *std::move(recording);
}

}  // namespace

const replayer::Recording& capture(std::string_view name) {
  static std::map<std::string, std::unique_ptr<replayer::Recording>, std::less<>> kept;
  auto found = kept.find(name);
  if (found == kept.end()) found = kept.emplace(name, import_capture(std::string(name))).first;
  return *found->second;
}

}  // namespace inquest::cli
