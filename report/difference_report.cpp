#include "report/difference_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/json_diff.h"
#include "report/json.h"
#include "report/record_report.h"
#include "report/table.h"
#include "report/text.h"
#include "report/trace_totals.h"

namespace inquest::report {
namespace {

using replayer::RecordSeen;
using replayer::TraceDifference;

std::string frames_of(const TraceTotals& totals, std::string_view resource) {
  for (const FrameCount& frame : totals.frames) {
    if (frame.resource == resource) return count(frame.all());
  }
  return "0";
}

// What each of the two holds, row by row.
Table holdings(const TraceShown& a, const TraceShown& b) {
  Table table({"", "a", "b"});
  const trace::TraceInfo &x = a.reader.info(), &y = b.reader.info();
  const TraceTotals in_x(x), in_y(y);
  const auto row = [&](std::string what, std::string left, std::string right) {
    table.add({std::move(what), std::move(left), std::move(right)});
  };
  row("trace", printable(a.file), printable(b.file));
  row("uuid", printable(x.uuid), printable(y.uuid));
  row("span", span(x.end - x.start), span(y.end - y.start));
  row("records", count(x.records), count(y.records));
  std::vector<std::string> resources;
  for (const TraceTotals* totals : {&in_x, &in_y}) {
    for (const FrameCount& frame : totals->frames) {
      const bool new_one = std::find(resources.begin(), resources.end(), frame.resource) == resources.end();
      if (new_one) resources.push_back(frame.resource);
    }
  }
  for (const std::string& resource : resources) {
    row(singular(resource) + " frames", frames_of(in_x, resource), frames_of(in_y, resource));
  }
  row("binds", count(in_x.bind_requests), count(in_y.bind_requests));
  row("gaps", count(in_x.gaps), count(in_y.gaps));
  return table;
}

std::string record_of(const TraceShown& shown, const std::optional<RecordSeen>& seen, Time origin) {
  if (!seen) return "no more records\n";
  return record_line(shown.reader.catalog(), seen->record, seen->stream, origin);
}

void add_side(JsonWriter& json, std::string_view name, const TraceShown& shown,
              const std::optional<RecordSeen>& first) {
  const trace::TraceInfo& info = shown.reader.info();
  json.key(name).begin_object().field("file", shown.file).field("uuid", info.uuid).field("records", info.records);
  if (first) {
    json.key("first");
    begin_record(json, shown.reader.catalog(), first->record, first->stream, info.start);
    add_objects(json, shown.reader.catalog(), first->record.objects);
    json.end_array().field("body", first->body).end_object();
  } else {
    json.nothing("first");
  }
  json.end_object();
}

}  // namespace

std::string trace_diff_text(const TraceShown& a, const TraceShown& b, const TraceDifference& difference,
                            const std::vector<kube::JsonChange>& changes, Style style) {
  std::string out = holdings(a, b).text() + "\n";
  if (difference.none()) return out + style.good("the same") + ", record by record\n";
  const Time origin = a.reader.info().start;
  const std::string where =
      difference.same == 0 ? "at the first record" : "after " + counted(difference.same, "equal record");
  out += style.bad("differ") + " " + where + "\n";
  out += "a  " + record_of(a, difference.a, origin) + "b  " + record_of(b, difference.b, origin);
  return out + changes_text(changes);
}

std::string trace_diff_json(const TraceShown& a, const TraceShown& b, const TraceDifference& difference) {
  JsonWriter json("diff");
  json.field("what", "traces").field("same", difference.none()).field("records_the_same", difference.same);
  add_side(json, "a", a, difference.a);
  add_side(json, "b", b, difference.b);
  return json.finish();
}

}  // namespace inquest::report
