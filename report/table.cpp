#include "report/table.h"

#include <algorithm>

namespace inquest::report {

size_t width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;  // every byte that begins a code point
  }));
}

Table::Table(std::vector<std::string> header, std::vector<Align> align) : align_(std::move(align)) {
  rows_.push_back(std::move(header));
}

std::vector<size_t> Table::widths() const {
  std::vector<size_t> out;
  for (const auto& row : rows_) {
    out.resize(std::max(out.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) out[i] = std::max(out[i], width(row[i]));
  }
  return out;
}

std::string Table::text() const {
  const std::vector<size_t> columns = widths();
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      const std::string padding(columns[i] - width(row[i]), ' ');
      line += align(i) == Align::kRight ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string Table::markdown() const {
  std::string out;
  for (size_t r = 0; r < rows_.size(); ++r) {
    out += "|";
    for (const std::string& cell : rows_[r]) {
      std::string safe;
      for (const char c : cell) safe += c == '|' ? std::string("\\|") : std::string(1, c);
      out += " " + safe + " |";
    }
    out += "\n";
    if (r > 0) continue;
    out += "|";
    for (size_t i = 0; i < rows_[r].size(); ++i) out += align(i) == Align::kRight ? "---:|" : "---|";
    out += "\n";
  }
  return out;
}

}  // namespace inquest::report
