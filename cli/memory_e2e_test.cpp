// No verb that makes, reads or changes a trace takes more than 256 MB, whatever the input. A test an input: Memory*Slow
// take gigabytes of it, and each prints what its verbs took at most.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <utility>

#include "cli/process_for_tests.h"
#include "schema/writer.h"

namespace inquest::cli {
namespace {

constexpr int64_t kLimitKilobytes = int64_t{256'000'000} / 1024;
constexpr int64_t kStart = 1'700'000'000'000'000'000;
constexpr int64_t kStep = 1000;  // between two pieces of an input

std::string uid(int i) {
  char text[40];
  std::snprintf(text, sizeof text, "%08x-0000-4000-8000-%012x", static_cast<unsigned>(i), static_cast<unsigned>(i) * 7);
  return text;
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

// With a thousand labels that no other has.
std::string node(int i) {
  std::string labels;
  for (int label = 0; label < 1000; ++label) {
    labels.append(label == 0 ? "\"" : ",\"").append(lengthened(i * 1000 + label, 10)).append("\":\"v\"");
  }
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n)" + std::to_string(i) + R"(","uid":")" + uid(i) +
         R"(","resourceVersion":")" + std::to_string(i + 2) + R"(","labels":{)" + labels + "}}}";
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

std::string line_at(int i, const std::string& kind, const std::string& body, const std::string& stream = "pods") {
  return capture_line(kStart + i * kStep, stream, kind, body);
}
std::string frame_at(int i, const Pod& pod, const char* type) { return line_at(i, "frame", pod.frame(type)); }

// A watch with this in its query.
std::string opened(int i, const std::string& query) {
  const std::string line = line_at(i, "open", "");
  const size_t at = std::min(line.find("resourceVersion=1"), line.size());
  return std::string(line, 0, at).append(query).append(line, line.find('"', at));
}

constexpr const char* kEmptyList =
    R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]})";
const std::string& begin_of_watch() {
  static const std::string text = line_at(0, "list", kEmptyList) + line_at(0, "open", "");
  return text;
}
std::string bookmark(int i, const std::string& more = "") {
  return line_at(i, "frame", R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9999999")" + more + "}}}");
}

// A LIST, item by item: the test's own memory counts, too.
void write_list(std::ostream& out, int pods, const std::string& more) {
  out << R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9999999"},"items":[)";
  for (int i = 0; i < pods; ++i) out << (i > 0 ? "," : "") << Pod{.number = i, .rv = i + 2, .more = more}.json();
  out << "]}";
}
void write_list_line(std::ostream& out, int at, int pods, const std::string& more) {
  const std::string line = line_at(at, "list", "?");
  const size_t hole = std::min(line.find("?\""), line.size() - 1);
  const auto quoted = [&](const std::string& text) {
    for (const char c : text) c == '"' ? out << "\\\"" : out << c;
  };
  out << line.substr(0, hole);
  quoted(R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9999999"},"items":[)");
  for (int i = 0; i < pods; ++i) {
    if (i > 0) out << ',';
    quoted(Pod{.number = i, .rv = i + 2, .more = more}.json());
  }
  out << "]}" << line.substr(hole + 1);
}

// What is imported, and where cut divides it.
struct Input {
  std::string name;
  std::string middle;
  std::function<void(std::ostream&)> write;
  int import_exit = 0;
};

using Pieces = std::function<std::string(int)>;
Input pieces(const std::string& name, int count, const Pieces& piece, const std::string& begin = begin_of_watch()) {
  const int64_t half = count * kStep / 2;
  char middle[32];
  constexpr int64_t kSecond = 1'000'000'000;
  std::snprintf(middle, sizeof middle, "+%d.%09ds", static_cast<int>(half / kSecond), static_cast<int>(half % kSecond));
  return {name, middle, [=](std::ostream& out) {
            out << begin;
            for (int i = 0; i < count; ++i) out << piece(i);
          }};
}

struct Peak {
  std::string verb;
  int64_t kilobytes = 0;
};

