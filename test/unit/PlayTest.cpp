//===- PlayTest.cpp - the clock of a played schedule, and its distribution --------------------------------------===//
#include "RandomProgram.h"
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <sstream>

using namespace braid::cost;
using namespace braid::cost::testing;

static Seconds always10us(int, int, uint64_t) { return microseconds(10); }

TEST_CASE("play: compute runs in order, a channel serves one at a time, a wait blocks") {
  Program program = programOf(
      {compute("a", 5), compute("b", 7), collective("r0", 8, {0}), collective("r1", 8, {0}), compute("c", 1, {3})});
  Schedule schedule{{{{{{2}, 0}, {{3}, 0}},
                      {{Event::Run, 0},
                       {Event::Start, 0},
                       {Event::Start, 1},
                       {Event::Run, 1},
                       {Event::Wait, 1},
                       {Event::Run, 4},
                       {Event::Wait, 0}}}}};
  Pricer pricer = smallPricer();
  Played played = play(program, schedule, pricer, always10us, true);
  // a 0..5, r0 5..15, r1 15..25, b 5..12, waits until 25, c 25..26
  CHECK(played.total.value == Approx(26e-6));
  CHECK(played.compute.value == Approx(13e-6));
  CHECK(played.exposed.value == Approx(13e-6));
  REQUIRE(played.timeline.size() == 5);
  CHECK(played.timeline[1].name == "r0, 8 B");
  CHECK(played.timeline[1].begin.value == Approx(5e-6));
  CHECK(played.timeline[2].begin.value == Approx(15e-6));
  CHECK(play(program, schedule, pricer, always10us).total == played.total);
  // Neighbouring kernels stay apart in the timeline.
  Program kernels = programOf({compute("a", 5), compute("b", 7)});
  CHECK(playWithoutNoise(kernels, {{{{}, {{Event::Run, 0}, {Event::Run, 1}}}}}, pricer, true).timeline.size() == 2);
  // On the other fabric, r1 does not queue behind r0.
  program.blocks[0].tasks[3].spec.groups = pairsInHosts();
  CHECK(play(program, schedule, pricer, always10us).total.value == Approx(16e-6));
}

TEST_CASE("play: nested blocks are multiplied, drawn for eight trips, shown for 64") {
  Task loop = compute("loop", 0);
  loop.kind = Task::Nested;
  loop.block = 0;
  loop.trips = 100;
  Program program;
  program.ranks = 8;
  program.blocks.push_back({"body", {compute("x", 1), collective("r", 8, {0})}, {}});
  program.blocks.push_back({"main", {compute("before", 3), loop, compute("after", 4, {1})}, {}});
  Schedule schedule{{{{{{1}, 0}}, {{Event::Run, 0}, {Event::Start, 0}, {Event::Wait, 0}}},
                     {{}, {{Event::Run, 0}, {Event::Run, 1}, {Event::Run, 2}}}}};
  Pricer pricer = smallPricer();
  Played played = play(program, schedule, pricer, always10us, true);
  CHECK(played.total.value == Approx((3 + 100 * 11 + 4) * 1e-6));
  CHECK(played.compute.value == Approx((3 + 100 + 4) * 1e-6));
  CHECK(played.exposed.value == Approx(100 * 10e-6));
  CHECK(played.timeline.size() == 2 + 2 * 64);

  // Trip k takes k microseconds more: eight are drawn, the ninth is like the first.
  std::vector<uint64_t> asked;
  auto counting = [&](int, int, uint64_t operation) {
    asked.push_back(operation);
    return microseconds(double(operation + 1));
  };
  program.blocks[1].tasks[1].trips = 10.5;
  played = play(program, schedule, pricer, counting);
  CHECK(asked == std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(played.total.value == Approx((7 + (36 + 8) + (1 + 1) + (2 + 1) + 0.5 * (3 + 1)) * 1e-6));
  asked.clear();
  Played shown = play(program, schedule, pricer, counting, true);
  CHECK(shown.total == played.total);
  CHECK(shown.timeline.size() == 2 + 2 * 11);
  CHECK(asked == std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2});
  program.blocks[1].tasks[1].trips = 0;
  CHECK(play(program, schedule, pricer, always10us).total.value == Approx(7e-6));
}

TEST_CASE("play: random schedules, with and without a timeline, and intervals that do not overlap") {
  Pricer pricer = smallPricer();
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Program program = randomProgram(seed);
    std::mt19937_64 random(seed);
    ListOptions options = randomOptions(random);
    Schedule schedule = scheduleProgram(program, randomRule(random), pricer, options);
    Played plain = playWithoutNoise(program, schedule, pricer),
           shown = playWithoutNoise(program, schedule, pricer, true);
    CHECK(plain.total.value == Approx(shown.total.value));
    CHECK(plain.total.value == Approx(plain.compute.value + plain.exposed.value));
    std::vector<Interval> tracks[3];
    for (const Interval &interval : shown.timeline)
      tracks[interval.bucket < 0 ? 0 : interval.fabric == Fabric::Intra ? 1 : 2].push_back(interval);
    for (auto &track : tracks)
      for (size_t i = 1; i < track.size(); ++i)
        CHECK(track[i].begin.value >= track[i - 1].end.value - 1e-12);
  }
}

