//===- VerbsFailoverTest.cpp - rails that die at any moment, one after the other, on the double -----------------------===//
#include "test/unit/OverVerbs.h"
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <random>

using namespace braid;
using namespace braid::test;
using namespace braid::runtime;
using namespace braid::runtime::verbs;
using Catch::Matchers::Contains;

namespace {

struct Told {
  bool connected = false;
  std::vector<std::string> problems; ///< of each rank; none: all sums were right
};

/// A job from its first call of a device to its last: sums of eager and of large messages, barriers between them.
Told job(const std::shared_ptr<Fabric> &fabric, int count, double deadline = 10) {
  Use use(fabric);
  CommunicatorOptions options = overVerbs();
  options.deadline = deadline;
  Ranks ranks(count, options);
  if (ranks.failed() != "")
    return {false, {ranks.failed()}};
  Told told{true, std::vector<std::string>(size_t(count))};
  ranks.run([&](int rank, braid_comm *comm) -> std::string {
    std::string problem;
    for (size_t elements : {size_t(40), size_t(70000), size_t(900)}) {
      std::vector<int32_t> send(elements), receive(elements);
      braid_buffer buffer = {send.data(), receive.data(), elements, elements};
      braid_op *sum = nullptr, *barrier = nullptr;
      problem = plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "sum"), sum);
      if (problem.empty())
        problem = plan(comm, optionsOf(BRAID_BARRIER, nullptr, 0, "barrier"), barrier);
      for (int step = 0; step < 3 && problem.empty(); ++step) {
        for (size_t i = 0; i < elements; ++i)
          send[i] = int32_t(i) * (rank + 1) + step;
        problem = startAndWait(sum);
        for (size_t i = 0; i < elements && problem.empty(); ++i)
          if (int expected = int32_t(i) * count * (count + 1) / 2 + step * count; receive[i] != expected)
            problem = "step " + std::to_string(step) + " of " + std::to_string(elements) + ": expected " +
                      std::to_string(expected) + " at " + std::to_string(i) + ", got " + std::to_string(receive[i]);
        if (problem.empty())
          problem = startAndWait(barrier);
      }
      if (!problem.empty())
        braid_comm_abort(comm, problem.c_str());
      for (braid_op *op : {sum, barrier})
        if (op && braid_op_destroy(op) && problem.empty())
          problem = braid_last_error();
      if (!problem.empty())
        break;
    }
    told.problems[size_t(rank)] = problem;
    return problem;
  });
  return told;
}

/// Faults at the same share of the calls of a job that has none.
FabricSettings dying(int rails, std::vector<PlannedFault> faults, uint64_t seed = 1) {
  FabricSettings settings;
  settings.rails = rails;
  settings.seed = seed;
  settings.faults = std::move(faults);
  return settings;
}

std::string nameOf(const PlannedFault &fault) {
  static const char *const names[] = {"queue pair fails", "device removed", "link cut"};
  return std::string(names[fault.what]) + " of rank " + std::to_string(fault.host) + " rail " +
         std::to_string(fault.rail) + " after " + std::to_string(fault.after);
}

} // namespace

TEST_CASE("verbs: rails die one after the other at any moment, and the sums are right while one is left", "[verbs]") {
  const char *mode = GENERATE("auto", "write", "read", "send");
  Forced forced("BRAID_IB_MODE", mode);
  for (int rails : {2, 3}) {
    auto whole = Fabric::create(dying(rails, {}));
    Told sound = job(whole, 2);
    REQUIRE(sound.connected);
    REQUIRE(sound.problems == std::vector<std::string>(2));
    const uint64_t all = whole->figures().calls;
    std::mt19937 random(1);
    for (int share = 0; share < 6; ++share) {
      std::vector<PlannedFault> faults;
      std::string what = mode;
      uint64_t after = all / 6 * uint64_t(share) + random() % (all / 6);
      for (int rail = 0, first = int(random() % unsigned(rails)); rail + 1 < rails; ++rail) {
        PlannedFault fault{after, PlannedFault::What(random() % 3), int(random() % 2), (first + rail) % rails, 1};
        faults.push_back(fault);
        fault.host = 1 - fault.host; // and the other end by itself, a moment later
        fault.after += random() % 16;
        faults.push_back(fault);
        after = fault.after + random() % (random() % 2 ? 24 : all / 3); // while the first is being left, or later
        what += ": " + nameOf(faults[faults.size() - 2]) + ", " + nameOf(fault);
      }
      INFO(what);
      Told told = job(Fabric::create(dying(rails, faults, uint64_t(share) + 1)), 2);
      if (!told.connected) // who has not met yet says so, on all ranks
        CHECK_THAT(told.problems[0], Contains("rank ") && Contains("port 1"));
      else
        CHECK(told.problems == std::vector<std::string>(2));
    }
  }
}