class Measured {
 public:
  Measured(const Workplace& place, std::string input) : place_(&place), input_(std::move(input)) {}
  ~Measured() {
    std::printf("| %-14s |", input_.c_str());
    for (const Peak& peak : peaks_) std::printf(" %s %.0f |", peak.verb.c_str(), megabytes(peak));
    std::printf("\n");
    std::fflush(stdout);
  }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  void expect_small(const std::vector<std::string>& args, const std::set<int>& exits) {
    const Ran ran = place_->run(args, place_->path("out.txt"));
    std::string line;
    for (const std::string& arg : args) line += arg + " ";
    EXPECT_TRUE(exits.contains(ran.exit)) << line << ran.exit << "\n" << ran.err.substr(0, 1000);
    EXPECT_LE(ran.max_rss_kb, kLimitKilobytes) << line;
    const auto same =
        std::find_if(peaks_.begin(), peaks_.end(), [&](const Peak& peak) { return peak.verb == args[0]; });
    Peak& peak = same == peaks_.end() ? peaks_.emplace_back(Peak{args[0], 0}) : *same;
    peak.kilobytes = std::max(peak.kilobytes, ran.max_rss_kb);
    std::printf("%8.1f MB  %s\n", megabytes({"", ran.max_rss_kb}), line.c_str());
    std::fflush(stdout);  // it takes long enough to be looked at
  }

 private:
  static double megabytes(const Peak& peak) { return static_cast<double>(peak.kilobytes) * 1024 / 1e6; }

  const Workplace* place_;
  std::string input_;
  std::vector<Peak> peaks_;
};

// A page in the middle, overwritten.
void hurt(const std::string& path) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
  file << std::string(4096, 'x');
}

// All verbs on a trace that exits with `exits` when it is read: 3 where something is missing in it.
void measure_verbs(const Workplace& place, const Input& input, const std::string& trace, Measured& measured) {
  const std::set<int> exits{input.import_exit};
  measured.expect_small({"info", trace, "--pods"}, exits);
  measured.expect_small({"verify", trace}, input.import_exit == 0 ? std::set<int>{0, 1, 4} : std::set<int>{1, 3, 4});
  measured.expect_small({"records", trace}, exits);
  measured.expect_small({"records", trace, "--body", "--json"}, exits);
  measured.expect_small({"records", trace, "--diff"}, exits);
  measured.expect_small({"records", trace, "--name", "*99", "--json"}, exits);
  std::filesystem::remove(place.path("out.txt"));
  measured.expect_small({"export", trace, "-o", "lines"}, exits);
  std::filesystem::remove_all(place.path("lines"));
  measured.expect_small({"redact", trace, "-o", "new.trace", "--annotation", "x*", "--force"}, exits);
  measured.expect_small({"compact", trace, "-o", "new.trace", "--force"}, exits);
  std::filesystem::copy_file(place.path(trace), place.path("hurt.trace"));
  hurt(place.path("hurt.trace"));
  measured.expect_small({"recover", "hurt.trace", "-o", "new.trace", "--force"}, {0, 3});  // 0: only the index was hurt
  std::filesystem::remove(place.path("hurt.trace"));
  measured.expect_small({"cut", trace, "-o", "first.trace", "--to", input.middle}, exits);
  measured.expect_small({"cut", trace, "-o", "rest.trace", "--from", input.middle}, exits);
  measured.expect_small({"cut", trace, "-o", "some.trace", "--from", input.middle, "--name", "*7"}, exits);
  measured.expect_small({"merge", trace, "first.trace", "-o", "new.trace", "--force"}, exits);
}

void measure(const Input& input) {
  const Workplace place;
  Measured measured(place, input.name);
  const std::string file = input.name + ".jsonl", trace = input.name + ".trace";
  {
    std::ofstream out(place.path(file), std::ios::binary);
    input.write(out);
  }
  measured.expect_small({"import", file, "-o", trace}, {input.import_exit});
  std::remove(place.path(file).c_str());
  measure_verbs(place, input, trace, measured);
}

