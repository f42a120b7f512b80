//===- SystemsTest.cpp - FSDP, ZeRO and single-process data parallelism as other programs -----------------------===//
#include "braid/cost_models/Systems.h"
#include "RandomProgram.h"
#include "cost_models/schedule/Gradients.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
using namespace braid::cost::testing;
using Catch::Matchers::Contains;

/// Layers of 100 us forward, 200 us backward; each gives a gradient of 8 MB, reduced behind the backward pass, in the order of
/// the layers; then the updates of 8 us.
static Program trainingStep(int layers, int64_t bytes = 8'000'000) {
  Program program = programOf({});
  std::vector<Task> &tasks = program.blocks[0].tasks;
  program.blocks[0].live = {layers * bytes * 2};
  for (int i = 0; i < layers; ++i)
    tasks.push_back(compute("forward " + std::to_string(i), 100, i ? std::vector<int>{i - 1} : std::vector<int>{}));
  std::vector<int> makers(layers);
  for (int i = layers; i-- > 0;) {
    makers[i] = int(tasks.size());
    tasks.push_back(compute("backward " + std::to_string(i), 200, {int(tasks.size()) - 1}, bytes));
  }
  std::vector<int> reduced;
  for (int i = 0; i < layers; ++i) {
    reduced.push_back(int(tasks.size()));
    tasks.push_back(collective("reduce " + std::to_string(i), bytes, {makers[i]}));
  }
  for (int i = 0; i < layers; ++i) {
    tasks.push_back(compute("update " + std::to_string(i), 8, {reduced[i]}, bytes));
    tasks.back().escapes = true;
  }
  return program;
}

static Schedule baselineOf(const Program &program, const Pricer &pricer) {
  return scheduleProgram(program, {}, pricer, {});
}

static void verify(const SystemStep &step, const Pricer &pricer) {
  ListOptions rules;
  rules.inFlight = 1 << 30;
  CHECK(verifySchedule(step.program, step.schedule, rules, &pricer) == "");
}

static int count(const SystemStep &step, CollectiveKind kind) {
  int found = 0;
  for (const Task &task : step.program.blocks.back().tasks)
    found += task.kind == Task::Collective && task.spec.kind == kind;
  return found;
}

static double sent(const SystemStep &step, const Pricer &pricer) {
  return sentBytes(step.program, step.schedule, pricer);
}

TEST_CASE("systems: names") {
  for (System system : allSystems)
    CHECK(parseSystem(name(system)) == system);
  CHECK(!parseSystem("zero"));
}

TEST_CASE("gradients: in the order of their makers, parameters placed in both passes") {
  Result<DataParallelStep> step = dataParallelStep(trainingStep(4));
  REQUIRE(step);
  REQUIRE(step->gradients.size() == 4);
  CHECK(step->turn == 4);
  for (int g = 0; g < 4; ++g) { // gradient g is of layer 3 - g
    CHECK(step->gradients[g].maker == 4 + g);
    CHECK(step->gradients[g].backward == 4 + g);
    CHECK(step->gradients[g].forward == 3 - g);
    CHECK(step->gradients[g].elements == 2'000'000);
  }
  CHECK(elementBytes("bf16") == 2);
  CHECK(elementBytes("f8E4M3FN") == 1);
  CHECK(elementBytes("complex<f32>") == 8);
}

TEST_CASE("gradients: sums of activations and losses are none") {
  Program program = trainingStep(2);
  std::vector<Task> &tasks = program.blocks[0].tasks;
  // A loss, and tensor parallelism: two sums over pairs, the first of which another collective depends on.
  tasks.push_back(collective("loss", 4, {1}));
  tasks.push_back(collective("activation", 1 << 20, {0}, 1, CollectiveKind::AllReduce, pairsInHosts()));
  tasks.push_back(compute("use", 1, {int(tasks.size()) - 1}));
  tasks.push_back(collective("again", 1 << 19, {int(tasks.size()) - 1}, 1, CollectiveKind::AllReduce, pairsInHosts()));
  Result<DataParallelStep> step = dataParallelStep(program);
  REQUIRE(step);
  CHECK(step->gradients.size() == 2);
}

