//===- ListScheduleTest.cpp - where starts and waits go ---------------------------------------------------------===//
#include "RandomProgram.h"
#include <catch2/catch.hpp>
#include <chrono>

using namespace braid::cost;
using namespace braid::cost::testing;

static std::string text(const Program &program, const BlockSchedule &schedule) {
  std::string text;
  const Block &block = program.blocks.back();
  for (const Event &event : schedule.order) {
    const char *word = event.kind == Event::Run ? "" : event.kind == Event::Start ? "start " : "wait ";
    int task = event.kind == Event::Run ? event.index : schedule.buckets[event.index].tasks.front();
    text += (text.empty() ? "" : ", ") + std::string(word) + block.tasks[task].name;
  }
  return text;
}

static std::string scheduled(const Program &program, std::vector<Bucket> buckets, const ListOptions &options) {
  Pricer pricer = smallPricer();
  BlockSchedule schedule = listSchedule(program, int(program.blocks.size()) - 1, std::move(buckets), pricer, options);
  Schedule whole{{schedule}};
  if (program.blocks.size() == 1)
    CHECK(verifySchedule(program, whole, options, &pricer) == "");
  return text(program, schedule);
}

TEST_CASE("list schedule: starts after the last operand, waits before the first reader") {
  Program program =
      programOf({compute("g0", 100), compute("g1", 100, {0}), compute("g2", 100, {1}), collective("r0", 1024, {0}),
                 collective("r1", 1024, {1}), compute("u0", 10, {3}), compute("u1", 10, {4})});
  CHECK(scheduled(program, {{{3}, 0}, {{4}, 0}}, {}) == "g0, start r0, g1, wait r0, start r1, g2, u0, wait r1, u1");
  ListOptions two;
  two.inFlight = 2;
  CHECK(scheduled(program, {{{3}, 0}, {{4}, 0}}, two) == "g0, start r0, g1, start r1, g2, wait r0, u0, wait r1, u1");
  ListOptions blocking;
  blocking.overlap = false;
  CHECK(scheduled(program, {{{3}, 0}, {{4}, 0}}, blocking) ==
        "g0, g1, g2, start r0, wait r0, start r1, wait r1, u0, u1");
}

TEST_CASE("list schedule: a bucket moves a reader of its first member behind the operands of its last") {
  Program program = programOf({compute("g0", 1), collective("r0", 8, {0}), compute("u0", 1, {1}), compute("g1", 1),
                               collective("r1", 8, {3}), compute("u1", 1, {4})});
  CHECK(scheduled(program, {{{1, 4}, 0}}, {}) == "g0, g1, start r0, wait r0, u0, u1");
}

TEST_CASE("list schedule: the queue takes the longest tail first") {
  // Both are ready at once; b's result feeds the long rest of the program.
  Program program = programOf({compute("g", 1), collective("a", 1 << 20, {0}), collective("b", 1 << 20, {0}),
                               compute("short", 1, {1}), compute("long", 1000, {2})});
  ListOptions fill;
  fill.fillWaits = true;
  CHECK(scheduled(program, {}, fill) == "g, start b, wait b, start a, long, wait a, short");
}

TEST_CASE("list schedule: waits are filled only where asked for") {
  Program program =
      programOf({compute("g", 1), collective("a", 1 << 20, {0}), compute("reader", 1, {1}), compute("other", 300)});
  CHECK(scheduled(program, {}, {}) == "g, start a, wait a, reader, other");
  ListOptions fill;
  fill.fillWaits = true;
  CHECK(scheduled(program, {}, fill) == "g, start a, other, wait a, reader");
}

TEST_CASE("list schedule: a collective that costs memory starts just in time, one that does not starts early") {
  std::vector<Task> tasks;
  for (int i = 0; i < 8; ++i) {
    Task gather = collective("gather " + std::to_string(i), 1 << 18, {}, -1, CollectiveKind::AllGather);
    gather.result = {8 << 18};
    tasks.push_back(gather);
    std::vector<int> operands{2 * i};
    if (i)
      operands.insert(operands.begin(), 2 * i - 1);
    tasks.push_back(compute("layer " + std::to_string(i), 2000, operands, 1));
  }
  Program program = programOf(tasks);
  Pricer pricer = smallPricer();
  Schedule schedule = scheduleProgram(program, {}, pricer, {});
  Played played = playWithoutNoise(program, schedule, pricer);
  double first = pricer.candidates(tasks[0].spec).front().time.value;
  CHECK(played.exposed.value == Approx(first)); // only the first one is not hidden
  CHECK(peakMemory(program, schedule).bytes.value <= 3 * (8 << 18));
}

