#include "recorder/live.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "kube/client/query.h"
#include "kube/client/status.h"
#include "kube/client/version.h"
#include "recorder/live_status.h"

namespace inquest::recorder {
namespace {

constexpr Duration kCommitWithin = Duration::milliseconds(200);  // of the 250 promised
constexpr Duration kProgressEvery = Duration::seconds(1);
constexpr size_t kNamesKept = size_t{48} << 20;  // of memory, before the catalog is emptied

struct Resource {
  std::string_view name, root;  // of the path
  bool namespaced;
};
constexpr Resource kResources[] = {
    {"pods", "/api/v1", true},
    {"nodes", "/api/v1", false},
    {"events", "/api/v1", true},
    {"leases", "/apis/coordination.k8s.io/v1", true},
};

const Resource* find_resource(std::string_view name) {
  const auto found = std::find_if(std::begin(kResources), std::end(kResources),
                                  [&](const Resource& resource) { return resource.name == name; });
  return found == std::end(kResources) ? nullptr : found;
}

LiveStreamConfig stream_config(const Resource& resource, const LiveOptions& options) {
  LiveStreamConfig out;
  out.name = out.resource = resource.name;
  out.path = std::string(resource.root);
  if (resource.namespaced && !options.name_space.empty()) out.path += "/namespaces/" + options.name_space;
  out.path.append("/").append(resource.name);
  if (resource.name == "pods" && !options.label_selector.empty()) {
    out.selectors = "labelSelector=" + kube::encode_query(options.label_selector);
  }
  out.checkpoint = options.checkpoint;
  out.patience = options.patience;
  return out;
}

std::string scope_of(const LiveOptions& options) {
  std::string out;
  for (const std::string& name : options.resources) out.append(out.empty() ? "" : ", ").append(name);
  if (!options.name_space.empty()) out += "; namespace " + options.name_space;
  if (!options.label_selector.empty()) out += "; pods with " + options.label_selector;
  return out;
}

Result<void> check(const LiveOptions& options) {
  if (options.resources.empty()) return Error{ErrorCode::kUsage, "no resource to record", "--resources", ""};
  for (size_t i = 0; i < options.resources.size(); ++i) {
    const std::string& name = options.resources[i];
    if (find_resource(name) == nullptr) {
      return Error{ErrorCode::kUsage, "'" + name + "' is not recorded", "--resources",
                   "there are pods, nodes, events, leases"};
    }
    if (std::count(options.resources.begin(), options.resources.end(), name) > 1) {
      return Error{ErrorCode::kUsage, name + " is named twice", "--resources", ""};
    }
  }
  return {};
}

class Recording {
 public:
  Recording(const LiveOptions& options, const Clock& clock)
      : options_(&options),
        clock_(&clock),
        api_(options.access, clock, options.user_agent, options.terminal),
        decoder_(catalog_),
        redactor_(options.redact),
        status_(clock) {}

  Result<LiveReport> run();

 private:
  Result<void> start();
  Result<void> listen();
  void tell_status();
  Result<void> turn(Time until);
  Result<void> commit_if_due();
  Result<void> spare_names();
  Time next_wake(Time until) const;
  LiveReport report() const;

