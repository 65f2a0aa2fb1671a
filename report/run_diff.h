// RunDiff: what two runs have in common and where they part, from their run files alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/run_file.h"
#include "report/style.h"

namespace inquest::report {

struct RunDiff {
  struct Row {
    std::string what, a, b;
  };
  // One finding in either run or in both; nullptr: the other run does not have it.
  struct Pair {
    const RunFile::Finding* a = nullptr;
    const RunFile::Finding* b = nullptr;
    bool same() const;  // in both, and with one end
  };

  std::vector<Row> inputs;     // that differ: trace, policy, faults, …
  std::vector<Row> outcomes;   // that differ: verdict, chain, …
  std::vector<Pair> findings;  // all, in order of birth

  bool same() const;
};

// Of one finding are those about the same thing that were born at the same instant. Points into both files.
RunDiff diff_runs(const RunFile& a, const RunFile& b);

// A run file and the name under which the user gave it.
using NamedRun = std::pair<std::string, const RunFile*>;
std::string run_diff_text(const NamedRun& a, const NamedRun& b, Style style);
std::string run_diff_json(const NamedRun& a, const NamedRun& b);

}  // namespace inquest::report