TEST_CASE("systems: where there is nothing to do, they say why") {
  Pricer pricer = smallPricer();
  CHECK_THAT(fsdpStep(programOf({compute("a", 1)}), pricer, {}).error().text(), Contains("no gradient is all-reduced"));
  Program scattered = programOf({compute("a", 1), collective("rs", 64, {0}, 0, CollectiveKind::ReduceScatter)});
  CHECK_THAT(zeroStep(scattered, pricer, {}).error().text(), Contains("reduce-scattered already"));
  CHECK_THAT(singleProcessStep(trainingStep(2), pricer, {}).error().text(), Contains("several hosts"));
  Program looped = trainingStep(2);
  Task loop;
  loop.kind = Task::Nested;
  loop.block = 0;
  loop.trips = 3;
  looped.blocks.push_back({"entry", {loop}, {}});
  CHECK_THAT(fsdpStep(looped, pricer, {}).error().text(), Contains("runs 3 times a step"));
  Program fenced = trainingStep(2);
  fenced.blocks[0].tasks.push_back(compute("print", 1));
  fenced.blocks[0].tasks.back().kind = Task::Barrier;
  CHECK_THAT(fsdpStep(fenced, pricer, {}).error().text(), Contains("nothing moves across print"));
}

TEST_CASE("systems: bytes that a rank sends, counted in step programs") {
  Pricer pricer = smallPricer();
  Program program = trainingStep(5);
  double n = 5 * 8e6, share = 7.0 / 8;
  CHECK(sentBytes(program, baselineOf(program, pricer), pricer) == Approx(2 * share * n));
  for (int stage : {1, 2, 3}) {
    ZeroOptions zero;
    zero.stage = stage;
    Result<SystemStep> step = zeroStep(program, pricer, zero);
    REQUIRE(step);
    verify(*step, pricer);
    CHECK(sent(*step, pricer) == Approx((stage == 3 ? 3 : 2) * share * n));
  }
  Result<SystemStep> fsdp = fsdpStep(program, pricer, {});
  REQUIRE(fsdp);
  verify(*fsdp, pricer);
  CHECK(sent(*fsdp, pricer) == Approx(3 * share * n));
}

TEST_CASE("fsdp: units, prefetch and limit") {
  Pricer pricer = smallPricer();
  Program program = trainingStep(6);
  auto time = [&](FsdpOptions options) {
    Result<SystemStep> step = fsdpStep(program, pricer, options);
    REQUIRE(step);
    verify(*step, pricer);
    return playWithoutNoise(step->program, step->schedule, pricer).total;
  };
  FsdpOptions options;
  Result<SystemStep> step = fsdpStep(program, pricer, options);
  CHECK(count(*step, CollectiveKind::AllGather) == 12);
  CHECK(count(*step, CollectiveKind::ReduceScatter) == 6);
  CHECK(step->updateSaves.value == Approx(48e-6 * 7 / 8));
  // Parameters and what the update gives back are held in shards; two units are whole at a time.
  CHECK(peakMemory(step->program, step->schedule).bytes < peakMemory(program, baselineOf(program, pricer)).bytes);
  Seconds normal = time(options);
  options.allGathers = 1;
  CHECK(time(options) > normal); // each unit waits for its own gather
  options = {};
  options.backwardPrefetch = FsdpOptions::None;
  CHECK(time(options) > normal);
  options.backwardPrefetch = FsdpOptions::Post;
  CHECK(time(options) >= normal);
  options = {};
  options.unit = {16'000'000};
  CHECK(count(*fsdpStep(program, pricer, options), CollectiveKind::AllGather) == 6);
  options = {};
  options.freeForward = false;
  CHECK(count(*fsdpStep(program, pricer, options), CollectiveKind::AllGather) == 6);
  CHECK(time(options) < normal);
  options = {};
  options.allGathers = 0;
  CHECK(time(options) <= normal);
}

