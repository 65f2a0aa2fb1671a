#include "replayer/scenario.h"

#include <gtest/gtest.h>

#include "kube/decode.h"
#include "replayer/checkpoints.h"
#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using trace::Record;
using trace::RecordKind;

const std::string kHead = "inquest: steps/1\n";

Scenario parsed(const std::string& text) {
  auto scenario = parse_scenario(kHead + text, "x.yaml");
  INQUEST_CHECK(scenario.ok(), scenario.ok() ? "" : scenario.error().message());
  return *std::move(scenario);
}

std::string steps(const std::string& lines) { return "nodes: [n1, n2]\nsteps:\n" + lines; }

// The trace of a scenario in a folder of the test's.
class Written {
 public:
  explicit Written(const std::string& text) : Written(parsed(text), "test.trace") {}
  Written(const Scenario& scenario, std::string_view file) : path_(folder_.path(file)) {
    Catalog catalog;
    auto writer = trace::TraceWriter::create(path_, trace_header(scenario), catalog);
    INQUEST_CHECK(writer.ok(), path_);
    result_ = write_trace(scenario, *writer, catalog);
  }
  const Result<void>& result() const { return result_; }
  const std::string& path() const { return path_; }
  trace::TraceReader reader() const {
    auto reader = trace::TraceReader::open(path_);
    INQUEST_CHECK(reader.ok(), path_);
    return *std::move(reader);
  }

 private:
  TestFolder folder_;
  std::string path_;
  Result<void> result_;
};

// One word a record, as the tests below compare them: "pods ADDED pod1 3 n1".
std::vector<std::string> records_of(const std::string& text) {
  const Written written(text);
  INQUEST_CHECK(written.result().ok(), written.result().ok() ? "" : written.result().error().message());
  trace::TraceReader reader = written.reader();
  std::vector<std::string> out;
  while (true) {
    const Record* record = *reader.next();
    if (record == nullptr) return out;
    if (record->kind == RecordKind::kSource) continue;
    static constexpr const char* kNames[] = {"list", "frame",    "bookmark", "error",       "open",  "close",
                                             "sent", "answered", "gap",      "undecodable", "source"};
    static constexpr const char* kVerbs[] = {"ADDED", "MODIFIED", "DELETED"};
    const Catalog& catalog = reader.catalog();
    std::string line = record->kind == RecordKind::kFrame ? kVerbs[static_cast<size_t>(record->verb)]
                                                          : kNames[static_cast<size_t>(record->kind)];
    line.insert(0, " ").insert(0, reader.info().streams[record->stream.value].stream.name);
    if (record->checkpoint) line += " checkpoint";
    for (const ObjectFacts& object : record->objects) {
      if (const auto* pod = std::get_if<PodFacts>(&object)) {
        line.append(" ").append(catalog.name(catalog.key_of(pod->pod)));
        if (pod->bound()) line.append("@").append(catalog.node_name(pod->node));
      }
      if (const auto* node = std::get_if<NodeFacts>(&object)) line.append(" ").append(catalog.node_name(node->node));
    }
    if (record->kind == RecordKind::kGap) line += " from " + std::to_string(record->gap_from);
    if (record->kind == RecordKind::kBindAnswer) line += " " + std::to_string(record->bind.code);
    if (record->rv != 0) line += " rv " + std::to_string(record->rv);
    out.push_back(line);
  }
}

TEST(Scenario, ATraceBeginsWithListsAndGoesOnWithFrames) {
  const std::vector<std::string> expected = {"nodes list n1 n2 rv 4",  "nodes open rv 4",
                                             "pods list old@n1 rv 4",  "pods open rv 4",
                                             "pods ADDED pod1 rv 5",   "x.binds sent",
                                             "x.binds answered 201",   "pods MODIFIED pod1@n2 rv 6",
                                             "nodes MODIFIED n1 rv 7", "pods DELETED pod1@n2 rv 8",
                                             "pods bookmark rv 8",     "pods list checkpoint old@n1 rv 8"};
  const std::vector<std::string> records = records_of(
      "nodes: [n1, n2]\npods: [old node=n1]\nsteps:\n- +1s pod1 created\n- +2s pod1 placed on n2\n"
      "- +3s node n1 changed unschedulable=true\n- +4s pod1 deleted\n- pods bookmark\n- pods listed\n");
  EXPECT_EQ(records, expected);
}

