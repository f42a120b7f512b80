//===- MemoryTest.cpp - peak memory of schedules ----------------------------------------------------------------===//
#include "RandomProgram.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
using namespace braid::cost::testing;

TEST_CASE("memory: results live to the last reader, escaping ones to the end") {
  Program program = programOf(
      {compute("a", 1, {}, 100), compute("b", 1, {0}, 10), compute("c", 1, {1}, 50), compute("d", 1, {2}, 1)});
  Schedule schedule{{{{}, {{Event::Run, 0}, {Event::Run, 1}, {Event::Run, 2}, {Event::Run, 3}}}}};
  Peak peak = peakMemory(program, schedule);
  CHECK(peak.bytes.value == 110);
  CHECK(peak.event == 1);
  program.blocks[0].live = {1000};
  CHECK(peakMemory(program, schedule).bytes.value == 1110);
  program.blocks[0].tasks[0].escapes = true;
  peak = peakMemory(program, schedule);
  CHECK(peak.bytes.value == 1160); // a, b, c
  CHECK(peak.event == 2);
  auto holders = liveAtPeak(program, schedule, peak, 2);
  REQUIRE(holders.size() == 2);
  CHECK(holders[0].first == "arguments and captured values of main");
  CHECK(holders[1] == std::make_pair(std::string("a"), Bytes{100}));
}

TEST_CASE("memory: a bucket in flight keeps its operands and has its results from the start") {
  Program program =
      programOf({compute("a", 1, {}, 100), collective("r", 100, {0}), compute("b", 1, {}, 7), compute("c", 1, {1}, 1)});
  Schedule late{
      {{{{{1}, 0}}, {{Event::Run, 0}, {Event::Start, 0}, {Event::Run, 2}, {Event::Wait, 0}, {Event::Run, 3}}}}};
  CHECK(peakMemory(program, late).bytes.value == 207);
  Schedule early{
      {{{{{1}, 0}}, {{Event::Run, 0}, {Event::Start, 0}, {Event::Wait, 0}, {Event::Run, 2}, {Event::Run, 3}}}}};
  CHECK(peakMemory(program, early).bytes.value == 200);
  program.blocks[0].tasks[3].operands = {}; // nobody reads the result: it is there while in flight
  CHECK(peakMemory(program, late).bytes.value == 207);
}

TEST_CASE("memory: a nested block's peak comes on top") {
  Task loop = compute("loop", 0, {0}, 5);
  loop.kind = Task::Nested;
  loop.block = 0;
  Program program;
  program.ranks = 8;
  program.blocks.push_back({"body", {compute("x", 1, {}, 1000)}, {100}});
  program.blocks.push_back({"main", {compute("a", 1, {}, 100), loop}, {10}});
  Schedule schedule{{{{}, {{Event::Run, 0}}}, {{}, {{Event::Run, 0}, {Event::Run, 1}}}}};
  Peak peak = peakMemory(program, schedule);
  CHECK(peak.bytes.value == 10 + 100 + 5 + 100 + 1000);
  CHECK(peak.block == 1);
  CHECK(liveAtPeak(program, schedule, peak)[0].first == "x");
}