TEST_CASE("zero: buckets, persistence, reuse") {
  Pricer pricer = smallPricer();
  Program program = trainingStep(6); // 2,000,000 elements each
  ZeroOptions zero;
  zero.reduceBucket = 4'500'000;
  zero.gatherBucket = 2'000'000;
  Result<SystemStep> step = zeroStep(program, pricer, zero);
  REQUIRE(step);
  CHECK(count(*step, CollectiveKind::ReduceScatter) == 3);
  CHECK(count(*step, CollectiveKind::AllGather) == 6);
  Seconds blocking = playWithoutNoise(step->program, step->schedule, pricer).total;
  zero.overlap = true;
  step = zeroStep(program, pricer, zero);
  CHECK(playWithoutNoise(step->program, step->schedule, pricer).total < blocking);
  zero.reduceScatter = false;
  step = zeroStep(program, pricer, zero);
  CHECK(count(*step, CollectiveKind::AllReduce) == 3);

  zero = {};
  zero.stage = 3;
  zero.prefetchBucket = 0; // a gather per use
  step = zeroStep(program, pricer, zero);
  CHECK(count(*step, CollectiveKind::AllGather) == 12);
  zero.prefetchBucket = 4'000'000; // the first alone, then two together
  Result<SystemStep> ahead = zeroStep(program, pricer, zero);
  verify(*ahead, pricer);
  CHECK(count(*ahead, CollectiveKind::AllGather) < 12);
  CHECK(sent(*ahead, pricer) == Approx(sent(*step, pricer)));
  CHECK(playWithoutNoise(ahead->program, ahead->schedule, pricer).total <
        playWithoutNoise(step->program, step->schedule, pricer).total);
  zero.maxLive = 2'000'000;
  CHECK(count(*zeroStep(program, pricer, zero), CollectiveKind::AllGather) == 12); // no room to prefetch
  zero.maxLive = 1'000'000'000;
  zero.prefetchBucket = 0;
  zero.reuseDistance = 1'000'000'000; // whatever was gathered forward is there backward
  CHECK(count(*zeroStep(program, pricer, zero), CollectiveKind::AllGather) == 6);
  zero.reuseDistance = 0;
  zero.persistence = 2'000'001; // all are small: gathered once, behind the update
  CHECK(count(*zeroStep(program, pricer, zero), CollectiveKind::AllGather) == 1);
  zero.modelPersistence = 4'000'000; // but two only
  CHECK(count(*zeroStep(program, pricer, zero), CollectiveKind::AllGather) == 1 + 8);
}

TEST_CASE("single process: weights out, gradients to card 0, in buffers of 10 MiB") {
  Cluster cluster = smallCluster();
  cluster.hosts = 1;
  cluster.devicesPerHost = cluster.nicsPerHost = 8;
  Placement placement;
  for (int rank = 0; rank < 8; ++rank)
    placement.deviceOf.push_back(rank);
  Pricer pricer(cluster, placement, Engine::Nccl, BucketForm::OneLaunch);
  Program program = trainingStep(4, 5 << 20);
  Result<SystemStep> step = singleProcessStep(program, pricer, {});
  REQUIRE(step);
  verify(*step, pricer);
  CHECK(count(*step, CollectiveKind::Broadcast) == 2);
  CHECK(count(*step, CollectiveKind::Reduce) == 2);
  CHECK(step->updateSaves.value == 0);
  Played played = playWithoutNoise(step->program, step->schedule, pricer);
  double launches = 0;
  for (const Bucket &bucket : step->schedule.blocks[0].buckets)
    launches += pricer.candidates(mergedSpec(step->program.blocks[0], bucket))[0].time.value;
  CHECK(played.exposed.value == Approx(launches)); // nothing overlaps
}