TEST_CASE("quantiles: ordered, above the noiseless time, the same for a seed, another for another seed") {
  Pricer pricer = smallPricer(/*noise=*/true);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Program program = randomProgram(seed);
    Schedule schedule = scheduleProgram(program, {}, pricer, {});
    SampleOptions options;
    Quantiles q = quantiles(program, schedule, pricer, options);
    CHECK(q.p50 <= q.p95);
    CHECK(q.p95 <= q.p99);
    CHECK(q.standardError.value > 0);
    CHECK(q.standardError < q.standardError99);
    Quantiles again = quantiles(program, schedule, pricer, options);
    CHECK(q.p50 == again.p50);
    CHECK(q.p99 == again.p99);
    options.seed = 2;
    CHECK(!(quantiles(program, schedule, pricer, options).p99 == q.p99));
    Objective training, serving{ObjectiveKind::Serving, 0.99};
    options.seed = 1;
    CHECK(objective(program, schedule, pricer, serving, options) == q.p99);
    CHECK(objective(program, schedule, pricer, training, options) > playWithoutNoise(program, schedule, pricer).total);
    Objective slowJob{ObjectiveKind::Training, 0.95};
    CHECK(objective(program, schedule, pricer, slowJob, options) >=
          objective(program, schedule, pricer, training, options));
  }
}

TEST_CASE("objective: training is the mean over steps, at the quantile over jobs; draws are those of the pricer") {
  Pricer pricer = smallPricer(true);
  Program program = programOf({collective("r", 1 << 20, {}), collective("s", 1 << 20, {0})});
  Schedule schedule = scheduleProgram(program, {}, pricer, {});
  const Candidate &candidate = pricer.candidates(program.blocks[0].tasks[0].spec)[0];
  SampleOptions options;
  options.jobs = 5;
  options.steps = 7;
  options.seed = 3;
  std::vector<double> means;
  for (uint64_t job = 0; job < 5; ++job) {
    double sum = 0;
    for (uint64_t step = 0; step < 7; ++step)
      for (uint64_t operation : {0, 1})
        sum += pricer.draw(candidate, Fabric::Inter, 3, job, step, operation).value;
    means.push_back(sum / 7);
  }
  std::sort(means.begin(), means.end());
  CHECK(objective(program, schedule, pricer, {}, options).value == Approx(means[2]));
  CHECK(objective(program, schedule, pricer, {ObjectiveKind::Training, 1}, options).value == Approx(means[4]));
}

TEST_CASE("quantiles: without variance every quantile and objective is the played time") {
  Pricer pricer = smallPricer();
  Program program = randomProgram(3);
  Schedule schedule = scheduleProgram(program, {}, pricer, {});
  Seconds total = playWithoutNoise(program, schedule, pricer).total;
  Quantiles q = quantiles(program, schedule, pricer, {});
  CHECK(q.p50 == total);
  CHECK(q.p99 == total);
  CHECK(q.standardError.value == 0);
  CHECK(objective(program, schedule, pricer, {ObjectiveKind::Serving, 0.99}, {}) == total);
  CHECK(objective(program, schedule, pricer, {}, {}) == total);
}

TEST_CASE("quantiles: standard error agrees with the spread over seeds") {
  Pricer pricer = smallPricer(true);
  Program program = randomProgram(7);
  Schedule schedule = scheduleProgram(program, {}, pricer, {});
  double sum = 0, squares = 0, stated = 0;
  constexpr int seeds = 40;
  for (int seed = 1; seed <= seeds; ++seed) {
    SampleOptions options;
    options.seed = uint64_t(seed);
    Quantiles q = quantiles(program, schedule, pricer, options);
    sum += q.p50.value;
    squares += q.p50.value * q.p50.value;
    stated += q.standardError.value / seeds;
  }
  double deviation = std::sqrt(squares / seeds - sum / seeds * (sum / seeds));
  CHECK(stated < 2 * deviation);
  CHECK(stated > deviation / 2);
}

TEST_CASE("timeline: one process per policy, three tracks, written whole or not at all") {
  Pricer pricer = smallPricer();
  Program program = randomProgram(4);
  Played played = playWithoutNoise(program, scheduleProgram(program, {}, pricer, {}), pricer, true);
  CHECK(writeTimeline({{"before", played}, {"after", played}}, "/nonexistent/folder/t.json") != "");
  std::string path = "timeline-test.json";
  REQUIRE(writeTimeline({{"before", played}, {"after", played}}, path) == "");
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  for (const char *word : {"before", "after", "compute", "intra-host", "inter-host"})
    CHECK(text.str().find("\"" + std::string(word) + "\"") != std::string::npos);
  std::remove(path.c_str());
}

TEST_CASE("samples: fewer where a step draws many, as asked where it does not") {
  Program program;
  program.blocks.resize(2);
  program.blocks[0].tasks.assign(100, collective("c", 8, {}));
  Task loop;
  loop.kind = Task::Nested;
  loop.block = 0;
  loop.trips = 5;
  program.blocks[1].tasks = {loop};
  SampleOptions asked;
  CHECK(affordable(program, asked).samples == asked.samples);
  CHECK(affordable(program, asked).steps == asked.steps);
  program.blocks[1].tasks.assign(3, loop);
  CHECK(affordable(program, asked).samples < asked.samples);
  CHECK(affordable(program, asked).steps < asked.steps);
  asked.samples = 10; // never more than what was asked for
  CHECK(affordable(program, asked).samples == 10);
}