TEST(Scenario, AWatchThatIsCutShowsLaterWhatItMissed) {
  const std::string story = "- +1s pod1 created\n- +2s pods cut\n- +3s pod1 changed label.a=b\n- pod1 deleted\n";
  const std::vector<std::string> cut = {"pods ADDED pod1 rv 4", "pods close"};
  const auto after = [&](const std::string& step) {
    std::vector<std::string> records = records_of(steps(story + "- +4s pods " + step + "\n"));
    records.erase(records.begin(), records.begin() + 4);
    EXPECT_EQ((std::vector<std::string>{records.begin(), records.begin() + 2}), cut);
    records.erase(records.begin(), records.begin() + 2);
    return records;
  };
  EXPECT_EQ(after("resumed"),
            (std::vector<std::string>{"pods open rv 4", "pods MODIFIED pod1 rv 5", "pods DELETED pod1 rv 6"}));
  EXPECT_EQ(after("relisted"), (std::vector<std::string>{"pods gap from 4 rv 6", "pods list rv 6", "pods open rv 6"}));
  EXPECT_EQ(after("gap"), (std::vector<std::string>{"pods gap from 4 rv 6", "pods open rv 6"}));
  EXPECT_EQ(after("gone"), (std::vector<std::string>{"pods open rv 4", "pods error", "pods close"}));
}

TEST(Scenario, AListShowsWhatA201HasDone) {
  const auto records = records_of(
      steps("- pod1 created\n- +1s pod1 sent to n1\n- +2s pod1 answered 201\n- pods cut\n- +3s pods relisted\n"));
  EXPECT_EQ(records[records.size() - 2], "pods list pod1@n1 rv 5");
}

// What a run sees of a trace is what decoding its bodies gives, and its bodies are what the API server writes.
TEST(Scenario, FactsAreThoseOfTheBodies) {
  const Written written(steps(
      "- pod1 created cpu=1500m memory=1Gi hostPort=8080,53/UDP priority=9 scheduler=toy gated=true label.app=web "
      "selector.zone=z1 tolerates.dedicated=infra:NoSchedule tolerates.a=NoExecute example.com/widget=3\n"
      "- node n3 added cpu=2 memory=4Gi pods=10 ready=false unschedulable=true taint.dedicated=infra:NoSchedule\n"
      "- pod1 unschedulable by toy\n- +1s pod1 placed on n1 by toy\n- +2s pod1 running\n- pod1 deleting\n- pod1 "
      "deleted\n"));
  ASSERT_TRUE(written.result().ok()) << written.result().error().message();
  trace::TraceReader reader = written.reader();
  kube::Decoder decoder(reader.mutable_catalog());
  size_t compared = 0;
  while (const Record* record = *reader.next()) {
    const std::string body = *reader.body(record->seq);
    if (record->kind == RecordKind::kFrame) {
      const auto frame = decoder.frame(body);
      ASSERT_TRUE(frame.ok()) << body;
      EXPECT_EQ(rv_of(frame.value().object), record->rv);
      EXPECT_EQ(frame.value().object.index(), record->objects.front().index());
      ++compared;
    }
  }
  EXPECT_EQ(compared, 7U);
  EXPECT_EQ(decoder.warning_count(), 0U);
}

TEST(Scenario, AnswersAreWordedAsTheServerWordsThem) {
  const std::pair<std::string, std::string> rows[] = {
      {"- pod1 sent to n1\n- pod1 confirmed on n2\n- pod1 answered 409\n",
       "Operation cannot be fulfilled on pods/binding \"pod1\": pod pod1 is already assigned to node \"n2\""},
      {"- pod1 sent to n1\n- pod1 deleting\n- pod1 answered 409\n", "pod pod1 is being deleted, cannot be assigned"},
      {"- pod1 sent to n1\n- pod1 deleted\n- pod1 answered 404\n", "pods \"pod1\" not found"},
      {"- pod1 sent to n1\n- pod1 deleted\n- pod1 re-created\n- pod1 answered 409\n", "UID in precondition: "},
      {"- pod1 sent to n1\n- pod1 answered lost\n", "connection reset by peer"},
      {"- pod1 sent to n1\n- pod1 answered 504\n", "request did not complete"}};
  for (const auto& [story, message] : rows) {
    const Written written(steps("- pod1 created\n" + story));
    ASSERT_TRUE(written.result().ok()) << story << written.result().error().message();
    trace::TraceReader reader = written.reader();
    std::string said;
    while (const Record* record = *reader.next()) {
      if (record->kind == RecordKind::kBindAnswer) said = reader.catalog().text(record->bind.message);
    }
    EXPECT_NE(said.find(message), std::string::npos) << story << said;
  }
}

