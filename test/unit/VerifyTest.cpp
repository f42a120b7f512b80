//===- VerifyTest.cpp - the verifier rejects each kind of broken schedule ---------------------------------------===//
#include "RandomProgram.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
using namespace braid::cost::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

struct Fixture {
  Program program = programOf({compute("g0", 10, {}, 100), compute("g1", 10, {0}, 100), collective("r0", 100, {0}),
                               collective("r1", 100, {1}), compute("u0", 10, {2}), compute("u1", 10, {3})});
  Pricer pricer = smallPricer();
  ListOptions options;
  Schedule schedule;
  Fixture() {
    using E = Event;
    schedule.blocks = {{{{{2}, 0}, {{3}, 0}},
                        {{E::Run, 0},
                         {E::Start, 0},
                         {E::Run, 1},
                         {E::Wait, 0},
                         {E::Start, 1},
                         {E::Run, 4},
                         {E::Wait, 1},
                         {E::Run, 5}}}};
  }
  std::vector<Event> &order() { return schedule.blocks[0].order; }
  std::vector<Bucket> &buckets() { return schedule.blocks[0].buckets; }
  std::string verify() { return verifySchedule(program, schedule, options, &pricer); }
};

} // namespace

TEST_CASE_METHOD(Fixture, "verify: accepts the schedule that the other cases break") { CHECK(verify() == ""); }

TEST_CASE_METHOD(Fixture, "verify V1: every collective in one bucket") {
  SECTION("dropped") {
    buckets()[1].tasks = {2};
    CHECK_THAT(verify(), Contains("V1: 'r0' (task 2) is in two buckets"));
  }
  SECTION("empty") {
    buckets()[1].tasks = {};
    CHECK_THAT(verify(), Contains("V1: bucket 1 is empty"));
  }
  SECTION("missing") {
    buckets().pop_back();
    CHECK_THAT(verify(), Contains("V1: 'r1' (task 3) is in no bucket"));
  }
  SECTION("not a collective") {
    buckets()[1].tasks = {3, 4};
    CHECK_THAT(verify(), Contains("V1: 'u0' (task 4) is in a bucket"));
  }
  SECTION("no such task") {
    buckets()[1].tasks = {99};
    CHECK_THAT(verify(), Contains("V1: bucket 1, expected a task, got 99"));
  }
}

TEST_CASE_METHOD(Fixture, "verify V2: one key, one kind, one group") {
  buckets() = {{{2, 3}, 0}};
  order() = {{Event::Run, 0}, {Event::Run, 1}, {Event::Start, 0}, {Event::Wait, 0}, {Event::Run, 4}, {Event::Run, 5}};
  REQUIRE(verify() == "");
  std::vector<Task> &tasks = program.blocks[0].tasks;
  SECTION("keys") { tasks[3].key = 1; }
  SECTION("no key") { tasks[2].key = tasks[3].key = -1; }
  SECTION("kind") { tasks[3].spec.kind = CollectiveKind::ReduceScatter; }
  SECTION("groups") { tasks[3].spec.groups = pairsInHosts(); }
  SECTION("synchronous") { tasks[3].asynchronous = false; }
  SECTION("candidate") { buckets()[0].candidate = 1000; }
  SECTION("order") { buckets()[0].tasks = {3, 2}; }
  CHECK_THAT(verify(), Contains("V2: "));
}

TEST_CASE_METHOD(Fixture, "verify V3: everything once") {
  SECTION("dropped task") {
    order().erase(order().begin() + 2);
    CHECK_THAT(verify(), Contains("V3: 'g1' (task 1) never runs"));
  }
  SECTION("twice") {
    order().push_back({Event::Run, 5});
    CHECK_THAT(verify(), Contains("V3: 'u1' (task 5) runs twice"));
  }
  SECTION("dropped wait") {
    order().erase(order().begin() + 6);
    CHECK_THAT(verify(), Contains("V3: bucket 1 with 'r1' (task 3) is never awaited"));
  }
  SECTION("dropped start and wait") {
    order() = {{Event::Run, 0}, {Event::Start, 0}, {Event::Run, 1}, {Event::Wait, 0}, {Event::Run, 4}, {Event::Run, 5}};
    CHECK_THAT(verify(), Contains("V3: 'r1' (task 3) is never started"));
  }
  SECTION("wait before start") {
    std::swap(order()[1], order()[3]);
    CHECK_THAT(verify(), Contains("V3: bucket 0 with 'r0' (task 2) is awaited before it is started"));
  }
  SECTION("a collective that is run") {
    order()[0] = {Event::Run, 2};
    CHECK_THAT(verify(), Contains("V3: collective 'r0'"));
  }
  SECTION("no such index") {
    order()[0] = {Event::Run, 17};
    CHECK_THAT(verify(), Contains("V3: event 0, expected an index below 6, got 17"));
  }
}

