// For execve(): pointers to words and a null pointer behind them. The words must outlive them.
#pragma once

#include <string>
#include <vector>

namespace inquest {

inline std::vector<char*> exec_words(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace inquest