TEST(Scenario, TheWatchAgreesWithTheListsBesideIt) {
  const Written written(
      steps("- pod[1-9] created every=100ms\n- pods listed\n- +2s pod[1-5] placed on n1 every=1s\n"
            "- +10s pod[1-3] deleted\n- pods listed\n- nodes listed\n"));
  ASSERT_TRUE(written.result().ok()) << written.result().error().message();
  trace::TraceReader reader = written.reader();
  const auto report = compare_checkpoints(reader);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().differences, 0U);
  EXPECT_TRUE(reader.info().complete());
  EXPECT_FALSE(reader.check_integrity().value());
}

TEST(Scenario, TheSameFileMakesTheSameTrace) {
  const Scenario scenario = parsed(steps("- pod1 created\n- +1s pod1 placed on n1\n"));
  const Written a(scenario, "a.trace"), b(scenario, "b.trace");
  trace::TraceReader x = a.reader(), y = b.reader();
  EXPECT_EQ(x.info().uuid, y.info().uuid);
  while (true) {
    const Record* one = *x.next();
    const Record* two = *y.next();
    ASSERT_EQ(one == nullptr, two == nullptr);
    if (one == nullptr) break;
    EXPECT_EQ(*x.body(one->seq), *y.body(two->seq));
  }
}

// Each story's last step cannot be; the message says its line.
void expect_impossible(const std::vector<std::pair<std::string, std::string>>& rows) {
  for (const auto& [story, message] : rows) {
    const Written written(steps(story));
    ASSERT_FALSE(written.result().ok()) << story;
    EXPECT_NE(written.result().error().message().find(message), std::string::npos)
        << story << written.result().error().message();
  }
}

TEST(Scenario, ObjectsThatCannotBe) {
  expect_impossible(
      {{"- pod1 deleted\n", "x.yaml:4: there is no 'pod1' (created first)"},
       {"- pod1 created\n- pod1 created\n", "x.yaml:5: 'pod1' is there already"},
       {"- pod1 re-created\n", "x.yaml:4: there was no 'pod1' before (say created)"},
       {"- pod1 created\n- pod1 deleted\n- pod1 created\n", "x.yaml:6: 'pod1' was there before (say re-created"},
       {"- pod1 created\n- pod1 deleted\n- pod1 running\n", "x.yaml:6: 'pod1' is gone by then"},
       {"- pod1 created\n- pod1 running\n", "x.yaml:5: 'pod1' has no node to run on (placed first)"},
       {"- pod1 created\n- pod1 changed node=n1\n", "x.yaml:5: a pod's node does not change (say confirmed on)"},
       {"- pod1 created\n- pod1 deleting\n- pod1 deleting\n", "x.yaml:6: 'pod1' is being deleted already"},
       {"- node n1 added\n", "x.yaml:4: 'n1' is there already"},
       {"- node n9 removed\n", "x.yaml:4: there is no 'n9' (added first)"},
       {"- pod1 created requests.a/b=1\n", "x.yaml:4: pod default/pod1: spec.containers"}});
}

TEST(Scenario, BindsThatCannotBe) {
  expect_impossible(
      {{"- pod1 sent to n1\n", "x.yaml:4: there is no 'pod1' (created first)"},
       {"- pod1 created\n- pod1 answered 201\n", "x.yaml:5: no bind of 'pod1' waits for an answer (sent first)"},
       {"- pod1 created\n- pod1 sent to n1\n- pod1 answered 201 to toy\n", "x.yaml:6: no bind of 'pod1' by toy waits"},
       {"- pod1 created\n- pod1 confirmed\n", "x.yaml:5: no bind of 'pod1' can have given it a node"},
       {"- pod1 created\n- pod1 sent to n1\n- pod1 answered 409\n- pod1 confirmed\n", "x.yaml:7: no bind of 'pod1'"},
       {"- pod1 created node=n1\n- pod1 confirmed on n2\n", "x.yaml:5: 'pod1' has a node already: n1"},
       {"- pod1 created\n- pod1 sent to n1\n- pod1 answered 201\n- pod1 deleted\n",
        "x.yaml:7: the bind of 'pod1' was answered 201, and no frame has shown it (confirmed first)"},
       {"- pod1 created\n- pod1 sent to n1\n- pod1 answered 201\n- pods listed\n",
        "x.yaml:7: the bind of 'pod1' was answered 201: a list would show it (confirmed first)"}});
}