TEST(MemoryNamesSlow, PodsThatStay) {
  measure(pieces("live", 2'000'000, [](int i) { return frame_at(i, {.number = i, .rv = i + 2}, "ADDED"); }));
}
TEST(MemoryNamesSlow, PodsThatComeAndGo) {
  measure(pieces("churn", 1'000'000, [](int i) {
    std::string out = frame_at(i, {.number = i, .rv = 3 * i + 2}, "ADDED") +
                      frame_at(i, {.number = i, .rv = 3 * i + 3, .node = lengthened(i % 5000, 1)}, "MODIFIED");
    if (i > 100) out += frame_at(i, {.number = i - 100, .rv = 3 * i + 4}, "DELETED");
    return out;
  }));
}
TEST(MemoryNamesSlow, Shapes) {
  measure(pieces("shapes", 1'000'000, [](int i) {
    return frame_at(i, {.number = i, .rv = i + 2, .cpu = std::to_string(i + 1) + "m"}, "ADDED");
  }));
}
TEST(MemoryNamesSlow, Labels) {
  const std::string begin =
      line_at(0, "list", R"({"kind":"NodeList","metadata":{"resourceVersion":"1"},"items":[]})", "nodes") +
      line_at(0, "open", "", "nodes");
  measure(pieces(
      "labels", 5'000,
      [](int i) { return line_at(i, "frame", R"({"type":"ADDED","object":)" + node(i) + "}", "nodes"); }, begin));
}
TEST(MemoryNamesSlow, LongNames) {
  measure(pieces("long-names", 300'000,
                 [](int i) { return frame_at(i, {.number = i, .rv = i + 2, .name = lengthened(i, 1000)}, "ADDED"); }));
}
TEST(MemoryNamesSlow, EndlessNames) {
  Input input = pieces("endless-names", 100, [](int i) {
    const Pod endless{.number = i, .rv = i + 2, .name = lengthened(i, 3'000'000)};
    return frame_at(i, i == 50 || i == 1 ? Pod{.number = i, .rv = i + 2} : endless, "ADDED");
  });
  input.import_exit = 3;
  measure(input);
}
TEST(MemoryNamesSlow, Texts) {
  Input input = pieces("texts", 100'000, [](int i) {
    const std::string n = lengthened(i, 2000);
    return line_at(i, "frame", R"({"type":"ERROR","object":{"kind":"Status","message":")" + n + R"(","code":410}})") +
           R"({"reason":")" + n + "\"," + line_at(i, "close", "").substr(1);
  });
  measure(input);
}
TEST(MemoryNamesSlow, EndlessTexts) {
  measure(pieces("endless-texts", 100, [](int i) {
    return line_at(
        i, "frame",
        R"({"type":"ERROR","object":{"kind":"Status","message":")" + lengthened(i, 7'000'000) + R"(","code":410}})");
  }));
}
TEST(MemoryNamesSlow, Gaps) {
  Input input = pieces("gaps", 600'000, [](int i) {
    return opened(i, std::string("resourceVersion=").append(std::to_string(i * 10 + 10))) + line_at(i, "close", "");
  });
  input.import_exit = 3;
  measure(input);
}
TEST(MemoryNamesSlow, Streams) {
  measure(pieces(
      "streams", 1'000'000,
      [](int i) {
        const std::string stream = "pods-" + std::to_string(i % 1000);
        if (i < 1000) return line_at(i, "list", kEmptyList, stream) + line_at(i, "open", "", stream);
        return line_at(i, "frame", Pod{.number = i, .rv = i + 2}.frame("ADDED"), stream);
      },
      ""));
}
TEST(MemoryNamesSlow, Objects) {
  Input input = pieces(
      "objects", 2'000'000, [](int i) { return Pod{.number = i, .rv = i + 2}.json() + "\n"; }, "");
  input.import_exit = 3;
  input.middle = "@1000000";
  measure(input);
}

