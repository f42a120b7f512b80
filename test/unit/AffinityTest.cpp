//===- AffinityTest.cpp - threads stay inside what is allowed, and the program's mask stays as it was --------------===//
#include "bootstrap/Affinity.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <sched.h>
#include <set>

using namespace braid::runtime;
using Catch::Matchers::Contains;

namespace {

const Environment nothing = [](const char *) -> const char * { return nullptr; };

std::vector<std::string> chosen(std::vector<std::string> sets, const char *topology) {
  std::vector<std::string> all;
  for (size_t i = 0; i != sets.size(); ++i) {
    Affinity affinity;
    Outcome done = chooseAffinity(static_cast<int>(i), sets, affinity, nothing, topology);
    CHECK(done.text == "");
    CHECK_FALSE(affinity.chosen.empty());
    CHECK(std::includes(affinity.allowed.begin(), affinity.allowed.end(), affinity.chosen.begin(),
                        affinity.chosen.end()));
    all.push_back(rangesOf(affinity.chosen));
  }
  return all;
}

using List = std::vector<std::string>;

} // namespace

TEST_CASE("ranges of processors", "[affinity]") {
  std::vector<int> set;
  REQUIRE(parseRanges("0-3,8,10-11", set));
  CHECK(set == std::vector<int>{0, 1, 2, 3, 8, 10, 11});
  CHECK(rangesOf(set) == "0-3,8,10-11");
  for (const char *bad : {"", "x", "-1", "1-", "3-1", "1,,2", "1 2", "4,2", "999999999"}) {
    INFO(bad);
    CHECK_FALSE(parseRanges(bad, set));
  }
}

TEST_CASE("ranks that share processors part them by the topology", "[affinity]") {
  const char *node = "pack:2 core:2 pu:2"; // 0-3 is the first package, 0-1 a core
  CHECK(chosen({"0-7"}, node) == List{"0-7"});
  CHECK(chosen({"0-7", "0-7"}, node) == List{"0-3", "4-7"});
  CHECK(chosen({"0-7", "0-7", "0-7", "0-7"}, node) == List{"0-1", "2-3", "4-5", "6-7"});
  // Only part of the machine is allowed.
  CHECK(chosen({"2-5", "2-5"}, node) == List{"2-3", "4-5"});
  CHECK(chosen({"1", "1", "1"}, node) == List{"1", "1", "1"});
  // A launcher has bound each rank already: nobody shares, everybody keeps all.
  CHECK(chosen({"0-3", "4-7"}, node) == List{"0-3", "4-7"});
  CHECK(chosen({"0-1", "4-7", "0-1"}, node) == List{"0", "4-7", "1"});
  // More ranks than processors.
  List many = chosen(List(8, "6-7"), node);
  CHECK(std::set<std::string>(many.begin(), many.end()) == std::set<std::string>{"6", "7"});
}

TEST_CASE("off, and nonsense", "[affinity]") {
  auto with = [](const char *value) {
    return [value](const char *name) { return std::string(name) == "BRAID_AFFINITY" ? value : nullptr; };
  };
  Affinity affinity;
  REQUIRE(chooseAffinity(0, {"0-1", "0-1"}, affinity, with("off"), "pu:2"));
  CHECK(affinity.off);
  CHECK(affinity.chosen.empty());
  CHECK_THAT(affinity.text, Contains("BRAID_AFFINITY=off"));
  CHECK_THAT(chooseAffinity(0, {"0"}, affinity, with("no")).text,
             Contains("BRAID_AFFINITY: expected on or off, got \"no\""));
  CHECK(chooseAffinity(0, {"?"}, affinity, nothing).status == BRAID_INVALID);
}

TEST_CASE("a thread is inside the choice, the caller's mask is as it was", "[affinity]") {
  std::string before = allowedProcessors();
  std::vector<int> mine;
  REQUIRE(parseRanges(before, mine));
  // With all that is allowed, and with one processor of it.
  cpu_set_t old, one;
  REQUIRE(sched_getaffinity(0, sizeof old, &old) == 0);
  for (bool narrow : {false, true}) {
    CPU_ZERO(&one);
    CPU_SET(mine.back(), &one);
    if (narrow)
      REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    std::string allowed = allowedProcessors();
    CHECK(allowed == (narrow ? std::to_string(mine.back()) : before));
    for (int ranks : {1, 2, 8}) {
      for (int rank = 0; rank != ranks; ++rank) {
        Affinity affinity;
        REQUIRE(chooseAffinity(rank, List(static_cast<size_t>(ranks), allowed), affinity, nothing));
        std::string inside;
        std::thread thread;
        REQUIRE(startThread(affinity, "braid-test", [&] { inside = allowedProcessors(); }, thread));
        thread.join();
        CHECK(inside == rangesOf(affinity.chosen));
        CHECK(allowedProcessors() == allowed);
      }
    }
  }
  REQUIRE(sched_setaffinity(0, sizeof old, &old) == 0);
}