TEST(Scenario, WatchesThatCannotBe) {
  expect_impossible(
      {{"- pods resumed\n", "x.yaml:4: the watch of pods is open (cut or gone first)"},
       {"- pods cut\n- pods cut\n", "x.yaml:5: the watch of pods is not open (resumed or relisted first)"},
       {"- pods cut\n- pods bookmark\n", "x.yaml:5: the watch of pods is not open"},
       {"- pods gone\n- pods resumed\n", "x.yaml:5: after 410 Gone only a list goes on (say 'pods relisted')"}});
}

TEST(Scenario, WhatAFileMayHold) {
  const Scenario scenario = parsed(
      "about: a story\nclaim: A08\nstart: 2030-01-02T03:04:05Z\nnodes:\n- n1 cpu=2\nsteps:\n- +2s pod1 created\n"
      "faults:\n- drop: {name: pod1}\n"
      "run: {mode: decide, as: toy, scheduler-name: theirs, bind-rtt: 5ms, deliver: 1ms, kubelet-start: 1s, "
      "kubelet-stop: 2s, lag: 3s, drain: 4s, seed: 7}\n");
  EXPECT_EQ(scenario.name, "x");
  EXPECT_EQ(scenario.about, "a story");
  EXPECT_EQ(scenario.claim, "A08");
  EXPECT_EQ(scenario.start.ns, 1'893'553'445'000'000'000);
  EXPECT_EQ(scenario.present.size(), 1U);
  EXPECT_EQ(scenario.steps.size(), 1U);
  EXPECT_EQ(scenario.plan.faults.size(), 1U);
  const RunConfig config = run_config(scenario, *scheduler::preset("naive"));
  EXPECT_EQ(config.policy.name, "naive");
  EXPECT_EQ(config.plan.faults.size(), 1U);
  EXPECT_EQ(config.mode, Mode::kDecide);
  EXPECT_EQ(config.pace.bind_rtt, Duration::milliseconds(5));
  EXPECT_EQ(config.pace.deliver, Duration::milliseconds(1));
  EXPECT_EQ(config.pace.kubelet_start, Duration::seconds(1));
  EXPECT_EQ(config.pace.kubelet_stop, Duration::seconds(2));
  EXPECT_EQ(config.as, "toy");
  EXPECT_EQ(config.scheduler_names, (std::vector<std::string>{"theirs"}));
  EXPECT_EQ(config.lag, Duration::seconds(3));
  EXPECT_EQ(config.drain, Duration::seconds(4));
  EXPECT_EQ(config.seed, 7U);
}

TEST(Scenario, StepsOfOneLineFallBetweenThoseOfOthers) {
  const Scenario scenario = parsed(steps("- pod1 created\n- +1s pod1 placed on n1\n- 5ms later, pod2 created\n"));
  ASSERT_EQ(scenario.steps.size(), 5U);
  EXPECT_EQ(scenario.steps[1].kind, StepKind::kSent);
  EXPECT_EQ(scenario.steps[2].name, "pod2");
  EXPECT_EQ(scenario.steps[3].kind, StepKind::kAnswered);
}

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  while (times-- > 0) out += text;
  return out;
}

