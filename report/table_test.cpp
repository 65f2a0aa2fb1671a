#include "report/table.h"

#include <gtest/gtest.h>

namespace inquest::report {
namespace {

TEST(Table, AlignsByWhatIsSeen) {
  Table table({"name", "n", "more"}, {Align::kLeft, Align::kRight});
  table.add({"zürich", "7", "x"});
  table.add({"a", "1,000"});
  EXPECT_EQ(table.text(),
            "name        n  more\n"
            "zürich      7  x\n"
            "a       1,000\n");
}

TEST(Table, Markdown) {
  Table table({"a", "b"}, {Align::kLeft, Align::kRight});
  table.add({"never | DURATION", "1"});
  EXPECT_EQ(table.markdown(), "| a | b |\n|---|---:|\n| never \\| DURATION | 1 |\n");
}

}  // namespace
}  // namespace inquest::report
