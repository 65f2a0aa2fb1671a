#include "report/text.h"

#include <gtest/gtest.h>

namespace inquest::report {
namespace {

TEST(Printable, LeavesNamesAlone) {
  EXPECT_EQ(printable("sched-lab/pod1"), "sched-lab/pod1");
  EXPECT_EQ(printable("zürich 東京"), "zürich 東京");
}

TEST(Printable, ShowsWhatWouldActOnATerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("a\nb\tc\rd\x7f"), "a\\nb\\tc\\rd\\x7f");
  EXPECT_EQ(printable("a\xc2\x9b\x32J"), "a\\u{9b}2J");  // CSI in one character
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "dog"),
            "\\u{202e}dog");  // right to left
  EXPECT_EQ(printable("bad \xff\xc0\x80"), "bad \\xff\\xc0\\x80");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, CutsWhatIsTooLong) {
  const std::string shown = printable(std::string(100'000, 'x'));
  EXPECT_EQ(shown, std::string(kMaxShown, 'x') + "…");
}

TEST(Amounts, AreExact) {
  EXPECT_EQ(cpu(100), "100m");
  EXPECT_EQ(cpu(2000), "2");
  EXPECT_EQ(cpu(0), "0");
  EXPECT_EQ(memory(int64_t{128} << 20), "128Mi");
  EXPECT_EQ(memory(int64_t{2} << 30), "2Gi");
  EXPECT_EQ(memory(1'000'000), "1000000");
  EXPECT_EQ(memory((int64_t{1} << 20) + 1024), "1025Ki");
  EXPECT_EQ(memory(0), "0");
}

TEST(Amounts, SizesOfFiles) {
  EXPECT_EQ(size(0), "0 B");
  EXPECT_EQ(size(1023), "1023 B");
  EXPECT_EQ(size(1024), "1 KiB");
  EXPECT_EQ(size(1536), "1.5 KiB");
  EXPECT_EQ(size(98'304), "96 KiB");
  EXPECT_EQ(size(uint64_t{10} << 30), "10 GiB");
  EXPECT_GT(size(UINT64_MAX).size(), 4U);
}

TEST(Amounts, Counts) {
  EXPECT_EQ(count(0), "0");
  EXPECT_EQ(count(999), "999");
  EXPECT_EQ(count(24'328), "24,328");
  EXPECT_EQ(count(1'000'000), "1,000,000");
  EXPECT_EQ(counted(1, "pod"), "1 pod");
  EXPECT_EQ(counted(2, "pod"), "2 pods");
  EXPECT_EQ(counted(0, "batch", "batches"), "0 batches");
}

TEST(Amounts, Spans) {
  EXPECT_EQ(span(Duration::seconds(91)), "91 s");
  EXPECT_EQ(span(Duration::milliseconds(4449)), "4.449 s");
}

TEST(Shapes, AreOneLine) {
  PodShape asked;
  asked.requests.cpu_milli = 100;
  asked.requests.memory = int64_t{128} << 20;
  asked.requests.extended = {{"example.com/gpu", 2}};
  asked.ports = {{"", Protocol::kTcp, 8080}, {"10.0.0.1", Protocol::kUdp, 53}};
  EXPECT_EQ(shape(asked), "100m cpu · 128Mi · 2 example.com/gpu · hostPort 8080/TCP · hostPort 10.0.0.1:53/UDP");
  EXPECT_EQ(shape(PodShape{}), "one pod's place, no requests");
}

TEST(Names, OfPods) {
  Catalog catalog;
  const PodId pod =
      catalog.pod(catalog.key(catalog.string("lab"), catalog.string("a\x1b")), catalog.string("7a3e0000-1"));
  EXPECT_EQ(pod_name(catalog, pod), "lab/a\\x1b");
  EXPECT_EQ(short_uid(catalog.uid(pod)), "7a3e…");
  EXPECT_EQ(short_uid("abc"), "abc");
  EXPECT_EQ(short_uid(""), "none");
}

TEST(WrappedParts, BreakBetweenPartsAtTheWidthOfALine) {
  const std::string forty(40, 'x');
  EXPECT_EQ(wrapped_parts({}, 5), "");
  EXPECT_EQ(wrapped_parts({"a", "", "b"}, 5), "a · b");
  EXPECT_EQ(wrapped_parts({forty, std::string(32, 'y')}, 5), forty + " · " + std::string(32, 'y')) << "80 columns";
  EXPECT_EQ(wrapped_parts({forty, std::string(33, 'y')}, 5), forty + "\n     " + std::string(33, 'y'));
  EXPECT_EQ(wrapped_parts({forty, forty}, 60), forty + "\n  " + forty) << "too far right to stand below";
}

}  // namespace
}  // namespace inquest::report
