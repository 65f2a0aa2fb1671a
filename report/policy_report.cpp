#include "report/policy_report.h"

#include <algorithm>
#include <span>

#include "report/json.h"
#include "report/table.h"
#include "report/text.h"

namespace inquest::report {
namespace {

using scheduler::Parameter;
using scheduler::Policy;

constexpr size_t kColumns = 4;  // presets beside each other on a terminal

Table parameters_table(std::span<const Policy> policies) {
  std::vector<std::string> header{"parameter"};
  for (const Policy& policy : policies) header.push_back(policy.name);
  Table table(std::move(header));
  for (const Parameter& parameter : scheduler::parameters()) {
    std::vector<std::string> row{std::string(parameter.name)};
    for (const Policy& policy : policies) row.push_back(parameter.get(policy));
    table.add(std::move(row));
  }
  return table;
}

std::string parameters_text() {
  std::string out;
  const std::span<const Policy> all = scheduler::presets();
  for (size_t first = 0; first < all.size(); first += kColumns) {
    out += parameters_table(all.subspan(first, std::min(kColumns, all.size() - first))).text() + "\n";
  }
  return out;
}

Table shows_table() {
  Table table({"policy", "is meant to show"});
  for (const Policy& policy : scheduler::presets()) {
    const bool is_default = policy.name == scheduler::kDefaultPolicy;
    table.add({policy.name + (is_default ? " (default)" : ""), policy.shows});
  }
  return table;
}

Table about_table() {
  Table table({"parameter", "decides", "takes"});
  for (const Parameter& parameter : scheduler::parameters()) {
    table.add({std::string(parameter.name), std::string(parameter.about), std::string(parameter.values)});
  }
  return table;
}

}  // namespace

std::string policies_text() { return shows_table().text() + "\n" + parameters_text() + about_table().text(); }

std::string policies_markdown() {
  return shows_table().markdown() + "\n" + parameters_table(scheduler::presets()).markdown() + "\n" +
         about_table().markdown();
}

std::string policies_json() {
  JsonWriter json("policies");
  json.field("default", scheduler::kDefaultPolicy);
  json.key("parameters").begin_array();
  for (const Parameter& parameter : scheduler::parameters()) {
    json.begin_object().field("name", parameter.name).field("takes", parameter.values);
    json.field("about", parameter.about).end_object();
  }
  json.end_array().key("policies").begin_array();
  for (const Policy& policy : scheduler::presets()) {
    json.begin_object().field("name", policy.name).field("shows", policy.shows);
    json.key("parameters").begin_object();
    for (const Parameter& parameter : scheduler::parameters()) json.field(parameter.name, parameter.get(policy));
    json.end_object().end_object();
  }
  json.end_array();
  return json.finish();
}

std::string policy_name(const Policy& policy) {
  std::string out = policy.name;
  const Result<Policy> unchanged = scheduler::preset(policy.name);
  if (!unchanged.ok()) return out;
  for (const Parameter& parameter : scheduler::parameters()) {
    const std::string value = parameter.get(policy);
    if (value != parameter.get(*unchanged)) out += " " + std::string(parameter.name) + "=" + value;
  }
  return out;
}

}  // namespace inquest::report
