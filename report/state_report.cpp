#include "report/state_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/duration.h"
#include "base/hash.h"
#include "report/facts_json.h"
#include "report/run_file.h"
#include "report/table.h"
#include "report/text.h"

namespace inquest::report {

using replayer::Arrival;
using replayer::Finding;
using replayer::QueuedPod;
using replayer::Store;
using scheduler::Int128;
using scheduler::NodeBook;

namespace {

constexpr std::array<std::string_view, 5> kPhases = {"Unknown", "Pending", "Running", "Succeeded", "Failed"};

// No node has so much, but a hostile trace may ask for it.
int64_t narrowed(Int128 amount) { return static_cast<int64_t>(std::clamp<Int128>(amount, INT64_MIN, INT64_MAX)); }

std::string indented(const std::string& text) {
  std::string out;
  for (size_t from = 0; from < text.size();) {
    const size_t end = text.find('\n', from) + 1;
    out += "  " + text.substr(from, end - from);
    from = end;
  }
  return out;
}

// What stands in a store's table, and the same as JSON.
class StateReport {
 public:
  explicit StateReport(const StateShown& state)
      : state_(state), catalog_(state.shown.recording.catalog()), now_(state.shown.stop->at) {
    for (const Finding& one : state.run.open(now_)) {
      if (one.pod) wrong_[one.pod].append(wrong_[one.pod].empty() ? "← " : ", ").append(verdict_text(one.verdict));
    }
  }

  std::string tables(Style style) const {
    std::string out;
    for (const Store store : state_.stores) out += "\n" + table(store, style);
    return out;
  }

  void add_stores(JsonWriter& json) const {
    json.key("stores").begin_object();
    for (const Store store : state_.stores) add_store(json, store);
    json.end_object();
  }

  // Differences, each since when, and whether it is a finding by now.
  std::string differences(const std::vector<Finding>& open) const {
    Table table({"verdict", "about", "on", "since", "age", "is", "because"},
                {Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight});
    for (const Finding& one : open) {
      table.add({verdict_text(one.verdict), subject_text(catalog_, one), one.pod ? node(one.node) : "",
                 offset(one.birth), format_seconds(now_ - one.birth), counts(one) ? "a finding" : "within the lag",
                 because_text(state_.shown, one)});
    }
    return indented(table.text());
  }

  void add_differences(JsonWriter& json, const std::vector<Finding>& open) const {
    json.key("differences").begin_array();
    for (const Finding& one : open) {
      json.begin_object().field("verdict", replayer::name_of(one.verdict));
      add_pod(json, catalog_, "pod", one.pod);
      add_node(json, catalog_, "node", one.node);
      json.instant("since", one.birth, origin()).field("since_seq", one.birth_seq);
      json.field("age_ns", (now_ - one.birth).ns).field("finding", counts(one));
      json.field("because", because_text(state_.shown, one)).end_object();
    }
    json.end_array();
  }

  bool counts(const Finding& one) const { return now_ - one.birth >= state_.shown.config.lag; }

  void add_instant(JsonWriter& json) const {
    json.instant("at", now_, origin()).field("seq", state_.shown.stop->seq);
    json.field("after_end", now_ > state_.shown.outcome.end);
    json.field("core_state", hex(state_.run.world().core().state_hash()));
  }

 private:
  Time origin() const { return state_.shown.outcome.start; }
  std::string offset(Time time) const { return format_offset(time, origin()); }
  std::string node(NodeId id) const { return printable(catalog_.node_name(id)); }
  std::string uid(PodId pod) const { return short_uid(catalog_.uid(pod)); }
  std::string by(const Arrival& since) const { return fmt::format("{} @{}", replayer::name_of(since.by), since.seq); }
  // "← zombie-scheduled": how it differs from the truth.
  std::string wrong(PodId pod) const {
    const auto found = wrong_.find(pod);
    return found == wrong_.end() ? "" : found->second;
  }
  std::string shape_text(ShapeId id) const { return id ? shape(catalog_.shape(id)) : ""; }

  // --- For people

