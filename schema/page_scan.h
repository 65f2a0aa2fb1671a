// PageScan: the rows of a SQLite file whose b-trees cannot be walked, read straight from its pages. Private to schema/.
//
// For recover alone. Every page that looks like one with rows is taken for one, wherever it hangs, and so is what a
// write-ahead log beside the file has committed. Nothing here is believed: sizes and page numbers are held against
// bounds before they are used, the chains of overflow pages, too, and whoever takes a row verifies it. No input makes
// the work more than a few times the file. The layout: https://www.sqlite.org/fileformat2.html, sections 1.6, 2, 4.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace inquest::trace {

class PageScan {
 public:
  static constexpr size_t kPageBytes = 4096;  // of every trace: the writer says so

  struct Value {
    enum class Type : uint8_t { kNull, kInteger, kText, kBlob, kOther } type = Type::kNull;
    int64_t integer = 0;
    std::string_view bytes;
  };
  struct Row {
    bool has_id = false;  // false: of a table without row ids
    int64_t id = 0;
    std::vector<Value> values;  // one a column; the column that is the row id is null
  };

  // Errors: it is no regular file, or cannot be read.
  static Result<PageScan> open(const std::string& path);
  PageScan(PageScan&& other) noexcept;
  PageScan& operator=(PageScan&&) = delete;
  ~PageScan();

  // The next row, in the order of pages, or null after the last. Valid until the next call.
  const Row* next();
  void rewind() { page_ = 1, cell_ = cells_ = 0; }

  // What the first page says, if it is that of a trace; otherwise 0.
  uint32_t format();

 private:
  PageScan() = default;
  void load_log(const std::string& path);
  std::string read_page(uint64_t number) const;
  bool begin_page();
  bool read_cell();
  bool read_payload(size_t at, uint64_t size);
  bool read_record();

  int file_ = -1, log_ = -1;
  uint64_t pages_ = 0;
  std::map<uint32_t, uint64_t> logged_;  // where in the log a page's newest version lies
  std::vector<uint8_t> uses_;            // by page: how often it was read as an overflow page

  uint64_t page_ = 1;  // the one under way; cells_ == 0: not begun
  size_t cell_ = 0, cells_ = 0;
  size_t local_left_ = 0;  // cells do not overlap, so together they are no larger than a page
  std::string bytes_;      // of that page
  std::string payload_;    // of the row under way
  Row row_;
};

}  // namespace inquest::trace