TEST_CASE("list schedule: gathers do not run ahead of what the compute can use") {
  // Each gather takes 0.15 ms, each layer 2 ms in small kernels: unchecked, all would be gathered within the first
  // layer.
  std::vector<Task> tasks;
  for (int i = 0; i < 8; ++i) {
    int before = int(tasks.size()) - 1;
    Task gather = collective("gather " + std::to_string(i), 1 << 18, {}, -1, CollectiveKind::AllGather);
    gather.result = {8 << 18};
    tasks.push_back(gather);
    int parameters = before + 1;
    for (int k = 0; k < 40; ++k) {
      std::vector<int> operands{parameters};
      if (tasks.size() > size_t(parameters) + 1 || before >= 0)
        operands.push_back(k ? int(tasks.size()) - 1 : before);
      tasks.push_back(compute("kernel", 50, operands, 1));
      std::sort(tasks.back().operands.begin(), tasks.back().operands.end());
    }
  }
  Program program = programOf(tasks);
  Pricer pricer = smallPricer();
  Schedule schedule = scheduleProgram(program, {}, pricer, {});
  CHECK(playWithoutNoise(program, schedule, pricer).exposed.value ==
        Approx(pricer.candidates(tasks[0].spec)[0].time.value));
  CHECK(peakMemory(program, schedule).bytes.value < 2.5 * (8 << 18));
}

TEST_CASE("list schedule: patience trades the compute stream's time for the channel's") {
  // The first collective ends early in a long kernel; behind it waits one that the end of the block depends on.
  Pricer pricer = smallPricer();
  Task reduce = collective("a", 1 << 22, {0});
  double price = pricer.candidates(reduce.spec)[0].time.value * 1e6;
  Program program =
      programOf({compute("g", 1), reduce, collective("b", 1 << 22, {0}), compute("short", 0.9 * price, {0}),
                 compute("long", 10 * price, {3}), compute("end", 1, {1, 2, 4})});
  ListOptions options;
  CHECK(scheduled(program, {}, options) == "g, start a, short, long, wait a, start b, wait b, end");
  options.patience = 1;
  CHECK(scheduled(program, {}, options) == "g, start a, short, wait a, start b, long, wait b, end");
}

TEST_CASE("list schedule: the memory limit holds back what would not fit") {
  // Much compute, then eight layers shorter than their gathers, which must begin early to be hidden.
  std::vector<Task> tasks;
  for (int i = 0; i < 60; ++i)
    tasks.push_back(compute("warm up", 100, i ? std::vector<int>{i - 1} : std::vector<int>{}, 1));
  for (int i = 0; i < 8; ++i) {
    int before = int(tasks.size()) - 1;
    Task gather = collective("gather " + std::to_string(i), 1 << 22, {}, -1, CollectiveKind::AllGather);
    gather.result = {8 << 22};
    tasks.push_back(gather);
    tasks.push_back(compute("layer " + std::to_string(i), 10, {before, before + 1}, 1));
  }
  Program program = programOf(tasks);
  Pricer pricer = smallPricer();
  ListOptions options;
  Schedule unlimited = scheduleProgram(program, {}, pricer, options);
  options.memoryLimit = {4 * (8 << 22)};
  Schedule limited = scheduleProgram(program, {}, pricer, options);
  CHECK(peakMemory(program, unlimited).bytes.value > options.memoryLimit.value);
  CHECK(verifySchedule(program, limited, options, &pricer) == "");
  Seconds hidden = playWithoutNoise(program, unlimited, pricer).exposed,
          some = playWithoutNoise(program, limited, pricer).exposed;
  CHECK(hidden < some);
  options.overlap = false;
  CHECK(some < playWithoutNoise(program, scheduleProgram(program, {}, pricer, options), pricer).exposed);
}