  // "scheduled  2 · bound pods, as the watch told it", and the table under it.
  static std::string titled(std::string_view name, size_t count, std::string_view what, const Table& table,
                            Style style) {
    std::string out = style.strong(name) + std::string(kTitle - name.size(), ' ') + std::to_string(count);
    if (count == 0) return out + "\n";
    return out.append(kDot).append(what).append("\n") + indented(table.text());
  }

  std::string table(Store store, Style style) const {
    using enum Align;
    const std::string_view name = replayer::name_of(store);
    switch (store) {
      case Store::kScheduled: {
        const auto pods = replayer::scheduled_pods(state_.run, state_.arrivals);
        Table table({"pod", "uid", "node", "since", "by", "takes", ""}, {kLeft, kLeft, kLeft, kRight});
        for (const auto& one : pods) table.add(held(one));
        return titled(name, pods.size(), "bound pods, as the watch told it", table, style);
      }
      case Store::kAssumed: {
        const auto pods = replayer::assumed_pods(state_.run, state_.arrivals);
        Table table({"pod", "uid", "node", "since", "by", "expires", "takes", ""},
                    {kLeft, kLeft, kLeft, kRight, kLeft, kRight});
        for (const auto& one : pods) {
          std::vector<std::string> row = held(one);
          row.insert(row.end() - 2, one.deadline == Time::never() ? "never" : offset(one.deadline));
          table.add(row);
        }
        return titled(name, pods.size(), "decided, and not yet seen bound", table, style);
      }
      case Store::kQueued: {
        const auto pods = replayer::queued_pods(state_.run, state_.arrivals);
        Table table({"place", "pod", "uid", "since", "by", "until", ""}, {kRight, kLeft, kLeft, kRight, kLeft, kRight});
        for (const QueuedPod& one : pods) table.add(queued(one));
        return titled(name, pods.size(), "pods without a node", table, style);
      }
      case Store::kNodes: {
        const auto& books = state_.run.world().core().books();
        const size_t count = replayer::nodes_of(books, catalog_).size();
        return titled(name, count, "as the scheduler's books have them", nodes(books), style);
      }
      case Store::kTruth:
        break;
    }
    const auto pods = replayer::true_pods(state_.run);
    Table table({"pod", "uid", "node", "phase", "rv", "takes"});
    for (const PodFacts& one : pods) table.add(real(one));
    const auto& books = state_.run.world().truth().books();
    return titled(name, pods.size(), "pods that the API server holds", table, style) + "\n" +
           titled(name, replayer::nodes_of(books, catalog_).size(), "nodes, and what is on them", nodes(books), style);
  }

  std::vector<std::string> held(const replayer::HeldPod& one) const {
    return {pod_name(catalog_, one.pod), uid(one.pod),  node(one.node), offset(one.since.at), by(one.since),
            shape_text(one.shape),       wrong(one.pod)};
  }

  std::vector<std::string> queued(const QueuedPod& one) const {
    const bool in_line = one.how == QueuedPod::How::kInLine;
    const std::string until = in_line                                ? "its turn"
                              : one.how == QueuedPod::How::kInFlight ? "its answer"
                              : one.until == Time::never()           ? "it was read again"
                                                                     : offset(one.until);
    return {in_line ? std::to_string(one.place) : std::string(replayer::name_of(one.how)),
            pod_name(catalog_, one.pod),
            uid(one.pod),
            offset(one.since.at),
            by(one.since),
            until,
            wrong(one.pod)};
  }

  std::vector<std::string> real(const PodFacts& pod) const {
    std::string phase(kPhases[static_cast<size_t>(pod.phase)]);
    if (pod.deletion.known()) phase += ", being deleted";
    return {pod_name(catalog_, pod.pod), uid(pod.pod),         node(pod.node), phase,
            std::to_string(pod.rv),      shape_text(pod.shape)};
  }

  const Resources* allocatable(const NodeBook& book) const {
    return book.known && book.facts.allocatable ? &catalog_.allocatable(book.facts.allocatable).resources : nullptr;
  }

