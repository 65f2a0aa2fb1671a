// Random days, policies and plans: what the run's judge finds is what a slow, obvious one finds that looks at
// everything after every step.
#include "replayer/reference_judge.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "replayer/random_day.h"

namespace inquest::replayer {
namespace {

// The events of a day, a line each: for whoever looks into a disagreement.
std::string told(const Recording& recording) {
  const Catalog& catalog = recording.catalog();
  std::ostringstream out;
  const auto show = [&](const PodFacts& pod) {
    out << " " << catalog.uid(pod.pod) << " rv " << pod.rv << " node " << catalog.node_name(pod.node) << " phase "
        << static_cast<int>(pod.phase);
  };
  for (const Event& event : recording.events()) {
    out << (event.at - recording.start()).ns / 1'000'000 << " ms @" << event.seq << " kind "
        << static_cast<int>(event.kind) << " verb " << static_cast<int>(event.verb) << (event.in_view ? "" : " aside");
    if (event.kind == EventKind::kPod) show(recording.pods()[event.index]);
    if (event.kind == EventKind::kPodsListed) {
      const ListRange range = recording.lists()[event.index];
      for (const PodFacts& pod : recording.pods().subspan(range.first, range.count)) show(pod);
    }
    if (event.kind == EventKind::kBindRequest || event.kind == EventKind::kBindAnswer) {
      const RecordedBind& bind = recording.binds()[event.index];
      out << " " << catalog.uid(bind.pod) << " " << catalog.node_name(bind.node) << " by "
          << catalog.text(bind.scheduler) << (bind.won() ? " won" : " lost") << (bind.inferred ? " inferred" : "");
    }
    out << "\n";
  }
  return out.str();
}

void agrees(const Recording& recording, const RunConfig& config, const std::string& what) {
  SCOPED_TRACE(joined({what, ": ", described(config)}));
  auto run = Run::start(recording, config);
  ASSERT_TRUE(run.ok()) << run.error().message();
  std::vector<StringId> own;
  for (const PodFacts& pod : recording.pods()) {
    if (recording.catalog().text(pod.scheduler) == TestTrace::kScheduler) own = {pod.scheduler};
  }
  ReferenceJudge reference(recording, config, own);
  run->world().observe(reference);
  while (run->advance()) reference.instant_over(run->world());
  const Time end = run->end();
  const Outcome outcome = run->finish();
  EXPECT_EQ(reference.mistakes(), std::vector<std::string>{});
  EXPECT_EQ(reference.words(outcome), reference.findings(end)) << told(recording);
}

// `days` traces, each run `runs` times.
void all_agree(uint64_t seed, int days, int runs) {
  SplitMix random(seed);
  for (int day = 0; day < days && !testing::Test::HasFailure(); ++day) {
    const uint64_t made_of = random.next();
    const auto recording = RandomDay(made_of).record(40 + static_cast<int>(random.below(80)));
    for (int i = 0; i < runs; ++i) {
      RunConfig config;
      config.policy = random_policy(random);
      config.plan.faults = random_faults(random, recording->info().records);
      config.mode = random.one_in(4) ? Mode::kDecide : Mode::kFollow;
      config.scheduler_names = {std::string(TestTrace::kScheduler)};
      agrees(*recording, config, joined({"day ", std::to_string(day), " of seed ", std::to_string(seed)}));
    }
  }
}

uint64_t seed() {
  const char* given = std::getenv("INQUEST_SEED");
  return given == nullptr ? 6023 : std::strtoull(given, nullptr, 10);
}

TEST(ReferenceJudge, FindsWhatTheJudgeFinds) { all_agree(seed(), 20, 8); }
TEST(ReferenceJudgeSlow, FindsWhatTheJudgeFinds) {
  for (uint64_t i = 1; i <= 100 && !testing::Test::HasFailure(); ++i) all_agree(seed() + i, 20, 8);
}

}  // namespace
}  // namespace inquest::replayer