TEST_CASE("list schedule: nested blocks, barriers, synchronous and ordered collectives") {
  Task nested = compute("loop", 0);
  nested.kind = Task::Nested;
  nested.block = 0;
  nested.trips = 3;
  Program program;
  program.ranks = 8;
  program.blocks.push_back({"body", {collective("inner", 8, {})}, {}});
  program.blocks.push_back({"main", {collective("a", 1 << 20, {}), nested, compute("reader", 1, {0})}, {}});
  CHECK(scheduled(program, {}, {}) == "start a, wait a, loop, reader");

  Task barrier = compute("barrier", 0);
  barrier.kind = Task::Barrier;
  Program cut =
      programOf({collective("a", 1 << 20, {}), compute("x", 1), barrier, collective("b", 8, {}), compute("y", 1)});
  CHECK(scheduled(cut, {}, {}) == "start a, x, wait a, barrier, start b, y, wait b");

  Task synchronous = collective("s", 1 << 20, {});
  synchronous.asynchronous = false;
  Program still = programOf({compute("x", 1), synchronous, compute("y", 1)});
  CHECK(scheduled(still, {}, {}) == "x, start s, wait s, y");

  // b has the longer tail, but may not pass a.
  Program ordered = programOf({collective("a", 1 << 20, {}), collective("b", 1 << 20, {}), compute("long", 1000, {1})});
  ListOptions fill;
  fill.fillWaits = true;
  CHECK(scheduled(ordered, {}, fill) == "start b, wait b, start a, long, wait a");
  ordered.blocks[0].tasks[0].ordered = ordered.blocks[0].tasks[1].ordered = true;
  CHECK(scheduled(ordered, {}, fill) == "start a, wait a, start b, wait b, long");
}

TEST_CASE("list schedule: random programs, rules and options verify, and the clock agrees with the player") {
  Pricer pricer = smallPricer();
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Program program = randomProgram(seed, 20 + int(seed) % 80);
    std::mt19937_64 random(seed * 77);
    BucketRule rule = randomRule(random);
    ListOptions options = randomOptions(random);
    std::vector<Seconds> times;
    options.times = &times;
    Schedule schedule;
    for (size_t b = 0; b < program.blocks.size(); ++b)
      schedule.blocks.push_back(listSchedule(program, int(b), bucketize(program.blocks[b], rule), pricer, options));
    INFO("seed " << seed);
    REQUIRE(verifySchedule(program, schedule, options, &pricer) == "");
    // Waits are written later than the clock waited: the played time is not above the scheduler's.
    CHECK(playWithoutNoise(program, schedule, pricer).total.value <= times.back().value * (1 + 1e-9));
  }
}

TEST_CASE("list schedule: a block of 3,000 tasks and 250 collectives takes milliseconds") {
  std::mt19937_64 random(5);
  Program program = programOf({});
  for (int i = 0; i < 3000; ++i) {
    std::vector<int> operands;
    if (i)
      operands.push_back(std::max(0, i - 1 - int(random() % 5)));
    if (i % 12 == 5)
      program.blocks[0].tasks.push_back(collective("r", 1 << 20, operands));
    else
      program.blocks[0].tasks.push_back(compute("k", 10, operands));
  }
  Pricer pricer = smallPricer();
  scheduleProgram(program, {}, pricer, {}); // prices are cached now
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i)
    scheduleProgram(program, {}, pricer, {});
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(seconds < 1.0);
}

TEST_CASE("list schedule: collectives that read two collectives each, forty deep") {
  // The walk from a reader to what can start came by each of them once for every way there: 2^40 of them.
  std::vector<Task> tasks{compute("g", 1), collective("a", 64, {0}), collective("b", 64, {0})};
  for (int rung = 0; rung < 40; ++rung) {
    int last = int(tasks.size());
    tasks.push_back(collective("a", 64, {last - 2, last - 1}));
    tasks.push_back(collective("b", 64, {last - 2, last - 1}));
  }
  tasks.push_back(compute("reader", 1, {int(tasks.size()) - 1}));
  std::string order = scheduled(programOf(tasks), {}, {});
  CHECK(std::count(order.begin(), order.end(), ',') == 2 * 82 + 1);
}
