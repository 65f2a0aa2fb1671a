// Table: rows of cells as aligned columns, for terminals or as Markdown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inquest::report {

enum class Align { kLeft, kRight };

class Table {
 public:
  // The first row is the header; later rows may be shorter.
  explicit Table(std::vector<std::string> header, std::vector<Align> align = {});
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const;
  // A | in a cell is escaped.
  std::string markdown() const;

 private:
  Align align(size_t column) const { return column < align_.size() ? align_[column] : Align::kLeft; }
  std::vector<size_t> widths() const;

  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns that a text takes on a terminal: its code points (names of Kubernetes have no wide characters).
size_t width(std::string_view text);

}  // namespace inquest::report
