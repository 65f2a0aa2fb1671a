#include "bench/workload.h"

#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

namespace inquest::bench {
namespace {

constexpr const char* kRecording = "traces/churn/churn.jsonl.zst";
constexpr int64_t kRepeatNs = 61'000'000'000;  // a little more than the recording lasts

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench: %s (run it in the project's folder)\n", why.c_str());
  std::exit(2);
}

std::string inflate(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) give_up("cannot read " + path);
  const std::string packed((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27);
  std::string out;
  std::string chunk(size_t{1} << 20, '\0');
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer part{chunk.data(), chunk.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(context, &part, &in)) != 0) give_up("cannot inflate " + path);
    out.append(chunk, 0, part.pos);
  }
  ZSTD_freeDCtx(context);
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

bool holds(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

void replace_all(std::string& line, std::string_view from, std::string_view to) {
  for (size_t at = line.find(from); at != std::string::npos; at = line.find(from, at + to.size())) {
    line.replace(at, from.size(), to);
  }
}

// The first uid of a frame is its object's.
std::string uid_of(std::string_view line) {
  constexpr std::string_view kUid = R"(\"uid\":\")";
  const size_t at = line.find(kUid);
  return at == std::string_view::npos ? "" : std::string(line.substr(at + kUid.size(), 36));
}

// The line as the r-th repeat has it: later, in another namespace, with other uids.
std::string repeated(std::string_view line, int r) {
  std::string out(line);
  constexpr std::string_view kTime = R"({"t":)";
  const size_t end = out.find(',');
  const int64_t t = std::strtoll(out.c_str() + kTime.size(), nullptr, 10) + r * kRepeatNs;
  out.replace(kTime.size(), end - kTime.size(), std::to_string(t));
  char ns[16];
  std::snprintf(ns, sizeof ns, "c%04d", r);
  replace_all(out, R"(\"namespace\":\"churn\")", std::string(R"(\"namespace\":\")") + ns + R"(\")");
  constexpr std::string_view kUid = R"(\"uid\":\")";
  for (size_t at = out.find(kUid); at != std::string::npos; at = out.find(kUid, at + 1)) {
    out.replace(at + kUid.size(), 4, std::string(ns + 1));
  }
  return out;
}

// One repeat: its frames, then a DELETED for every pod that is left.
std::vector<std::string> one_repeat(const std::vector<std::string_view>& lines) {
  std::vector<std::string> out;
  std::map<std::string, std::string> left;
  for (const std::string_view line : lines) {
    if (!holds(line, R"("stream":"pods","kind":"frame")") || holds(line, R"({\"type\":\"BOOKMARK\")")) continue;
    const std::string uid = uid_of(line);
    out.emplace_back(line);
    left[uid] = line;
    if (holds(line, R"({\"type\":\"DELETED\")")) left.erase(uid);
  }
  const std::string last = out.back().substr(0, out.back().find(','));
  for (auto& [uid, line] : left) {
    replace_all(line, R"({\"type\":\"ADDED\")", R"({\"type\":\"DELETED\")");
    replace_all(line, R"({\"type\":\"MODIFIED\")", R"({\"type\":\"DELETED\")");
    line.replace(0, line.find(','), last);
    out.push_back(line);
  }
  return out;
}

}  // namespace

Workload::Workload(int repeats) {
  std::string pattern = (std::filesystem::temp_directory_path() / "inquest-bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) give_up("cannot make a temporary folder");
  folder_ = pattern;
  capture_ = path("churn.jsonl");
  const std::string text = inflate(kRecording);
  const std::vector<std::string_view> lines = lines_of(text);
  std::ofstream out(capture_, std::ios::binary);
  const auto put = [&](std::string_view line) {
    out << line << '\n';
    capture_bytes_ += line.size() + 1;
  };
  for (size_t i = 0; i < 4; ++i) put(lines[i]);  // the two lists and the two watches they open
  const std::vector<std::string> repeat = one_repeat(lines);
  for (int r = 0; r < repeats; ++r) {
    for (const std::string& line : repeat) put(repeated(line, r));
    frames_ += repeat.size();
  }
  if (!out.flush()) give_up("cannot write " + capture_);
}

Workload::~Workload() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace inquest::bench
