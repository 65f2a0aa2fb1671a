// What `records` shows of single records. Pure functions from facts to text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/json.h"
#include "schema/record.h"

namespace inquest::kube {
struct JsonChange;
}

namespace inquest::report {

// "list", "frame", …: also what --kind takes.
std::string_view name_of(trace::RecordKind kind);
std::optional<trace::RecordKind> record_kind(std::string_view name);

// "@19  +4.448 s  pods  DELETED  rv 658  sched-lab/pod1 (6744…) on pair-1, Running, being deleted".
std::string record_line(const Catalog& catalog, const trace::Record& record, std::string_view stream, Time origin);

// The changes since the object's version before, indented: "    spec.nodeName  - → "pair-1"".
std::string changes_text(const std::vector<kube::JsonChange>& changes);

// Begins the record as an object of an open array, and its "objects" as an array of its own. The caller adds them, ends
// that, may add the body, and ends the record.
void begin_record(JsonWriter& json, const Catalog& catalog, const trace::Record& record, std::string_view stream,
                  Time origin);
void add_objects(JsonWriter& json, const Catalog& catalog, std::span<const ObjectFacts> objects);

}  // namespace inquest::report