TEST_CASE("verbs: a device that goes while ranks connect is one error, or its rail is left", "[verbs]") {
  auto whole = Fabric::create(dying(2, {}));
  {
    Use use(whole);
    Ranks ranks(2, overVerbs());
    REQUIRE(ranks.failed() == "");
  }
  const uint64_t connecting = whole->figures().calls;
  for (const char *manager : {"exchange", "rdma_cm"}) {
    Forced forced("BRAID_IB_CM", manager);
    for (uint64_t after = 1; after < connecting; after += connecting / 24) {
      INFO(manager << " after " << after << " of " << connecting);
      Told told = job(Fabric::create(dying(2, {{after, PlannedFault::DeviceRemoved, 1, int(after % 2), 0}})), 2);
      if (!told.connected)
        CHECK_THAT(told.problems[0], Contains("port 1") && Contains(": "));
      else
        CHECK(told.problems == std::vector<std::string>(2));
    }
  }
}

TEST_CASE("verbs: when all rails die, in one moment or in two, each rank says so and names the other, in time",
          "[verbs]") {
  for (uint64_t between : {0, 5, 60})
    for (PlannedFault::What what : {PlannedFault::DeviceRemoved, PlannedFault::LinkCut}) {
      INFO(between << " calls between, fault " << what);
      double began = seconds();
      Told told = job(Fabric::create(dying(2, {{450, what, 0, 0, 0}, {450 + between, what, 1, 1, 0}})), 2);
      CHECK(seconds() - began < 10);
      REQUIRE(told.connected);
      for (int rank : {0, 1})
        CHECK_THAT(told.problems[size_t(rank)],
                   Contains("rank ") && Contains("no rail is left") && Contains(" port 1"));
    }
}

TEST_CASE("verbs: memory that some devices refuse is registered with none, and the error is one", "[verbs]") {
  for (int bad : {0, 2, 3})
    for (int error : {ENOMEM, EPERM}) {
      FabricSettings settings = dying(4, {});
      bool refuses = false;
      settings.refused = [&](int host, int rail, size_t bytes, bool) {
        return refuses && host == 1 && rail == bad && bytes > 100000 ? error : 0;
      };
      auto fabric = Fabric::create(settings);
      Use use(fabric);
      Ranks ranks(2, overVerbs());
      REQUIRE(ranks.failed() == "");
      const uint64_t before = fabric->figures().regions;
      refuses = true;
      std::vector<std::string> said(2);
      ranks.run([&](int rank, braid_comm *comm) -> std::string {
        std::vector<int32_t> data(50000, rank);
        braid_buffer buffer = {data.data(), data.data(), data.size(), data.size()};
        braid_op *op = nullptr;
        said[size_t(rank)] = plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "sum"), op);
        if (said[size_t(rank)].empty())
          said[size_t(rank)] = startAndWait(op);
        if (!said[size_t(rank)].empty())
          braid_comm_abort(comm, said[size_t(rank)].c_str());
        if (op)
          braid_op_destroy(op);
        return said[size_t(rank)];
      });
      INFO(said[0] << "\n" << said[1]);
      CHECK_THAT(said[1], Contains("device double" + std::to_string(bad)) && Contains("cannot register") &&
                              Contains(std::strerror(error)) && Contains("bytes"));
      CHECK(fabric->figures().regions == before);
    }
}
