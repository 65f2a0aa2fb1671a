#include "replayer/scenarios_for_tests.h"

#include <sstream>

namespace inquest::replayer {

const std::map<std::string, Told>& told_scenarios() {
  static const auto* const kAll = [] {
    auto* out = new std::map<std::string, Told>;
    auto scenarios = load_scenarios(kScenarioFolder);
    INQUEST_CHECK(scenarios.ok(), scenarios.ok() ? "" : scenarios.error().message());
    for (Scenario& scenario : *scenarios) {
      auto recording = record(scenario);
      INQUEST_CHECK(recording.ok(), recording.ok() ? "" : recording.error().message());
      const std::string name = scenario.name;
      out->emplace(name, Told{std::move(scenario), *std::move(recording)});
    }
    return out;
  }();
  return *kAll;
}

std::string in_nanoseconds(const Recording& recording, const Finding& finding) {
  const Catalog& catalog = recording.catalog();
  const auto offset = [&](Time time) { return std::to_string((time - recording.start()).ns); };
  std::string out(name_of(finding.verdict));
  if (finding.verdict == Verdict::kOvercommitView) out += " in view";
  if (finding.verdict == Verdict::kOvercommitTruth) out += " in truth";
  if (finding.pod) out.append(" ").append(catalog.name(catalog.key_of(finding.pod)));
  if (finding.node) out.append(" on ").append(catalog.node_name(finding.node));
  out.append(" from ").append(offset(finding.birth)).append(" to ");
  out.append(finding.end ? offset(*finding.end) : "never").append(" by ").append(name_of(finding.cure));
  if (finding.root) out.append(" under ").append(std::to_string(*finding.root + 1));
  return out;
}

scheduler::Policy policy_of(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  auto policy = scheduler::preset(word);
  INQUEST_CHECK(policy.ok(), word);
  while (words >> word) {
    const size_t equals = word.find('=');
    bool known = false;
    for (const scheduler::Parameter& parameter : scheduler::parameters()) {
      if (parameter.name != word.substr(0, equals)) continue;
      known = parameter.set(*policy, word.substr(equals + 1)).ok();
    }
    INQUEST_CHECK(known, word);
  }
  return *std::move(policy);
}

}  // namespace inquest::replayer