TEST(Scenario, ABadFileSaysWhere) {
  const std::pair<std::string, std::string> rows[] = {
      {"", "x.yaml: it is empty (a steps file is one YAML document that starts with 'inquest: steps/1')"},
      {"steps: []\n", "x.yaml:1: the line 'inquest: steps/1' is missing"},
      {"inquest: steps/2\n", "x.yaml:1: this reads steps/1 (a newer file needs a newer inquest)"},
      {kHead + "step: []\n", "x.yaml:2: a steps file has no field 'step' (fields: inquest, about"},
      {kHead + "steps: 7\n", "x.yaml:2: 'steps' takes a list"},
      {kHead + "steps:\n- pod1 created\nsteps: []\n", "x.yaml:4: 'steps' stands here twice"},
      {kHead + "steps:\n- pod1 created {cpu: 1}\n", "x.yaml:3: a line of 'steps' is words"},
      {kHead + "steps:\n- pod1 craeted\n", "x.yaml:3: pods know no step 'craeted' (did you mean 'created'?)"},
      {kHead + "nodes:\n- n1 cpus=4\n", "x.yaml:3: a node has no setting 'cpus' (did you mean 'cpu'?)"},
      {kHead + "about: [a]\n", "x.yaml:2: 'about' takes a sentence"},
      {kHead + "about: " + std::string(5000, 'a') + "\n", "x.yaml:2: 'about' is longer than 4 KiB"},
      {kHead + "start: noon\n", "x.yaml:2: 'start' takes an instant after 1970"},
      {kHead + "start: 1969-01-01T00:00:00Z\n", "x.yaml:2: 'start' takes an instant after 1970"},
      {kHead + "run: {mode: both}\n", "x.yaml:2: mode takes follow or decide"},
      {kHead + "run: {sped: 1}\n", "x.yaml:2: run has no field 'sped'"},
      {kHead + "run: {seed: -1}\n", "x.yaml:2: seed takes a whole number"},
      {kHead + "run: {lag: long}\n", "x.yaml:2: "},
      {kHead + "run: {lag: [1s]}\n", "x.yaml:2: 'lag' takes one value"},
      {kHead + "faults:\n- drop: {name: a, colour: b}\n", "x.yaml:3: 'drop' takes no field 'colour'"},
      {kHead + "steps:\n- +900000h pod1 created\n", "x.yaml:3: it lies more than 100 years after the start"},
      {kHead + "steps:\n" + repeated("- pod[1-10000] running\n", 11), "x.yaml:13: more than 100000 steps"},
      {kHead + "steps:\n" + repeated("- pod[1-9000] changed label.a=" + std::string(1000, 'b') + "\n", 9),
       "more than 64 MiB when each pod has its own"},
      {kHead + "steps:\n" + repeated("- ", 5000), "nested too deeply for a steps file"},
      {kHead + std::string(size_t{1} << 20, '#'), "x.yaml: a steps file is at most 1 MiB"},
      {kHead + "steps: [*nobody]\n", "x.yaml:2: not YAML: "},
      {std::string("\0\1\2", 3), "x.yaml"}};
  for (const auto& [text, message] : rows) {
    const auto scenario = parse_scenario(text, "x.yaml");
    ASSERT_FALSE(scenario.ok()) << text.substr(0, 200);
    EXPECT_NE(scenario.error().message().find(message), std::string::npos)
        << text.substr(0, 200) << "\n  " << scenario.error().message();
    EXPECT_LT(scenario.error().message().size(), 500U);
  }
}

// An alias names again what stands there already: bounded by the limits like what is written out.
TEST(Scenario, AliasesMultiplyNothing) {
  const auto scenario =
      parse_scenario(kHead + "nodes: &n [n1]\nsteps:\n- &s pod[1-10000] created\n" + repeated("- *s\n", 20), "x.yaml");
  ASSERT_FALSE(scenario.ok());
  EXPECT_NE(scenario.error().message().find("more than 100000 steps"), std::string::npos) << scenario.error().message();
}

TEST(Scenario, ItsFirstKeySaysWhatItIs) {
  for (const char* text :
       {"inquest: steps/1\n", "# a story\n\n---\ninquest: steps/1\n", "\xef\xbb\xbfinquest: 'steps/9'\n"}) {
    EXPECT_TRUE(looks_like_steps(text)) << text;
  }
  for (const char* text :
       {"", "{\"t\":1}\n", "inquest: plan/1\n", "about: x\ninquest: steps/1\n", "inquest:\n", "# only\n"}) {
    EXPECT_FALSE(looks_like_steps(text)) << text;
  }
}

TEST(Scenario, AFolderIsReadByName) {
  const TestFolder folder;
  EXPECT_NE(load_scenarios(folder.path("no")).error().message().find("the folder cannot be read"), std::string::npos);
  EXPECT_NE(load_scenarios(folder.path()).error().message().find("no steps file (*.yaml) is in it"), std::string::npos);
  for (const char* name : {"b.yaml", "a.yaml", "c.txt"}) folder.write(name, kHead);
  const auto scenarios = load_scenarios(folder.path());
  ASSERT_TRUE(scenarios.ok()) << scenarios.error().message();
  ASSERT_EQ(scenarios.value().size(), 2U);
  EXPECT_EQ(scenarios.value()[0].name, "a");
  EXPECT_EQ(scenarios.value()[1].name, "b");
  folder.write("d.yaml", "bad");
  EXPECT_FALSE(load_scenarios(folder.path()).ok());
}

}  // namespace
}  // namespace inquest::replayer
