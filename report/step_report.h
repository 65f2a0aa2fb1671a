// StepReport: each input that a run's core gets and what the core does about it, a line each: `replay --step`.
#pragma once

#include <string>

#include "replayer/step_observer.h"
#include "report/json.h"
#include "report/run_report.h"

namespace inquest::report {

class StepReport : public replayer::StepObserver {
 public:
  enum class Form : uint8_t { kText, kJson };
  // The recording must outlive it.
  StepReport(const replayer::Recording& recording, Form form);

  void stepped(const replayer::World& world, const scheduler::Input& input,
               std::span<const scheduler::Effect> effects) override;

  // What has been written since the last take(), so that a long run need not stand in memory.
  size_t size() const { return form_ == Form::kText ? text_.size() : json_.size(); }
  std::string take() { return form_ == Form::kText ? std::exchange(text_, {}) : json_.take(); }
  // The rest, and what the run had come to by then. The report is used up.
  std::string finish(const RunShown& run, Style style);

 private:
  Time origin_;
  const Catalog* catalog_;
  Form form_;
  std::string text_;
  JsonWriter json_;
};

}  // namespace inquest::report
