#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/verb.h"
#include "recorder/export.h"
#include "report/json.h"
#include "report/text.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

namespace fs = std::filesystem;

Error failed(const std::string& text, const fs::path& place) { return {ErrorCode::kIo, text, place.string(), ""}; }

// Files are made here and get their names when all of them are whole. Goes away with what is still in it.
class Staging {
 public:
  static Result<std::unique_ptr<Staging>> make(const std::string& folder) {
    std::error_code error;
    const bool there = fs::exists(folder, error);
    if (there && !fs::is_directory(folder, error)) {
      return Error{ErrorCode::kUsage, "is no folder", folder, "name one, or one that is to be made"};
    }
    if (!there && !fs::create_directory(folder, error)) return failed("cannot be made: " + error.message(), folder);
    std::string name = (fs::path(folder) / ".export-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return failed("cannot be written", folder);
    return std::unique_ptr<Staging>(new Staging(folder, name, !there));
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (made_) fs::remove(folder_, ignored);  // only while it is empty
  }

  const std::string& path() const { return path_; }

  // Their names, sorted.
  Result<std::vector<std::string>> finish(bool replace) {
    std::error_code error;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_, error)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const fs::path target = fs::path(folder_) / name;
      if (fs::exists(fs::symlink_status(target, error)) && !replace) {
        return Error{ErrorCode::kUsage, "exists already", target.string(), "name another folder, or say --force"};
      }
    }
    for (const std::string& name : names) {
      fs::rename(fs::path(path_) / name, fs::path(folder_) / name, error);
      if (error) return failed("cannot be written: " + error.message(), fs::path(folder_) / name);
    }
    return names;
  }

 private:
  Staging(std::string folder, std::string path, bool made)
      : folder_(std::move(folder)), path_(std::move(path)), made_(made) {}

  std::string folder_, path_;
  bool made_;
};

// To the standard output, a piece at a time.
class StreamSink : public recorder::ExportSink {
 public:
  explicit StreamSink(std::ostream& out) : out_(&out) {}
  Result<void> write(std::string_view, std::string_view text, LineEnd end) override {
    *out_ << text;
    if (end == LineEnd::kYes) *out_ << '\n';
    held_ += text.size() + 1;
    if (held_ < kHeld) return {};
    held_ = 0;
    return *out_ << std::flush ? Result<void>() : failed("cannot be written", "standard output");
  }

 private:
  static constexpr size_t kHeld = size_t{1} << 20;
  std::ostream* out_;
  size_t held_ = 0;
};

class Export : public Verb {
 public:
  std::string_view name() const override { return "export"; }
  std::string_view about() const override { return "Give back the lines that a trace was imported from"; }
  std::string_view example() const override { return "inquest export hostport.trace -o lines"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "The trace")->required()->type_name("FILE");
    app.add_option("-o,--output", folder_,
                   "Where to put one file for each source [the standard output, if there is one]")
        ->type_name("FOLDER");
    app.add_flag("--force", force_, "Replace files that are there already");
    app.add_flag("--json", json_, "Print JSON; needs -o");
  }

  ExitCode run(Terminal& terminal) override {
    auto reader = trace::TraceReader::open(trace_);
    if (!reader.ok()) return terminal.fail(reader.error());
    const ExitCode code = reader->info().complete() ? ExitCode::kOk : ExitCode::kMissing;
    if (folder_.empty()) {
      if (auto fits = check_one_source(reader->info()); !fits.ok()) return terminal.fail(fits.error());
      StreamSink sink(terminal.out);
      const auto report = recorder::export_trace(*reader, sink);
      if (!terminal.out) return ExitCode::kBadInput;  // main says why
      return report.ok() ? code : terminal.fail(report.error());
    }
    auto staging = Staging::make(folder_);
    if (!staging.ok()) return terminal.fail(staging.error());
    const auto report = recorder::export_to_folder(*reader, (*staging)->path());
    if (!report.ok()) return terminal.fail(report.error());
    const auto names = (*staging)->finish(force_);
    if (!names.ok()) return terminal.fail(names.error());
    show(*report, *names, terminal);
    return code;
  }

 private:
  Result<void> check_one_source(const trace::TraceInfo& info) const {
    if (json_) return Error{ErrorCode::kUsage, "--json says what was written where", "", "say -o FOLDER too"};
    std::vector<std::string> sources;
    for (const trace::StreamSummary& summary : info.streams) sources.push_back(summary.stream.source);
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    if (sources.size() <= 1) return {};
    return Error{ErrorCode::kUsage, "was made from " + report::counted(sources.size(), "source"), trace_,
                 "say -o FOLDER, for a file of each"};
  }

  void show(const recorder::ExportReport& report, const std::vector<std::string>& names, Terminal& terminal) const {
    if (!json_) {
      terminal.out << terminal.style.strong(report::printable(folder_)) << "  " << report::counted(report.lines, "line")
                   << report::kDot << report::counted(names.size(), "file");
      for (const std::string& name : names) terminal.out << report::kDot << report::printable(name);
      terminal.out << "\n";
      return;
    }
    report::JsonWriter json("export");
    json.field("file", trace_).field("folder", folder_).field("lines", report.lines).key("files").begin_array();
    for (const std::string& name : names) json.value(name);
    terminal.out << json.end_array().finish();
  }

  std::string trace_, folder_;
  bool force_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> export_verb() { return std::make_unique<Export>(); }

}  // namespace inquest::cli
