#include "replayer/scenario.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

#include "base/duration.h"
#include "base/hash.h"
#include "base/rfc3339.h"
#include "replayer/plan_yaml.h"

namespace inquest::replayer {
namespace {

constexpr YamlForm kStepsForm = {"a steps file", "the steps file", "steps/1"};
constexpr Time kStart{1'767'225'600'000'000'000};                       // 2026-01-01T00:00:00Z
constexpr size_t kMaxText = size_t{64} << 20;                           // of all steps, each of pod[1-20] counted
constexpr size_t kMaxAbout = size_t{4} << 10;                           // of about and claim
constexpr size_t kMaxScenarios = 1000;                                  // of a folder
constexpr Duration kLongest = Duration::seconds(100LL * 366 * 86'400);  // of a story: times stay far from overflowing

// One file while it is read.
class ScenarioReader {
 public:
  explicit ScenarioReader(const std::string& path) : path_(path) {}

  Result<Scenario> read(const YAML::Node& root) {
    INQUEST_TRY(const YamlEntries entries, entries_of(path_, root, "a steps file"));
    out_.name = std::filesystem::path(path_).stem().string();
    out_.path = path_;
    out_.start = kStart;
    bool versioned = false;
    for (const auto& [key, value] : entries) {
      if (key.Scalar() == "inquest") {
        INQUEST_TRY_VOID(check_version(kStepsForm, path_, value));
        versioned = true;
      } else {
        INQUEST_TRY_VOID(read_field(key, value));
      }
    }
    if (!versioned) return version_missing(kStepsForm, path_, root);
    std::stable_sort(out_.steps.begin(), out_.steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
    return std::move(out_);
  }

 private:
  Result<void> read_field(const YAML::Node& key, const YAML::Node& value) {
    const std::string& name = key.Scalar();
    if (name == "about") return read_text(key, value, out_.about);
    if (name == "claim") return read_text(key, value, out_.claim);
    if (name == "start") return read_start(key, value);
    if (name == "nodes") return read_present(key, value, Watched::kNodes);
    if (name == "pods") return read_present(key, value, Watched::kPods);
    if (name == "steps") return read_steps(key, value);
    if (name == "run") return read_run(value);
    if (name == "faults") {
      INQUEST_TRY(out_.plan.faults, read_faults(path_, value));
      return {};
    }
    return error_at(path_, key, "a steps file has no field '" + name + "'",
                    "fields: inquest, about, claim, start, nodes, pods, steps, faults, run");
  }

  Result<void> read_text(const YAML::Node& key, const YAML::Node& value, std::string& to) {
    if (!value.IsScalar()) return error_at(path_, key, "'" + key.Scalar() + "' takes a sentence");
    if (value.Scalar().size() > kMaxAbout) return error_at(path_, key, "'" + key.Scalar() + "' is longer than 4 KiB");
    to = value.Scalar();
    return {};
  }

  Result<void> read_start(const YAML::Node& key, const YAML::Node& value) {
    const auto time = value.IsScalar() ? parse_rfc3339(value.Scalar()) : std::nullopt;
    if (!time || time->ns <= 0) {
      return error_at(path_, key, "'start' takes an instant after 1970", "such as 2026-01-01T00:00:00Z");
    }
    out_.start = *time;
    return {};
  }

  // A list of lines; of each, `read` makes what it says.
  Result<void> each_line(const YAML::Node& key, const YAML::Node& value,
                         const std::function<Result<void>(const YAML::Node&, const std::string&)>& read) {
    if (value.IsNull()) return {};
    if (!value.IsSequence()) return error_at(path_, key, "'" + key.Scalar() + "' takes a list");
    for (const auto& line : value) {
      if (!line.IsScalar()) {
        return error_at(path_, line, "a line of '" + key.Scalar() + "' is words, such as 'pod1 created cpu=500m'",
                        "settings are written key=value, without braces and colons");
      }
      INQUEST_TRY_VOID(read(line, line.Scalar()));
    }
    return {};
  }

  Result<void> read_present(const YAML::Node& key, const YAML::Node& value, Watched what) {
    return each_line(key, value, [&](const YAML::Node& node, const std::string& line) -> Result<void> {
      auto object = parse_object(line, what);
      if (!object.ok()) return located(object.error(), path_, node);
      object->line = node.Mark().line + 1;
      if (out_.present.size() == kMaxSteps) return error_at(path_, node, "more than 100000 objects");
      out_.present.push_back(*std::move(object));
      return {};
    });
  }

  Result<void> read_steps(const YAML::Node& key, const YAML::Node& value) {
    Duration before;
    size_t text = 0;
    return each_line(key, value, [&](const YAML::Node& node, const std::string& line) -> Result<void> {
      auto steps = parse_step(line, before);
      if (!steps.ok()) return located(steps.error(), path_, node);
      before = steps->front().at;
      text += line.size() * steps->size();
      if (out_.steps.size() + steps->size() > kMaxSteps) return error_at(path_, node, "more than 100000 steps");
      if (text > kMaxText) return error_at(path_, node, "the steps are more than 64 MiB when each pod has its own");
      for (Step& step : *steps) {
        if (step.at > kLongest) return error_at(path_, node, "it lies more than 100 years after the start");
        step.line = node.Mark().line + 1;
        out_.steps.push_back(std::move(step));
      }
      return {};
    });
  }

  Result<void> read_run(const YAML::Node& value) {
    INQUEST_TRY(const YamlEntries entries, entries_of(path_, value, "run"));
    for (const auto& [key, setting] : entries) {
      if (!setting.IsScalar()) return error_at(path_, key, "'" + key.Scalar() + "' takes one value");
      auto set = set_run(key.Scalar(), setting.Scalar());
      if (!set.ok()) return located(set.error(), path_, key);
    }
    return {};
  }

  Result<void> set_run(const std::string& key, const std::string& value) {
    RunSettings& run = out_.run;
    const std::pair<const char*, std::optional<Duration>*> durations[] = {{"bind-rtt", &run.pace.bind_rtt},
                                                                          {"deliver", &run.pace.deliver},
                                                                          {"kubelet-start", &run.pace.kubelet_start},
                                                                          {"kubelet-stop", &run.pace.kubelet_stop},
                                                                          {"lag", &run.lag},
                                                                          {"drain", &run.drain}};
    for (const auto& [name, to] : durations) {
      if (key != name) continue;
      INQUEST_TRY(*to, parse_duration(value));
      return {};
    }
    if (key == "mode") {
      if (value != "follow" && value != "decide")
        return Error{ErrorCode::kInput, "mode takes follow or decide", "", ""};
      run.mode = value == "follow" ? Mode::kFollow : Mode::kDecide;
    } else if (key == "as") {
      run.as = value;
    } else if (key == "scheduler-name") {
      run.scheduler_names = {value};
    } else if (key == "seed") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), run.seed);
      if (error != std::errc() || end != value.data() + value.size()) {
        return Error{ErrorCode::kInput, "seed takes a whole number below 2^64", "", ""};
      }
    } else {
      return Error{
          ErrorCode::kInput, "run has no field '" + key + "'", "",
          "fields: mode, as, scheduler-name, bind-rtt, deliver, kubelet-start, kubelet-stop, lag, drain, seed"};
    }
    return {};
  }