TEST(MemoryBodiesSlow, EightMebibytes) {
  measure(pieces("large-bodies", 130,
                 [](int i) { return frame_at(i, {.number = i, .rv = i + 2, .more = field(7'900'000)}, "ADDED"); }));
}
TEST(MemoryBodiesSlow, Yaml) {
  Input input = pieces(
      "yaml", 12,
      [](int i) {
        std::string out =
            "apiVersion: v1\nkind: PodList\nmetadata: {resourceVersion: '" + std::to_string(i + 1) + "'}\nitems:\n";
        for (int pod = 0; pod < 30'000; ++pod) out += "- " + Pod{.number = pod, .rv = i + 1}.json() + "\n";
        return out + "---\n";
      },
      "");
  input.middle = "@6";
  input.import_exit = 3;  // from one list to the next, something may have been missed
  measure(input);
}

TEST(MemoryBindsSlow, AuditLog) {
  Input input = pieces("audit", 1'000'000, audited, "");
  input.middle = "+500s";
  measure(input);
}

TEST(MemoryListsSlow, OneOf250000) {
  measure({"one-list", "+0.001s", [](std::ostream& out) {
             write_list_line(out, 0, 250'000, field(200));
             out << line_at(0, "open", "") << bookmark(1) << bookmark(2'000'000);
           }});
}
TEST(MemoryListsSlow, OneOfAGibibyte) {
  measure({"gib-list", "+0.001s", [](std::ostream& out) {
             write_list_line(out, 0, 1'000'000, field(700));
             out << line_at(0, "open", "") << bookmark(1) << bookmark(2'000'000);
           }});
}
TEST(MemoryListsSlow, Six) {
  measure({"lists", "+0.001s", [](std::ostream& out) {
             for (int i = 0; i < 6; ++i) {
               write_list_line(out, i, 150'000, "");
               if (i == 0) out << line_at(0, "open", "") << bookmark(1);
             }
             out << bookmark(2'000'000);
           }});
}
TEST(MemoryListsSlow, AsKubectlPrintsThem) {
  measure({"value-list", "@2", [](std::ostream& out) {
             write_list(out, 400'000, field(200));
             out << "\n"
                 << R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9999999"}}})"
                 << "\n";
           }});
}
TEST(MemoryListsSlow, Streamed) {
  measure({"streamed", "+0.5s", [](std::ostream& out) {
             out << opened(0, "sendInitialEvents=true");
             for (int i = 0; i < 250'000; ++i) out << frame_at(i, {.number = i, .rv = i + 2}, "ADDED");
             out << bookmark(250'000, R"(,"annotations":{"k8s.io/initial-events-end":"true"})") << bookmark(600'000);
           }});
}

// Records as large as the format allows, which no import makes.
TEST(MemoryListsSlow, InOneRecord) {
  const Workplace place;
  const Input input{"one-record", "+0.001s", {}};
  Measured measured(place, input.name);
  {
    Catalog catalog;
    auto writer = trace::TraceWriter::create(place.path("one-record.trace"), {}, catalog);
    ASSERT_TRUE(writer.ok());
    const auto stream = writer->add_stream({{}, trace::StreamKind::kWatch, "pods", "pods", "x.jsonl"});
    ASSERT_TRUE(stream.ok());
    trace::Record record;
    record.stream = *stream;
    record.kind = trace::RecordKind::kList;
    record.wall = Time{kStart};
    record.rv = 9'999'999;
    std::string body = R"({"kind":"PodList","items":[)";
    for (int i = 0; i < 200'000; ++i) {
      PodFacts pod;
      pod.pod =
          catalog.pod(catalog.key(catalog.string("ns"), catalog.string(lengthened(i, 4))), catalog.string(uid(i)));
      pod.shape = catalog.shape({});
      pod.rv = static_cast<ResourceVersion>(i) + 1;
      record.objects.emplace_back(pod);
      body.append(i > 0 ? "," : "").append(Pod{.number = i, .rv = i + 1, .more = field(50)}.json());
    }
    body += "]}";
    ASSERT_TRUE(writer->append(record, body).ok()) << body.size();
    record.objects.clear();
    record.kind = trace::RecordKind::kBookmark;
    record.wall = Time{kStart + 10'000'000};
    ASSERT_TRUE(writer->append(record, "").ok());
    ASSERT_TRUE(writer->close().ok());
  }
  measure_verbs(place, input, "one-record.trace", measured);
}

// A sanitizer keeps what is freed for a while, and shadows the rest: the peaks say nothing.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// The same in short: with twice as many objects in a list, no verb takes much more.
TEST(Memory, DoesNotGrowWithAList) {
  if (kSanitized) GTEST_SKIP() << "under a sanitizer the peaks say nothing";
  constexpr int kPods = 40'000;
  constexpr int64_t kGrowth = 34'000;  // names up to where they are forgotten, rows of the index; in KB
  const Workplace place;
  const std::vector<std::vector<std::string>> verbs = {
      {"import", "list.jsonl", "-o", "list.trace", "--force"},
      {"cut", "list.trace", "-o", "cut.trace", "--from", "+0.001s", "--force"},
      {"cut", "list.trace", "-o", "cut.trace", "--name", "*7", "--force"},
      {"merge", "list.trace", "cut.trace", "-o", "merged.trace", "--force"},
      {"records", "list.trace", "--json", "--body"},
  };
  std::vector<int64_t> before;
  for (const int pods : {kPods, 2 * kPods}) {
    {
      std::ofstream out(place.path("list.jsonl"));
      write_list_line(out, 0, pods, "");
      out << line_at(0, "open", "") << bookmark(1) << bookmark(2'000'000);
    }
    for (size_t i = 0; i < verbs.size(); ++i) {
      const Ran ran = place.run(verbs[i], place.path("out.txt"));
      ASSERT_EQ(ran.exit, 0) << verbs[i][0] << ran.err;
      if (pods == kPods) {
        before.push_back(ran.max_rss_kb);
      } else {
        EXPECT_LE(ran.max_rss_kb, before[i] + kGrowth) << verbs[i][0] << ", from " << before[i] << " KB";
      }
    }
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