  const LiveOptions* options_;
  const Clock* clock_;
  kube::Api api_;
  Catalog catalog_;
  kube::Decoder decoder_;
  Redactor redactor_;
  LiveCounts counts_;
  std::optional<trace::TraceWriter> writer_;
  std::vector<std::unique_ptr<LiveStream>> streams_;
  LiveStatus status_;
  std::optional<http::Server> server_;
  Time progress_at_;
  bool stop_ = false;
};

Result<void> Recording::listen() {
  if (options_->listen.empty()) return {};
  INQUEST_TRY(server_,
              http::Server::start(options_->listen, [this](const std::string& path) { return status_.answer(path); }));
  if (options_->listening) options_->listening(server_->port());
  return {};
}

void Recording::tell_status() {
  LiveStatus::Snapshot now{counts_, {}, clock_->monotonic()};
  for (const auto& stream : streams_) now.streams.emplace_back(stream->name(), stream->watching());
  status_.set(std::move(now));
}

Result<void> Recording::start() {
  INQUEST_TRY_VOID(listen());
  INQUEST_TRY(const std::string version, kube::server_version(api_));
  const trace::TraceHeader header{version, options_->access.server, scope_of(*options_)};
  const auto existing =
      options_->replace ? trace::TraceWriter::Existing::kReplace : trace::TraceWriter::Existing::kRefuse;
  INQUEST_TRY(writer_, trace::TraceWriter::create(options_->output, header, catalog_, existing));
  const std::string folder = std::filesystem::path(options_->output).parent_path();
  const LiveTools tools{api_, *clock_, catalog_, decoder_, *writer_, redactor_, folder.empty() ? "." : folder, counts_};
  uint64_t seed = static_cast<uint64_t>(clock_->wall().ns);
  for (const std::string& name : options_->resources) {
    LiveStreamConfig config = stream_config(*find_resource(name), *options_);
    config.seed = seed = combine(seed, streams_.size());
    streams_.push_back(std::make_unique<LiveStream>(tools, config));
    INQUEST_TRY_VOID(streams_.back()->start());
  }
  return {};
}

Time Recording::next_wake(Time until) const {
  Time wake = std::min(until, progress_at_);
  for (const auto& stream : streams_) wake = std::min(wake, stream->next_wake());
  if (counts_.oldest.known()) wake = std::min(wake, counts_.oldest + kCommitWithin);
  return wake;
}

Result<void> Recording::commit_if_due() {
  if (!counts_.oldest.known() || clock_->monotonic() - counts_.oldest < kCommitWithin) return {};
  counts_.oldest = {};
  return writer_->flush();
}

// Names that come once would fill the memory. What goes with them is the index.
Result<void> Recording::spare_names() {
  if (catalog_.memory() <= kNamesKept) return {};
  for (const auto& stream : streams_) {
    if (stream->holds_names()) return {};
  }
  INQUEST_TRY_VOID(writer_->forget_names());
  catalog_ = Catalog();
  return {};
}

// Waits for something and deals with it.
Result<void> Recording::turn(Time until) {
  pollfd stop{options_->stop_fd, POLLIN, 0};
  const size_t also = options_->stop_fd >= 0 ? 1 : 0;
  api_.run(std::max(next_wake(until) - clock_->monotonic(), Duration{}), {&stop, also});
  stop_ = stop.revents != 0;
  const Time now = clock_->monotonic();
  for (const auto& stream : streams_) {
    if (now >= stream->next_wake()) stream->tick();
    if (stream->failed()) return *stream->failed();
  }
  INQUEST_TRY_VOID(commit_if_due());
  INQUEST_TRY_VOID(spare_names());
  if (now < progress_at_) return {};
  progress_at_ = now + kProgressEvery;
  tell_status();
  if (options_->progress) options_->progress(counts_);
  return {};
}

Result<LiveReport> Recording::run() {
  INQUEST_TRY_VOID(start());
  const Time until = clock_->monotonic() + options_->duration;
  progress_at_ = clock_->monotonic();
  while (!stop_ && clock_->monotonic() < until) INQUEST_TRY_VOID(turn(until));
  for (const auto& stream : streams_) {
    stream->stop();
    if (stream->failed()) return *stream->failed();
  }
  LiveReport out = report();
  for (size_t i = 0; i < kSecretKinds.size(); ++i) {
    writer_->add_note("", std::string("redacted: ") + kSecretKinds[i], out.redacted[i]);
  }
  for (const std::string& refused : out.refused) writer_->add_loss("live", "never seen: " + refused, 1);
  INQUEST_TRY_VOID(writer_->close());
  return out;
}

LiveReport Recording::report() const {
  LiveReport out;
  out.counts = counts_;
  out.redacted = redactor_.counts();
  for (const auto& stream : streams_) {
    if (!stream->listed()) out.refused.push_back(stream->name() + ": " + stream->refusal());
  }
  return out;
}

}  // namespace

Result<LiveReport> record_live(const LiveOptions& options, const Clock& clock) {
  INQUEST_TRY_VOID(check(options));
  return Recording(options, clock).run();
}

}  // namespace inquest::recorder