  const std::string& path_;
  Scenario out_;
};

// A folder of our own that goes away, for the moment between writing a trace and having it open.
class PassingFolder {
 public:
  static Result<PassingFolder> make() {
    std::error_code failed;
    std::string path = (std::filesystem::temp_directory_path(failed) / "inquest-steps-XXXXXX").string();
    if (failed || mkdtemp(path.data()) == nullptr) {
      return Error{ErrorCode::kIo, "no temporary folder can be made", path, "set TMPDIR to a folder with room"};
    }
    return PassingFolder(std::move(path));
  }
  PassingFolder(PassingFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  PassingFolder& operator=(PassingFolder&&) = delete;
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  ~PassingFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit PassingFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace

bool looks_like_steps(std::string_view head) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (head.starts_with(kMark)) head.remove_prefix(kMark.size());
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size());
    std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || line[begin] == '#' || line.starts_with("---")) continue;
    if (!line.starts_with("inquest:")) return false;
    line.remove_prefix(std::string_view("inquest:").size());
    const size_t value = line.find_first_not_of(" \t'\"");
    return value != std::string_view::npos && line.substr(value).starts_with("steps/");
  }
  return false;
}

Result<Scenario> parse_scenario(const std::string& text, const std::string& path) {
  INQUEST_TRY(const YAML::Node root, load_yaml(kStepsForm, text, path));
  INQUEST_TRY(Scenario scenario, ScenarioReader(path).read(root));
  scenario.digest = hash_bytes(text);
  return scenario;
}

Result<Scenario> load_scenario(const std::string& path) {
  INQUEST_TRY(const std::string text, read_yaml_file(kStepsForm, path));
  return parse_scenario(text, path);
}

Result<std::vector<Scenario>> load_scenarios(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".yaml") paths.push_back(entry->path().string());
    if (paths.size() > kMaxScenarios) return Error{ErrorCode::kOutOfLimit, "more than 1000 steps files", folder, ""};
  }
  if (failed) return Error{ErrorCode::kInput, "the folder cannot be read: " + failed.message(), folder, ""};
  if (paths.empty()) return Error{ErrorCode::kInput, "no steps file (*.yaml) is in it", folder, ""};
  std::sort(paths.begin(), paths.end());
  std::vector<Scenario> out;
  for (const std::string& path : paths) {
    INQUEST_TRY(Scenario scenario, load_scenario(path));
    out.push_back(std::move(scenario));
  }
  return out;
}

Result<std::unique_ptr<Recording>> record(const Scenario& scenario) {
  INQUEST_TRY(const PassingFolder folder, PassingFolder::make());
  const std::string path = folder.file(scenario.name + ".trace");
  Catalog catalog;
  INQUEST_TRY(auto writer,
              trace::TraceWriter::create(path, trace_header(scenario), catalog, trace::TraceWriter::Existing::kRefuse,
                                         trace::WriterOptions::keep()));
  INQUEST_TRY_VOID(write_trace(scenario, writer, catalog));
  INQUEST_TRY(auto reader, trace::TraceReader::open(path));
  return Recording::load(std::move(reader));
}

RunConfig run_config(const Scenario& scenario, const scheduler::Policy& policy) {
  RunConfig config;
  config.policy = policy;
  config.plan = scenario.plan;
  config.mode = scenario.run.mode;
  config.as = scenario.run.as;
  config.scheduler_names = scenario.run.scheduler_names;
  config.lag = scenario.run.lag.value_or(config.lag);
  config.drain = scenario.run.drain;
  config.seed = scenario.run.seed;
  config.pace = scenario.run.pace;
  return config;
}

}  // namespace inquest::replayer
