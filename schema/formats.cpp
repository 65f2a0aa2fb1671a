#include "schema/formats.h"

#include <map>
#include <string>
#include <vector>

#include "schema/reader.h"

namespace inquest::trace {

extern const char* const kTraceSql;  // trace.sql, embedded by embed_sql.cmake

std::span<const LiftStep> lift_steps() {
  static const std::vector<LiftStep> kSteps = {};  // formats 2 and 3 have the tables of format 1
  return kSteps;
}

const char* declarations_of(int format) {
  INQUEST_CHECK(format >= 1 && format <= kFormatVersion, format);
  return kTraceSql;
}

Result<void> lift(Database& database, int format, std::span<const LiftStep> steps) {
  std::map<std::string, std::string> sources;
  for (const LiftStep& step : steps) {
    if (step.from < format) continue;
    std::string& source = sources.try_emplace(step.table, std::string("main.") + step.table).first->second;
    std::string select = step.select;
    select.replace(select.find('%'), 1, source);
    source = "(" + select + ")";
  }
  for (const auto& [table, source] : sources) {
    std::string view = "CREATE TEMP VIEW ";
    view.append(table).append(" AS SELECT * FROM ").append(source);
    INQUEST_TRY_VOID(database.exec(view.c_str()));
  }
  return {};
}

}  // namespace inquest::trace
