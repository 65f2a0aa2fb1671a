// No verb that makes, reads or changes a trace takes more than 256 MB, whatever the input. Slow: gigabytes of input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "cli/process_for_tests.h"
#include "schema/writer.h"

namespace inquest::cli {
namespace {

constexpr int64_t kLimitKilobytes = int64_t{256'000'000} / 1024;
constexpr int64_t kStart = 1'700'000'000'000'000'000;

std::string uid(int i) {
  char text[40];
  std::snprintf(text, sizeof text, "%08x-0000-4000-8000-%012x", static_cast<unsigned>(i), static_cast<unsigned>(i) * 7);
  return text;
}

struct Pod {
  int number = 0;
  int64_t rv = 0;
  std::string node = {}, name = {}, more = {}, cpu = "100m";
  std::string json() const {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + (name.empty() ? std::to_string(number) : name) +
           R"(","namespace":"ns-)" + std::to_string(number % 997) + R"(","uid":")" + uid(number) +
           R"(","resourceVersion":")" + std::to_string(rv) + R"("},"spec":{)" +
           (node.empty() ? "" : R"("nodeName":")" + node + R"(",)") +
           R"("containers":[{"name":"c","resources":{"requests":{"cpu":")" + cpu + R"("}}}]})" + more + "}";
  }
  std::string frame(const char* type) const {
    return std::string(R"({"type":")") + type + R"(","object":)" + json() + "}";
  }
};

std::string begin_of_watch() {
  return capture_line(kStart, "pods", "list",
                      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]})") +
         capture_line(kStart, "pods", "open", "");
}

std::string list_of(int pods, const std::string& more) {
  std::string body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9999999"},"items":[)";
  for (int i = 0; i < pods; ++i) {
    if (i > 0) body += ',';
    body += Pod{.number = i, .rv = i + 2, .more = more}.json();
  }
  body += "]}";
  return body;
}

std::string audited(int i) {
  const std::string pod = "pod-" + std::to_string(i), ns = "ns-" + std::to_string(i % 997);
  char time[48];
  std::snprintf(time, sizeof time, "2024-01-01T%02d:%02d:%02d.%06dZ", i / 3'600'000, i / 60'000 % 60, i / 1000 % 60,
                i % 1000 * 1000);
  return R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":")" + uid(i) +
         R"(","stage":"ResponseComplete","verb":"create","user":{"username":"system:kube-scheduler"},)"
         R"("userAgent":"kube-scheduler/v1.30","objectRef":{"resource":"pods","namespace":")" +
         ns + R"(","name":")" + pod + R"(","uid":")" + uid(i) +
         R"(","apiVersion":"v1","subresource":"binding"},"responseStatus":{"status":"Success","code":201},)"
         R"("requestObject":{"kind":"Binding","apiVersion":"v1","metadata":{"name":")" +
         pod + R"(","namespace":")" + ns + R"(","uid":")" + uid(i) + R"("},"target":{"kind":"Node","name":"node-)" +
         std::to_string(i % 5000) + R"("}},"requestReceivedTimestamp":")" + time + R"(","stageTimestamp":")" + time +
         "\"}\n";
}

// A number and so many more bytes.
std::string lengthened(int i, size_t bytes) {
  std::string out = std::to_string(i);
  out.resize(out.size() + bytes, 'x');
  return out;
}

// A field for a pod's JSON, of so many bytes.
std::string field(size_t bytes) {
  std::string out = R"(,"x":")";
  out.resize(out.size() + bytes, 'y');
  out += '"';
  return out;
}

// An input, a piece at a time; piece 0 is what it begins with.
struct Case {
  const char* name;
  int pieces;
  std::function<std::string(int)> piece;
  int import_exit = 0;
};

std::string frame_at(int i, const Pod& pod, const char* type) {
  return capture_line(kStart + int64_t{i} * 1000, "pods", "frame", pod.frame(type));
}