TEST_CASE_METHOD(Fixture, "verify V4: operands first") {
  SECTION("moved wait") {
    std::swap(order()[6], order()[7]); // u1 before the wait for r1
    CHECK_THAT(verify(), Contains("V4: 'u1' (task 5) reads 'r1' (task 3)"));
  }
  SECTION("moved start") {
    std::swap(order()[0], order()[1]);
    CHECK_THAT(verify(), Contains("V4: 'r0' (task 2) reads 'g0' (task 0)"));
  }
  SECTION("swapped buckets") {
    std::swap(buckets()[0], buckets()[1]);
    CHECK_THAT(verify(), Contains("V4: "));
  }
  SECTION("cycle: two buckets that wait for each other have no order") {
    program = programOf({collective("a0", 8, {}, 1), collective("b0", 8, {}, 2), collective("b1", 8, {0}, 2),
                         collective("a1", 8, {1}, 1)});
    buckets() = {{{0, 3}, 0}, {{1, 2}, 0}};
    order() = {{Event::Start, 0}, {Event::Wait, 0}, {Event::Start, 1}, {Event::Wait, 1}};
    CHECK_THAT(verify(), Contains("V4: "));
    std::swap(order()[0], order()[2]);
    std::swap(order()[1], order()[3]);
    CHECK_THAT(verify(), Contains("V4: "));
    // The scheduler, given such buckets, must end and not hide it.
    schedule.blocks = {listSchedule(program, 0, {{{0, 3}, 0}, {{1, 2}, 0}}, pricer, options)};
    CHECK(verify() != "");
  }
}

TEST_CASE_METHOD(Fixture, "verify V5, V6: barriers and nested blocks") {
  Task &g1 = program.blocks[0].tasks[1];
  SECTION("in flight across a barrier") {
    g1.kind = Task::Barrier;
    CHECK_THAT(verify(), Contains("V5: "));
  }
  SECTION("in flight across a nested block") {
    program.blocks.insert(program.blocks.begin(), Block{"body", {}, {}});
    schedule.blocks.insert(schedule.blocks.begin(), BlockSchedule{});
    Task &loop = program.blocks[1].tasks[1];
    loop.kind = Task::Nested;
    loop.block = 0;
    CHECK_THAT(verify(), Contains("V6: bucket 0 with 'r0' (task 2) is in flight across 'g1' (task 1)"));
  }
  SECTION("moved before a barrier") {
    program = programOf({compute("x", 1), compute("barrier", 1), compute("y", 1)});
    program.blocks[0].tasks[1].kind = Task::Barrier;
    schedule.blocks = {{{}, {{Event::Run, 0}, {Event::Run, 1}, {Event::Run, 2}}}};
    REQUIRE(verify() == "");
    std::swap(order()[1], order()[2]);
    CHECK_THAT(verify(), Contains("V5: 'y' (task 2) is before barrier 'barrier' (task 1)"));
    order() = {{Event::Run, 1}, {Event::Run, 0}, {Event::Run, 2}};
    CHECK_THAT(verify(), Contains("V5: 'x' (task 0) is not complete at barrier"));
  }
}

TEST_CASE_METHOD(Fixture, "verify V7: ordered collectives keep their order") {
  program.blocks[0].tasks[1].operands = {};
  order() = {{Event::Run, 0},   {Event::Run, 1}, {Event::Start, 1}, {Event::Wait, 1},
             {Event::Start, 0}, {Event::Run, 5}, {Event::Wait, 0},  {Event::Run, 4}};
  REQUIRE(verify() == "");
  program.blocks[0].tasks[2].ordered = program.blocks[0].tasks[3].ordered = true;
  CHECK_THAT(verify(), Contains("V7: 'r1' (task 3) is before 'r0' (task 2)"));
}

TEST_CASE_METHOD(Fixture, "verify V8, V9, V10: synchronous, in flight, memory") {
  SECTION("synchronous") {
    program.blocks[0].tasks[2].asynchronous = false;
    CHECK_THAT(verify(), Contains("V8: synchronous 'r0' (task 2)"));
  }
  SECTION("no overlap") {
    options.overlap = false;
    CHECK_THAT(verify(), Contains("V8: "));
  }
  SECTION("two in flight") {
    std::swap(order()[3], order()[4]);
    CHECK_THAT(verify(), Contains("V9: bucket 1 with 'r1' (task 3) is started with 1 in flight, expected at most 1"));
    options.inFlight = 2;
    CHECK(verify() == "");
    options.inFlight = 1;
    program.blocks[0].tasks[3].spec.groups = pairsInHosts(); // another fabric
    program.blocks[0].tasks[3].key = 1;
    CHECK(verify() == "");
    CHECK(verifySchedule(program, schedule, options) == ""); // without a pricer both fabrics count together
  }
  SECTION("memory") {
    options.memoryLimit = peakMemory(program, schedule).bytes;
    CHECK(verify() == "");
    options.memoryLimit.value -= 1;
    CHECK_THAT(verify(), StartsWith("V10: peak memory, expected at most"));
  }
}

TEST_CASE("verify: every removal and most exchanges of events in random schedules are rejected") {
  Pricer pricer = smallPricer();
  int rejected = 0, exchanged = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Program program = randomProgram(seed * 3 + 1, 30); // one block
    std::mt19937_64 random(seed);
    ListOptions options = randomOptions(random);
    Schedule schedule = scheduleProgram(program, randomRule(random), pricer, options);
    REQUIRE(verifySchedule(program, schedule, options, &pricer) == "");
    std::vector<Event> order = schedule.blocks[0].order;
    for (size_t e = 0; e < order.size(); ++e) {
      schedule.blocks[0].order = order;
      schedule.blocks[0].order.erase(schedule.blocks[0].order.begin() + long(e));
      CHECK(verifySchedule(program, schedule, options, &pricer) != "");
    }
    for (size_t e = 0; e + 8 < order.size(); ++e) {
      schedule.blocks[0].order = order;
      std::swap(schedule.blocks[0].order[e], schedule.blocks[0].order[e + 8]);
      ++exchanged;
      rejected += verifySchedule(program, schedule, options, &pricer) != "";
    }
  }
  CHECK(rejected > exchanged / 2); // the others are legal
}
