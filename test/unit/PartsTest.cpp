//===- PartsTest.cpp - tensors that are cut into parts, and averages that divide on the way -----------------------===//
#include "braid/runtime/algorithms/PackedTrees.h"
#include "core/Completion.h"
#include "test/conformance/Ranks.h"
#include <catch2/catch.hpp>

using namespace braid;
using namespace braid::test;

namespace {

using algorithms::Collective;

float valueOf(int rank, size_t i) { return float((i * 7 + size_t(rank) * 13) % 1009); }

/// How operand and result lie to each other, in elements from the operand's start.
struct Layout {
  const char *name;
  size_t shift;
  bool apart;
};

/// Runs one collective; element i of the operand of a rank is valueOf(rank, i).
std::string run(braid_comm *comm, int n, int rank, braid_collective collective, braid_reduction reduction,
                const char *algorithm, size_t count, Layout layout) {
  size_t block = count / size_t(n), guard = 16;
  size_t in = collective == BRAID_ALL_GATHER ? block : count, out = collective == BRAID_REDUCE_SCATTER ? block : count;
  std::vector<float> memory(2 * count + layout.shift + 3 * guard, -1.0f);
  float *send = memory.data() + guard, *receive = send + (layout.apart ? in + guard : layout.shift);
  braid_buffer buffer = {send, receive, in, out};
  braid_op_options options = {};
  options.size = sizeof options;
  options.collective = collective;
  options.type = BRAID_F32;
  options.reduction = reduction;
  options.tensors = 1;
  options.buffers = &buffer;
  options.algorithm = algorithm;
  braid_op *op = nullptr;
  if (braid_op_plan(comm, &options, &op))
    return braid_last_error();
  std::string problem;
  for (int round = 0; round < 2 && problem.empty(); ++round) {
    for (size_t i = 0; i < in; ++i)
      send[i] = valueOf(rank, i);
    std::vector<float> before(receive + out, receive + out + guard);
    if (layout.apart || layout.shift >= in)
      std::fill(receive, receive + out, -2.0f);
    if (braid_op_start(op) || braid_op_wait(op))
      return braid_last_error();
    for (size_t i = 0; i < out && problem.empty(); ++i) {
      float expected = 0;
      if (collective == BRAID_ALL_GATHER) {
        expected = valueOf(int(i / block), i % block);
      } else if (collective == BRAID_ALL_TO_ALL) {
        expected = valueOf(int(i / block), size_t(rank) * block + i % block);
      } else {
        for (int r = 0; r < n; ++r)
          expected += valueOf(r, i + (collective == BRAID_REDUCE_SCATTER ? size_t(rank) * block : 0));
        if (reduction == BRAID_AVERAGE)
          expected /= float(n);
      }
      if (receive[i] != expected)
        problem = std::string(layout.name) + ": element " + std::to_string(i) + ": expected " +
                  std::to_string(expected) + ", got " + std::to_string(receive[i]);
    }
    if (!std::equal(before.begin(), before.end(), receive + out))
      problem += std::string(layout.name) + ": bytes behind the result were written";
  }
  if (braid_op_destroy(op))
    problem += braid_last_error();
  return problem;
}

} // namespace

TEST_CASE("tensors larger than the cache are cut and streamed, wherever operand and result lie", "[executor]") {
  for (int n : {2, 3}) {
    Ranks ranks(n, {});
    REQUIRE(ranks.failed() == "");
    CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
      size_t count = size_t(n) * 1400003; // 11 or 17 MB, parts of odd sizes
      for (Layout layout : {Layout{"apart", 0, true}, Layout{"in place", 0, false}, Layout{"shifted", 70001, false}})
        for (braid_collective collective : {BRAID_ALL_REDUCE, BRAID_REDUCE_SCATTER, BRAID_ALL_GATHER, BRAID_ALL_TO_ALL})
          for (const char *algorithm : {"ring", static_cast<const char *>(nullptr)}) {
            if (algorithm && collective == BRAID_ALL_TO_ALL)
              continue;
            std::string problem = run(comm, n, rank, collective, BRAID_AVERAGE, algorithm, count, layout);
            if (!problem.empty())
              return std::to_string(int(collective)) + ", " + problem;
          }
      return {};
    }) == "");
  }
}

TEST_CASE("a sum is divided where it becomes complete", "[executor]") {
  // Whatever the algorithm: on the way through all programs, each result is divided exactly once.
  for (const algorithms::Algorithm &algorithm : algorithms::registry())
    for (Collective collective : {Collective::AllReduce, Collective::ReduceScatter, Collective::Reduce})
      for (int n = 2; n <= 9; ++n) {
        algorithms::StepOptions options;
        options.channels = 2;
        if (!algorithm.serves(collective, n))
          continue;
        INFO(algorithm.name << ", " << n << " ranks");
        if (algorithm.needs == algorithms::Needs::Topology) { // a ring of links
          algorithms::FabricGraph graph{n, n, {}};
          for (int rank = 0; rank < n; ++rank)
            graph.links.push_back({rank, (rank + 1) % n, 1e10, 1e-6});
          std::string problem;
          options.packed =
              std::make_shared<algorithms::PackedPlan>(algorithms::packTrees(graph, collective, 1e5, problem));
        }
        auto programs = algorithms::programs(algorithm, collective, n, options);
        if (programs.size() > size_t(n)) { // helpers, which do not divide
          CHECK(runtime::completingSteps(programs, 0).empty());
          continue;
        }
        size_t divided = 0, chunks = size_t(programs[0].chunks);
        for (int me = 0; me < n; ++me) {
          std::vector<bool> completes = runtime::completingSteps(programs, me);
          REQUIRE(completes.size() == programs[size_t(me)].steps.size());
          std::vector<int> times(chunks, 0);
          for (size_t i = 0; i < completes.size(); ++i)
            for (int c = 0; completes[i] && c < programs[size_t(me)].steps[i].count; ++c) {
              ++times[size_t(programs[size_t(me)].steps[i].chunk + c)];
              ++divided;
            }
          for (int t : times)
            CHECK(t <= 1);
        }
        CHECK(divided >= chunks); // somewhere, each of them
      }
}

TEST_CASE("a step that completes only some of its chunks leaves the division to the end", "[executor]") {
  using algorithms::Action;
  algorithms::StepProgram zero{Collective::Reduce, 2, 2, 1, {}}, one = zero;
  one.steps = {{Action::Send, 0, 0, 1, 0}, {Action::Send, 0, 0, 2, 0}};
  zero.steps = {{Action::ReceiveReduce, 1, 0, 1, 0}, {Action::ReceiveReduce, 1, 0, 2, 0}};
  CHECK(runtime::completingSteps({zero, one}, 0).empty());
}
