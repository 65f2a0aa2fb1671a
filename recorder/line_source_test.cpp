#include "recorder/line_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "recorder/test_files.h"

namespace inquest::recorder {
namespace {

// Everything a file gives, a line each: "1:text", "2!why", "3:text~" for a last line without '\n'.
std::string all_of(const std::string& path, size_t max_line = kMaxLine) {
  auto source = LineSource::open(path, max_line);
  if (!source.ok()) return source.error().message();
  std::string out;
  for (;;) {
    const Line line = source->next();
    if (line.kind == Line::Kind::kEnd) return out;
    out += std::to_string(line.number) + (line.kind == Line::Kind::kText ? ":" : "!");
    out += line.kind == Line::Kind::kText ? std::string(line.text) : line.why;
    out += line.terminated ? "|" : "~|";
  }
}

TEST(LineSource, SplitsAtNewlinesAndCountsBlankLines) {
  const TestFolder folder;
  const struct {
    const char* name;
    std::string content, expected;
  } cases[] = {
      {"plain", "a\nbc\n", "1:a|2:bc|"},
      {"no newline at the end", "a\nbc", "1:a|2:bc~|"},
      {"carriage returns", "a\r\nb\r\n", "1:a|2:b|"},
      {"byte order mark",
       "\xef\xbb\xbf"
       "a\n\xef\xbb\xbf"
       "b\n",
       "1:a|2:\xef\xbb\xbf"
       "b|"},
      {"blank lines", "\n  \n\r\na\n\t\n", "4:a|"},
      {"empty", "", ""},
      {"only a mark", "\xef\xbb\xbf", ""},
      {"zero bytes are no ends", std::string("a\0b\n", 4), std::string("1:a\0b|", 6)},
      {"a broken character is a byte as any other", "\xe2\x82\n\xac\n", "1:\xe2\x82|2:\xac|"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(all_of(folder.write("f", c.content)), c.expected) << c.name;
    EXPECT_EQ(all_of(folder.write("f", gzip(c.content))), c.expected) << c.name << ", gzip";
    EXPECT_EQ(all_of(folder.write("f", zstd(c.content))), c.expected) << c.name << ", zstd";
  }
}

TEST(LineSource, ReadsConcatenatedMembersAndFrames) {
  const TestFolder folder;
  EXPECT_EQ(all_of(folder.write("f", gzip("a\nb") + gzip("c\nd\n"))), "1:a|2:bc|3:d|");
  EXPECT_EQ(all_of(folder.write("f", zstd("a\nb") + zstd("c\nd\n"))), "1:a|2:bc|3:d|");
}

TEST(LineSource, PassesOverALineThatIsTooLong) {
  const TestFolder folder;
  const std::string content = "a\n" + std::string(5000, 'x') + "\nb\n" + std::string(4000, 'y');
  EXPECT_EQ(all_of(folder.write("f", content), 1000),
            "1:a|2!a line of 5000 bytes; at most 1000 are read|3:b|4!a line of 4000 bytes; at most 1000 are read|");
  EXPECT_EQ(all_of(folder.write("f", std::string(1000, 'x') + "\n"), 1000), "1:" + std::string(1000, 'x') + "|");
}

TEST(LineSource, KeepsLongLinesWhole) {
  const TestFolder folder;
  const std::string big(size_t{7} << 20, 'x');
  EXPECT_EQ(all_of(folder.write("f", "a\n" + big + "\nb\n")), "1:a|2:" + big + "|3:b|");
  EXPECT_EQ(all_of(folder.write("f", zstd("a\n" + big + "\nb\n"))), "1:a|2:" + big + "|3:b|");
}

TEST(LineSource, ABombIsReadInBoundedMemory) {
  const TestFolder folder;
  const std::string bomb = zstd("a\n" + std::string(size_t{192} << 20, 'x') + "\nb\n");
  EXPECT_LT(bomb.size(), 100'000u);
  EXPECT_EQ(all_of(folder.write("f", bomb)), "1:a|2!a line of 201326592 bytes; at most 8388608 are read|3:b|");
}

TEST(LineSource, KeepsWhatCameBeforeTheDamage) {
  const TestFolder folder;
  std::string text;
  std::mt19937 noise(7);
  for (int i = 0; i < 20000; ++i) text += std::to_string(noise()) + "\n";
  const std::string whole = all_of(folder.write("f", text));
  const auto check = [&](const std::string& packed, const std::string& name) {
    const std::string cut = all_of(folder.write("f", packed.substr(0, packed.size() * 2 / 3)));
    const size_t mark = cut.find('!');
    ASSERT_NE(mark, std::string::npos) << name;
    const size_t kept = cut.rfind('|', mark) + 1;
    EXPECT_GT(kept, whole.size() / 4) << name;
    EXPECT_EQ(cut.substr(0, kept), whole.substr(0, kept)) << name;
    EXPECT_EQ(cut.substr(mark + 1).find("the " + name + " data ends early"), 0u) << cut.substr(mark);
  };
  check(gzip(text), "gzip");
  check(zstd(text), "zstd");

  std::string bad = gzip(text);
  for (size_t i = bad.size() / 2; i < bad.size() / 2 + 64; ++i) bad[i] = '\xff';
  EXPECT_NE(all_of(folder.write("f", bad)).find("!the gzip data is damaged"), std::string::npos);
  bad = zstd(text);
  for (size_t i = bad.size() / 2; i < bad.size() / 2 + 64; ++i) bad[i] = '\xff';
  EXPECT_NE(all_of(folder.write("f", bad)).find("!the zstd data is damaged"), std::string::npos);
}

TEST(LineSource, RefusesAZstdWindowOfAGibibyte) {
  const TestFolder folder;
  // Magic; frame header: no content size, window descriptor 0xa0 (2^30); one raw block.
  const std::string frame("\x28\xb5\x2f\xfd\x00\xa0\x11\x00\x00{}", 11);
  EXPECT_EQ(all_of(folder.write("f", frame)),
            "1!its zstd window is larger than 128 MiB (--long=27 is the most that is read)|");
}

TEST(LineSource, SaysWhyAFileCannotBeOpened) {
  const TestFolder folder;
  EXPECT_EQ(all_of(folder.path("none")), folder.path("none") + ": no such file (check the name)");
  EXPECT_EQ(all_of(folder.path("")), folder.path("") + ": is a folder, not a file (name the files in it)");
  const std::string closed = folder.write("closed", "a\n");
  ::chmod(closed.c_str(), 0);
  // Permissions do not bind root: the file is opened by a child that is nobody.
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  ::chmod(folder.path("").c_str(), 0755);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::getuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
    const std::string said = all_of(closed);
    ::_exit(::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  char said[1024];
  const ssize_t size = ::read(ends[0], said, sizeof said);
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(std::string(said, static_cast<size_t>(std::max<ssize_t>(size, 0))), closed + ": no permission to read it");
}

}  // namespace
}  // namespace inquest::recorder