  Table nodes(const scheduler::NodeBooks& books) const {
    using enum Align;
    Table table({"node", "pods", "free", "cpu", "free", "memory", "free", "also"},
                {kLeft, kRight, kRight, kRight, kRight, kRight, kRight});
    for (const NodeId id : replayer::nodes_of(books, catalog_)) {
      const NodeBook& book = books.book(id);
      const Resources* has = allocatable(book);
      const auto free = [&](int64_t all, Int128 charged, auto text) {
        return has == nullptr ? std::string("?") : text(narrowed(all - charged));
      };
      const auto plain = [](int64_t n) { return std::to_string(n); };
      const int64_t pods = has == nullptr ? 0 : catalog_.allocatable(book.facts.allocatable).pods;
      table.add({node(id), plain(book.pods), free(pods, book.pods, plain), cpu(narrowed(book.cpu_milli)),
                 free(has == nullptr ? 0 : has->cpu_milli, book.cpu_milli, cpu), memory(narrowed(book.memory)),
                 free(has == nullptr ? 0 : has->memory, book.memory, memory), also(book, has)});
    }
    return table;
  }

  // What else is charged to a node, and what it is like.
  std::string also(const NodeBook& book, const Resources* has) const {
    std::string out;
    if (!book.known) add_part(out, "gone");
    if (book.known && book.facts.unschedulable) add_part(out, "unschedulable");
    for (size_t i = 0, same = 1; i < book.ports.size(); ++i) {
      if (i + 1 < book.ports.size() && *book.ports[i].port == *book.ports[i + 1].port && ++same > 1) continue;
      add_part(out, "hostPort " + port(*book.ports[i].port) + (same > 1 ? fmt::format(" × {}", same) : ""));
      same = 1;
    }
    if (book.ephemeral != 0) add_part(out, memory(narrowed(book.ephemeral)) + " ephemeral");
    for (const scheduler::NamedSum& sum : book.extended) {
      std::string part = fmt::format("{} {}", narrowed(sum.amount), printable(sum.name));
      if (has != nullptr) part += fmt::format(" of {}", offered(*has, sum.name));
      add_part(out, part);
    }
    return out;
  }

  static int64_t offered(const Resources& has, std::string_view name) {
    for (const NamedAmount& amount : has.extended) {
      if (amount.name == name) return amount.amount;
    }
    return 0;
  }

  // --- For programs

  void add_store(JsonWriter& json, Store store) const {
    if (store == Store::kNodes) return add_nodes(json, "nodes", state_.run.world().core().books());
    if (store == Store::kTruth) {
      json.key("truth").begin_object().key("pods").begin_array();
      for (const PodFacts& pod : replayer::true_pods(state_.run)) add_real(json, pod);
      json.end_array();
      add_nodes(json, "nodes", state_.run.world().truth().books());
      json.end_object();
      return;
    }
    json.key(replayer::name_of(store)).begin_array();
    if (store == Store::kScheduled) {
      for (const auto& one : replayer::scheduled_pods(state_.run, state_.arrivals)) {
        add_held(json, one);
        json.end_object();
      }
    } else if (store == Store::kAssumed) {
      for (const auto& one : replayer::assumed_pods(state_.run, state_.arrivals)) {
        add_held(json, one);
        add_until(json, "expires", one.deadline);
        json.end_object();
      }
    } else {
      for (const QueuedPod& one : replayer::queued_pods(state_.run, state_.arrivals)) add_queued(json, one);
    }
    json.end_array();
  }

  void add_until(JsonWriter& json, std::string_view name, Time until) const {
    if (until.known() && until != Time::never()) {
      json.instant(name, until, origin());
    } else {
      json.nothing(name);
    }
  }

  void add_since(JsonWriter& json, const Arrival& since) const {
    json.instant("since", since.at, origin()).field("since_seq", since.seq);
    json.field("by", replayer::name_of(since.by));
  }

  void add_held(JsonWriter& json, const replayer::HeldPod& one) const {
    json.begin_object();
    add_pod(json, catalog_, "pod", one.pod);
    add_node(json, catalog_, "node", one.node);
    add_since(json, one.since);
    json.field("takes", shape_text(one.shape));
  }

  void add_queued(JsonWriter& json, const QueuedPod& one) const {
    json.begin_object();
    add_pod(json, catalog_, "pod", one.pod);
    json.field("how", replayer::name_of(one.how));
    if (one.how == QueuedPod::How::kInLine) {
      json.field("place", one.place);
    } else {
      json.nothing("place");
    }
    add_since(json, one.since);
    add_until(json, "until", one.until);
    json.end_object();
  }