std::vector<Case> cases() {
  return {
      {"live", 2'000'000, [](int i) { return frame_at(i, {.number = i, .rv = i + 2}, "ADDED"); }},
      {"churn", 1'000'000,
       [](int i) {
         std::string out = frame_at(i, {.number = i, .rv = 3 * i + 2}, "ADDED") +
                           frame_at(i, {.number = i, .rv = 3 * i + 3, .node = lengthened(i % 5000, 1)}, "MODIFIED");
         if (i > 100) out += frame_at(i, {.number = i - 100, .rv = 3 * i + 4}, "DELETED");
         return out;
       }},
      {"shapes", 1'000'000,
       [](int i) { return frame_at(i, {.number = i, .rv = i + 2, .cpu = std::to_string(i + 1) + "m"}, "ADDED"); }},
      {"long-names", 300'000,
       [](int i) { return frame_at(i, {.number = i, .rv = i + 2, .name = lengthened(i, 1000)}, "ADDED"); }},
      {"endless-names", 100,
       [](int i) {
         const Pod endless{.number = i, .rv = i + 2, .name = lengthened(i, 3'000'000)};
         return frame_at(i, i == 50 ? Pod{.number = i, .rv = i + 2} : endless, "ADDED");
       },
       3},
      {"texts", 100'000,
       [](int i) {
         const std::string n = lengthened(i, 2000);
         return capture_line(kStart + i, "pods", "frame",
                             R"({"type":"ERROR","object":{"kind":"Status","message":")" + n + R"(","code":410}})") +
                R"({"reason":")" + n + "\"," + capture_line(kStart + i, "pods", "close", "").substr(1);
       }},
      {"endless-texts", 100,
       [](int i) {
         return capture_line(kStart + i, "pods", "frame",
                             R"({"type":"ERROR","object":{"kind":"Status","message":")" + lengthened(i, 7'000'000) +
                                 R"(","code":410}})");
       }},
      {"large-bodies", 130,
       [](int i) { return frame_at(i, {.number = i, .rv = i + 2, .more = field(7'900'000)}, "ADDED"); }},
      {"one-list", 1, [](int) { return capture_line(kStart, "pods", "list", list_of(250'000, field(200))); }},
      {"lists", 6,
       [](int i) {
         return capture_line(kStart + i, "pods", "list", list_of(150'000, "")) +
                (i == 0 ? capture_line(kStart, "pods", "frame",
                                       R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9999999"}}})")
                        : "");
       }},
      {"audit", 1'000'000, audited},
      {"objects", 2'000'000, [](int i) { return Pod{.number = i, .rv = i + 2}.json() + "\n"; }, 3},
  };
}

void write_input(const Workplace& place, const Case& input, const std::string& name) {
  std::ofstream out(place.path(name), std::ios::binary);
  const std::string first = input.piece(0);
  if (first.find("\"kind\":\"frame\"") != std::string::npos) out << begin_of_watch();
  for (int i = 0; i < input.pieces; ++i) out << input.piece(i);
}

void expect_small(const Workplace& place, const std::vector<std::string>& args, int exit) {
  const Ran ran = place.run(args, place.path("out.txt"));
  std::string line;
  for (const std::string& arg : args) line += arg + " ";
  EXPECT_EQ(ran.exit, exit) << line << ran.err.substr(0, 1000);
  EXPECT_LE(ran.max_rss_kb, kLimitKilobytes) << line;
  std::printf("%8.1f MB  %s\n", static_cast<double>(ran.max_rss_kb) * 1024 / 1e6, line.c_str());
  std::fflush(stdout);  // it takes long enough to be looked at
}

// A page in the middle, overwritten.
void hurt(const std::string& path) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
  file << std::string(4096, 'x');
}

TEST(MemorySlow, NoVerbTakesMoreThan256MB) {
  for (const Case& input : cases()) {
    SCOPED_TRACE(input.name);
    const Workplace place;
    const std::string file = std::string(input.name) + ".jsonl", trace = std::string(input.name) + ".trace";
    write_input(place, input, file);
    expect_small(place, {"import", file, "-o", trace}, input.import_exit);
    std::remove(place.path(file).c_str());
    const int exit = input.import_exit;
    expect_small(place, {"info", trace, "--pods"}, exit);
    expect_small(place, {"verify", trace}, exit);
    expect_small(place, {"records", trace}, exit);
    expect_small(place, {"records", trace, "--body", "--json"}, exit);
    expect_small(place, {"records", trace, "--diff"}, exit);
    expect_small(place, {"export", trace, "-o", "lines"}, exit);
    std::remove(place.path("lines/" + file).c_str());
    expect_small(place, {"redact", trace, "-o", "new.trace", "--annotation", "x*", "--force"}, exit);
    expect_small(place, {"compact", trace, "-o", "new.trace", "--force"}, exit);
    std::filesystem::copy_file(place.path(trace), place.path("hurt.trace"));
    hurt(place.path("hurt.trace"));
    expect_small(place, {"recover", "hurt.trace", "-o", "new.trace", "--force"}, 3);
    expect_small(place, {"cut", trace, "-o", "first.trace", "--to", "@200000"}, exit);
    expect_small(place, {"cut", trace, "-o", "rest.trace", "--from", "@200000", "--name", "*7"},
                 input.pieces < 200'000 ? 2 : exit);
    expect_small(place, {"merge", trace, "first.trace", "-o", "new.trace", "--force"}, exit);
  }
}

// A trace of 10 GB whose bodies do not compress: 160,000 frames of 64 KiB of noise.
void write_noise(const std::string& path, uint64_t bytes) {
  constexpr size_t kBody = size_t{64} << 10;
  Catalog catalog;
  auto writer = trace::TraceWriter::create(path, {}, catalog, trace::TraceWriter::Existing::kRefuse,
                                           trace::WriterOptions::keep());
  ASSERT_TRUE(writer.ok()) << writer.error().text;
  const auto stream = writer->add_stream({{}, trace::StreamKind::kWatch, "pods", "pods", "noise.jsonl"});
  ASSERT_TRUE(stream.ok());
  std::mt19937_64 noise(1);
  std::string body(kBody, '\0');
  for (uint64_t written = 0; written < bytes; written += kBody) {
    for (size_t at = 0; at < kBody; at += sizeof(uint64_t)) {
      const uint64_t word = noise();
      std::memcpy(body.data() + at, &word, sizeof word);
    }
    const auto number = static_cast<int>(written / kBody);
    PodFacts pod;
    pod.pod = catalog.pod(catalog.key(catalog.string("shop"), catalog.string("pod-" + std::to_string(number % 10'000))),
                          catalog.string(uid(number % 10'000)));
    pod.shape = catalog.shape({});
    trace::Record record;
    record.stream = *stream;
    record.kind = trace::RecordKind::kFrame;
    record.wall = Time{kStart + number};
    pod.rv = record.rv = static_cast<ResourceVersion>(number) + 1;
    record.objects.emplace_back(pod);
    ASSERT_TRUE(writer->append(record, body).ok());
  }
  ASSERT_TRUE(writer->close().ok());
}

TEST(InfoSlow, TenGigabytesTakeNoLongerThan100Milliseconds) {
  const Workplace place;
  uint64_t bytes = 10'000'000'000;
  const uint64_t room = std::filesystem::space(place.path("")).available;
  if (room < bytes + bytes / 4) bytes = room / 2;
  std::printf("a trace of %.1f GB\n", static_cast<double>(bytes) / 1e9);
  write_noise(place.path("noise.trace"), bytes);
  std::vector<int64_t> times;
  times.reserve(11);
  for (int i = 0; i < 11; ++i) times.push_back(place.time_us({"info", "noise.trace"}));
  std::sort(times.begin(), times.end());
  std::printf("info takes %.1f ms (median), %.1f at most\n", static_cast<double>(times[5]) / 1e3,
              static_cast<double>(times[10]) / 1e3);
  EXPECT_LE(times[5], 100'000);
}

}  // namespace
}  // namespace inquest::cli