  void add_real(JsonWriter& json, const PodFacts& pod) const {
    json.begin_object();
    add_pod(json, catalog_, "pod", pod.pod);
    add_node(json, catalog_, "node", pod.node);
    json.field("phase", kPhases[static_cast<size_t>(pod.phase)]).field("deleting", pod.deletion.known());
    json.field("rv", pod.rv).field("takes", shape_text(pod.shape)).end_object();
  }

  void add_nodes(JsonWriter& json, std::string_view name, const scheduler::NodeBooks& books) const {
    json.key(name).begin_array();
    for (const NodeId id : replayer::nodes_of(books, catalog_)) {
      const NodeBook& book = books.book(id);
      const Resources* has = allocatable(book);
      json.begin_object().field("name", catalog_.node_name(id)).field("known", book.known);
      json.key("charged").begin_object().field("pods", book.pods).field("cpu_milli", narrowed(book.cpu_milli));
      json.field("memory_bytes", narrowed(book.memory)).field("ephemeral_bytes", narrowed(book.ephemeral));
      json.key("extended").begin_object();
      for (const scheduler::NamedSum& sum : book.extended) json.field(sum.name, narrowed(sum.amount));
      json.end_object().key("host_ports").begin_array();
      for (const scheduler::PortCharge& charge : book.ports) json.value(port(*charge.port));
      json.end_array().end_object();
      if (has == nullptr) {
        json.nothing("free");
      } else {
        const int64_t pods = catalog_.allocatable(book.facts.allocatable).pods;
        json.key("free").begin_object().field("pods", narrowed(Int128{pods} - book.pods));
        json.field("cpu_milli", narrowed(has->cpu_milli - book.cpu_milli));
        json.field("memory_bytes", narrowed(has->memory - book.memory));
        json.field("ephemeral_bytes", narrowed(has->ephemeral - book.ephemeral)).end_object();
      }
      json.end_object();
    }
    json.end_array();
  }

  static constexpr size_t kTitle = 11;  // columns

  const StateShown& state_;
  const Catalog& catalog_;
  Time now_;
  std::map<PodId, std::string> wrong_;
};

std::vector<Finding> open_at(const StateShown& state) { return state.run.open(state.shown.stop->at); }

}  // namespace

std::string state_text(const StateShown& state, Style style) {
  return run_head(state.shown, style) + StateReport(state).tables(style);
}

std::string state_json(const StateShown& state) {
  JsonWriter json("state");
  add_run(json, state.shown);
  const StateReport report(state);
  report.add_instant(json);
  report.add_stores(json);
  return json.finish();
}

std::string until_text(const StateShown& state, Style style, const Limits& limits) {
  const StateReport report(state);
  std::vector<Finding> young = open_at(state);
  std::erase_if(young, [&](const Finding& one) { return report.counts(one); });
  std::string out = run_text(state.shown, style, limits);
  if (!young.empty()) {
    out += fmt::format("\n{} within the lag bound\n{}", counted(young.size(), "difference"), report.differences(young));
  }
  return out + report.tables(style);
}

std::string until_json(const StateShown& state) {
  JsonWriter json("replay until");
  add_run(json, state.shown);
  const StateReport report(state);
  report.add_instant(json);
  report.add_differences(json, open_at(state));
  report.add_stores(json);
  return json.finish();
}

std::string open_text(const StateShown& state, Style style) {
  const std::vector<Finding> open = open_at(state);
  const std::string head = run_head(state.shown, style) + "found    ";
  if (open.empty()) return head + style.good("no difference") + ": stores and truth agree at this instant\n";
  const StateReport report(state);
  const auto findings = std::count_if(open.begin(), open.end(), [&](const Finding& one) { return report.counts(one); });
  return head + style.bad(counted(open.size(), "difference")) +
         fmt::format(", {} for longer than the lag bound of {}\n\n", findings, span(state.shown.config.lag)) +
         report.differences(open);
}

std::string open_json(const StateShown& state) {
  JsonWriter json("diff");
  json.field("what", "stores and truth");
  add_run(json, state.shown);
  const StateReport report(state);
  report.add_instant(json);
  report.add_differences(json, open_at(state));
  return json.finish();
}

}  // namespace inquest::report
