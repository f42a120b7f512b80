//===- ExecutorTest.cpp - planned operations: several in flight, groups, what is refused, what fails --------------------===//
//
// That collectives give the right values is the conformance suite's matter (test/conformance).
//===------------------------------------------------------------------------------------------------------------===//
#include "core/ZeroCopy.h"
#include "test/conformance/Processes.h"
#include "test/unit/PlannedOps.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <numeric>

using namespace braid;
using namespace braid::test;

TEST_CASE("several operations are in flight at once, and awaited in any order", "[executor]") {
  for (int n : {1, 2, 3, 5}) {
    Ranks ranks(n, {});
    REQUIRE(ranks.failed() == "");
    CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
      constexpr int count = 12;
      std::vector<std::vector<int32_t>> in(count), out(count);
      std::vector<braid_op *> ops(count);
      for (int i = 0; i < count; ++i) {
        size_t elements = size_t(1) << (i * 17 % 18); // small and large ones mixed
        in[i].assign(elements, rank + i);
        out[i].assign(elements, -1);
        braid_buffer buffer = {in[i].data(), out[i].data(), elements, elements};
        std::string problem = plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "many"), ops[i]);
        if (!problem.empty())
          return problem;
      }
      for (int round = 0; round < 3; ++round) {
        for (braid_op *op : ops)
          if (braid_op_start(op))
            return braid_last_error();
        for (int i = count - 1; i >= 0; --i) {
          int at = (i * 5 + round) % count;
          if (braid_op_wait(ops[size_t(at)]))
            return braid_last_error();
          int expected = n * at + n * (n - 1) / 2;
          for (int32_t value : out[size_t(at)])
            if (value != expected)
              return "expected " + std::to_string(expected) + ", got " + std::to_string(value);
        }
      }
      for (braid_op *op : ops)
        braid_op_destroy(op);
      return {};
    }) == "");
  }
}

TEST_CASE("subsets overlap, and operations on them mix", "[executor]") {
  Ranks ranks(5, {});
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    std::vector<int32_t> low = {0, 1, 2}, high = {4, 3, 2};
    braid_comm *lower = nullptr, *upper = nullptr;
    if (rank <= 2 && braid_comm_subset(comm, low.data(), 3, &lower))
      return braid_last_error();
    if (rank >= 2 && braid_comm_subset(comm, high.data(), 3, &upper))
      return braid_last_error();
    int32_t at = -1, n = -1;
    if (upper && (braid_comm_rank(upper, &at, &n) || at != 4 - rank || n != 3))
      return "expected ranks in the given order, got " + std::to_string(at);
    for (int i = 0; i < 50; ++i) {
      std::string problem = lower ? sumOfOne(lower, rank, 3) : "";
      if (problem.empty() && upper)
        problem = sumOfOne(upper, rank, 9);
      if (problem.empty())
        problem = sumOfOne(comm, rank, 10);
      if (!problem.empty())
        return problem;
    }
    if ((lower && braid_comm_destroy(lower)) || (upper && braid_comm_destroy(upper)))
      return braid_last_error();
    return {};
  }) == "");
}

TEST_CASE("what can't be done is refused in words", "[executor]") {
  Ranks ranks(2, {});
  braid_comm *comm = ranks.comm(0);
  int32_t data[16] = {};
  braid_buffer one = {data, data + 8, 4, 4}, uneven = {data, data + 8, 3, 4}, missing = {nullptr, data, 4, 4};
  auto refused = [&](braid_op_options options, braid_status status, const std::string &words) {
    braid_op *op = nullptr;
    CHECK(braid_op_plan(comm, &options, &op) == status);
    CHECK(op == nullptr);
    INFO(braid_last_error());
    CHECK(contains(braid_last_error(), words));
    CHECK(contains(braid_last_error(), "got"));
  };
  auto all = optionsOf(BRAID_ALL_REDUCE, &one, 1, "x");
  auto with = [&](auto change) {
    braid_op_options options = all;
    change(options);
    return options;
  };
  refused(with([](auto &o) { o.size = 8; }), BRAID_INVALID, "size");
  refused(with([](auto &o) { o.collective = braid_collective(99); }), BRAID_INVALID, "collective");
  refused(with([](auto &o) { o.type = braid_type(99); }), BRAID_INVALID, "braid_type");
  refused(with([](auto &o) { o.reduction = braid_reduction(99); }), BRAID_INVALID, "braid_reduction");
  refused(with([](auto &o) { o.type = BRAID_F32, o.reduction = BRAID_XOR; }), BRAID_INVALID, "a reduction of f32");
  refused(with([](auto &o) { o.type = BRAID_BOOL, o.reduction = BRAID_AVERAGE; }), BRAID_INVALID,
          "a reduction of bool");
  refused(with([](auto &o) { o.collective = BRAID_BROADCAST, o.root = 2; }), BRAID_INVALID, "root below 2");
  refused(with([](auto &o) { o.algorithm = "rnig"; }), BRAID_INVALID, "ring");
  refused(with([](auto &o) { o.algorithm = "pairwise_exchange"; }), BRAID_UNSUPPORTED, "serves");
  refused(with([](auto &o) { o.channels = -1; }), BRAID_INVALID, "channels");
  refused(with([](auto &o) { o.tensors = 0; }), BRAID_INVALID, "at least one tensor");
  refused(with([&](auto &o) { o.buffers = &uneven; }), BRAID_INVALID, "3 elements to receive");
  refused(with([&](auto &o) { o.buffers = &missing; }), BRAID_INVALID, "buffer to send");
  refused(with([&](auto &o) { o.buffers = &uneven, o.collective = BRAID_REDUCE_SCATTER; }), BRAID_INVALID,
          "multiple of 2");
  refused(with([](auto &o) { o.collective = BRAID_SEND, o.peer = 0; }), BRAID_INVALID, "another rank");
  refused(with([](auto &o) { o.collective = BRAID_SEND, o.peer = 1, o.tag = 1 << 20; }), BRAID_INVALID, "tag");
  int32_t twice[] = {0, 1, 1, 1};
  refused(with([&](auto &o) { o.collective = BRAID_PERMUTE, o.pairs = 2, o.pair_list = twice; }), BRAID_INVALID,
          "at most once");
  braid_buffer overlapping[] = {{data, data + 8, 4, 4}, {data + 4, data + 10, 4, 4}};
  refused(with([&](auto &o) { o.buffers = overlapping, o.tensors = 2; }), BRAID_INVALID, "overlap");
  braid_buffer across[] = {{data, data + 8, 4, 4}, {data + 10, data + 4, 2, 2}};
  refused(with([&](auto &o) { o.buffers = across, o.tensors = 2; }), BRAID_INVALID, "operand of tensor 1");

  braid_op *op = nullptr;
  REQUIRE(plan(comm, all, op) == "");
  CHECK(braid_op_wait(op) == BRAID_INVALID);
  CHECK(braid_comm_destroy(comm) == BRAID_INVALID); // it has an operation
  CHECK(braid_op_destroy(op) == BRAID_OK);
  CHECK(braid_op_start(nullptr) == BRAID_INVALID);
  CHECK(contains(braid_last_error(), "an operation, got null"));
  int32_t notMine[] = {1}, doubled[] = {0, 0};
  braid_comm *subset = nullptr;
  CHECK(braid_comm_subset(comm, notMine, 1, &subset) == BRAID_INVALID);
  CHECK(braid_comm_subset(comm, doubled, 2, &subset) == BRAID_INVALID);
}

TEST_CASE("ranks that ask for different operations are told of both", "[executor]") {
  Ranks ranks(3, impatient(20));
  std::vector<std::string> errors(3);
  ranks.run([&](int rank, braid_comm *comm) -> std::string {
    int32_t in[4] = {}, out[4] = {};
    braid_buffer buffer = {in, out, 4, 4};
    braid_op *op = nullptr;
    auto options =
        optionsOf(rank == 2 ? BRAID_BROADCAST : BRAID_ALL_REDUCE, &buffer, 1, rank == 2 ? "weights" : "gradients");
    errors[size_t(rank)] = plan(comm, options, op);
    if (errors[size_t(rank)].empty())
      errors[size_t(rank)] = startAndWait(op);
    braid_op_destroy(op);
    return {};
  });
  for (const std::string &error : errors) {
    INFO(error);
    CHECK(contains(error, "all_reduce 'gradients'"));
    CHECK(contains(error, "broadcast 'weights'"));
  }
}

TEST_CASE("hashes are compared, and the first rank that differs is named", "[executor]") {
  Ranks ranks(4, {});
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    if (braid_comm_agree(comm, 42))
      return braid_last_error();
    if (braid_comm_agree(comm, rank >= 2 ? 43 : 42) != BRAID_MISMATCH)
      return "expected a mismatch";
    if (!contains(braid_last_error(), "from rank 2"))
      return braid_last_error();
    return braid_comm_agree(comm, 7) ? braid_last_error() : ""; // and the communicator goes on
  }) == "");
}

TEST_CASE("a message of another size is a mismatch", "[executor]") {
  Ranks ranks(2, impatient(20));
  std::vector<std::string> errors(2);
  ranks.run([&](int rank, braid_comm *comm) -> std::string {
    int32_t data[8] = {};
    braid_buffer buffer = {};
    auto options = optionsOf(rank ? BRAID_RECV : BRAID_SEND, &buffer, 1, "p2p");
    (rank ? buffer.receive_count : buffer.send_count) = rank ? 4 : 8;
    buffer.send = rank ? nullptr : data;
    buffer.receive = rank ? data : nullptr;
    options.peer = 1 - rank;
    braid_op *op = nullptr;
    errors[size_t(rank)] = plan(comm, options, op);
    if (errors[size_t(rank)].empty())
      errors[size_t(rank)] = startAndWait(op);
    braid_op_destroy(op);
    return {};
  });
  CHECK(contains(errors[1], "recv 'p2p': expected i32[4] from rank 0, got i32[8]"));
}

TEST_CASE("messages of one tag arrive in the order of the starts", "[executor]") {
  Ranks ranks(2, impatient(20));
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    constexpr int count = 20; // more than a queue holds
    std::vector<int32_t> data(count, -1);
    std::vector<braid_op *> ops(count);
    for (int i = 0; i < count; ++i) {
      braid_buffer buffer = {};
      (rank ? buffer.receive_count : buffer.send_count) = 1;
      if (rank == 0)
        data[size_t(i)] = i;
      buffer.send = rank ? nullptr : &data[size_t(i)];
      buffer.receive = rank ? &data[size_t(i)] : nullptr;
      auto options = optionsOf(rank ? BRAID_RECV : BRAID_SEND, &buffer, 1, "p2p");
      options.peer = 1 - rank;
      options.tag = 3;
      std::string problem = plan(comm, options, ops[size_t(i)]);
      if (!problem.empty())
        return problem;
    }
    for (braid_op *op : ops)
      if (braid_op_start(op))
        return braid_last_error();
    for (int i = count - 1; i >= 0; --i)
      if (braid_op_wait(ops[size_t(i)]))
        return braid_last_error();
    for (braid_op *op : ops)
      braid_op_destroy(op);
    for (int i = 0; i < count; ++i)
      if (data[size_t(i)] != i)
        return "expected message " + std::to_string(i) + ", got " + std::to_string(data[size_t(i)]);
    return {};
  }) == "");
}

TEST_CASE("abort reaches ranks that wait, with the reason", "[executor]") {
  Ranks ranks(3, impatient(60));
  double begin = seconds();
  std::vector<std::string> errors(3);
  std::vector<braid_status> status(3, BRAID_OK);
  ranks.run([&](int rank, braid_comm *comm) -> std::string {
    if (rank == 1) {
      braid_comm_abort(comm, "the disk is full");
      return {};
    }
    braid_op *op = nullptr;
    auto options = optionsOf(BRAID_BARRIER, nullptr, 0, "b");
    plan(comm, options, op);
    braid_op_start(op);
    status[size_t(rank)] = braid_op_wait(op);
    errors[size_t(rank)] = braid_last_error();
    braid_op_destroy(op);
    return {};
  });
  for (int rank : {0, 2}) {
    CHECK(status[size_t(rank)] == BRAID_ABORTED);
    INFO(errors[size_t(rank)]);
    CHECK(contains(errors[size_t(rank)], "rank 1 gave up"));
    CHECK(contains(errors[size_t(rank)], "the disk is full"));
  }
  CHECK(seconds() - begin < 10);
}

TEST_CASE("a rank that never comes is named when the deadline has passed", "[executor]") {
  Ranks ranks(2, impatient(0.3));
  std::string error;
  braid_status status = BRAID_OK;
  ranks.run([&](int rank, braid_comm *comm) -> std::string {
    if (rank == 1)
      return {};
    int32_t in = 0, out = 0;
    braid_buffer buffer = {&in, &out, 1, 1};
    braid_op *op = nullptr;
    plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "late"), op);
    braid_op_start(op);
    status = braid_op_wait(op);
    error = braid_last_error();
    CHECK(braid_op_start(op) != BRAID_OK); // it stays failed
    braid_op_destroy(op);
    return {};
  });
  CHECK(status == BRAID_TIMEOUT);
  INFO(error);
  CHECK(contains(error, "rank 0: all_reduce 'late': rank 1 has not started it within 0.3 s"));
}

TEST_CASE("large tensors of a bucket in shared memory are not copied", "[executor]") {
  Ranks ranks(2, {});
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    size_t counts[] = {100000, 3, 50000, 5};
    std::vector<braid_buffer> buffers;
    for (size_t count : counts) {
      auto *in = static_cast<int32_t *>(braid_alloc(comm, count * 4));
      auto *out = static_cast<int32_t *>(braid_alloc(comm, count * 4));
      std::iota(in, in + count, rank);
      buffers.push_back({in, out, count, count});
    }
    braid_op *op = nullptr;
    std::string problem = plan(comm, optionsOf(BRAID_ALL_REDUCE, buffers.data(), 4, "bucket"), op);
    if (problem.empty())
      problem = startAndWait(op); // with the announcement
    auto before = comm->comm->transport().counters();
    if (problem.empty())
      problem = startAndWait(op);
    auto after = comm->comm->transport().counters();
    if (after.bytesCopied != before.bytesCopied) // the two small ones travel inside a slot
      problem += "copied " + std::to_string(after.bytesCopied - before.bytesCopied) + " bytes";
    if (after.messages - before.messages != 2 * 3)
      problem += "sent " + std::to_string(after.messages - before.messages) + " messages";
    for (const braid_buffer &buffer : buffers)
      for (size_t i = 0; i < buffer.send_count; ++i)
        if (static_cast<int32_t *>(buffer.receive)[i] != int32_t(2 * i + 1))
          return "wrong sum at " + std::to_string(i);
    braid_op_destroy(op);
    return problem;
  }) == "");
}

TEST_CASE("operations that are awaited late end while nobody waits", "[executor]") {
  Ranks ranks(3, {});
  std::atomic<int> ended{0};
  CHECK(ranks.run([&](int, braid_comm *comm) -> std::string {
    std::vector<int32_t> in(30000, 1), out(30000);
    braid_buffer buffer = {in.data(), out.data(), in.size(), in.size()};
    auto options = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "late");
    options.algorithm = "ring"; // many steps
    braid_op *op = nullptr;
    std::string problem = plan(comm, options, op);
    for (int round = 0; round < 3 && problem.empty(); ++round) {
      if (braid_op_start(op))
        return braid_last_error();
      for (double begin = seconds(); round == 2 && !comm->comm->ended(*op->operation) && seconds() - begin < 20;)
        std::this_thread::sleep_for(std::chrono::microseconds(100)); // asking holds what the thread needs
      if (round == 2)
        ended += comm->comm->ended(*op->operation);
      problem = braid_op_wait(op) ? braid_last_error() : "";
      op->operation->overlaps = true; // a late wait sets this when it finds steps that could have been taken
    }
    braid_op_destroy(op);
    return problem;
  }) == "");
  CHECK(ended == 3);
}

TEST_CASE("lanes and memory are used again", "[executor]") {
  Ranks ranks(2, {});
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    for (int i = 0; i < 5000; ++i) { // more operations than there are lanes
      std::string problem = sumOfOne(comm, rank, 1);
      if (!problem.empty())
        return problem;
    }
    return {};
  }) == "");
}

namespace {

/// Recursive doubling on 4 ranks: each step exchanges what was summed so far, which a rank without a copy could not overwrite.
algorithms::StepProgram doubling(algorithms::Collective collective, int ranks, int rank,
                                 const algorithms::StepOptions &) {
  algorithms::StepProgram program;
  program.collective = collective;
  program.ranks = ranks;
  program.chunks = program.channels = 1;
  for (int distance = 1; distance < ranks; distance *= 2) {
    program.steps.push_back({algorithms::Action::Send, rank ^ distance, 0, 1, 0});
    program.steps.push_back({algorithms::Action::ReceiveReduce, rank ^ distance, 0, 1, 0});
  }
  return program;
}

} // namespace

TEST_CASE("programs that can't do without copies run with copies", "[executor]") {
  using algorithms::Collective;
  algorithms::Algorithm algorithm = *algorithms::find("two_shot");
  algorithm.name = "test_doubling";
  algorithm.program = doubling;
  algorithm.serves = [](Collective collective, int ranks) { return collective == Collective::AllReduce && ranks == 8; };
  algorithms::add(algorithm);
  auto programs = algorithms::programs(algorithm, Collective::AllReduce, 8, {});
  REQUIRE(algorithms::check(Collective::AllReduce, 8, programs) == "");
  REQUIRE_FALSE(runtime::runsWithoutCopies(programs, false));
  Ranks ranks(8, impatient(20));
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    size_t count = 30000;
    auto *in = static_cast<int32_t *>(braid_alloc(comm, count * 4));
    auto *out = static_cast<int32_t *>(braid_alloc(comm, count * 4));
    for (bool inPlace : {false, true}) {
      braid_buffer buffer = {in, inPlace ? in : out, count, count};
      auto options = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "doubling");
      options.algorithm = "test_doubling";
      braid_op *op = nullptr;
      std::string problem = plan(comm, options, op);
      for (int round = 0; round < 2 && problem.empty(); ++round) {
        std::iota(in, in + count, rank);
        problem = startAndWait(op);
        for (size_t i = 0; i < count && problem.empty(); ++i)
          if (static_cast<int32_t *>(buffer.receive)[i] != int32_t(8 * i + 28))
            problem = "wrong sum at " + std::to_string(i);
      }
      braid_op_destroy(op);
      if (!problem.empty())
        return problem;
    }
    return {};
  }) == "");
  algorithms::remove(algorithm.name);
}

TEST_CASE("only programs that exchange partial sums need copies out of place", "[executor]") {
  using algorithms::Collective;
  for (const algorithms::Algorithm &algorithm : algorithms::registry())
    for (int kind = 0; kind < int(Collective::Barrier); ++kind)
      for (int n = 1; n <= 9; ++n)
        if (algorithm.needs == algorithms::Needs::Nothing && algorithm.serves(Collective(kind), n))
          for (int segments : {1, 5}) {
            algorithms::StepOptions options;
            options.channels = 2;
            options.segments = segments;
            bool exchanges =
                algorithm.name == "recursive_doubling" && Collective(kind) == Collective::AllReduce && n >= 4;
            INFO(algorithm.name << " " << algorithms::name(Collective(kind)) << " on " << n);
            CHECK(runtime::runsWithoutCopies(algorithms::programs(algorithm, Collective(kind), n, options), false) !=
                  exchanges);
          }
  // In place, two ranks that exchange blocks would wait for each other.
  const auto &pairwise = *algorithms::find("pairwise_exchange"), &ring = *algorithms::find("ring");
  CHECK_FALSE(runtime::runsWithoutCopies(algorithms::programs(pairwise, Collective::AllToAll, 2, {}), true));
  CHECK(runtime::runsWithoutCopies(algorithms::programs(ring, Collective::AllReduce, 4, {}), true));
}

TEST_CASE("the death of a process is seen at once, and the survivors go on", "[executor][processes]") {
  for (int victim : {0, 2}) {
    std::vector<uint64_t> results;
    std::string problem = runProcesses(
        4, impatient(60),
        [&](int rank, braid_comm *comm, uint64_t &result) -> std::string {
          std::string problem = sumOfOne(comm, rank, 6);
          if (!problem.empty())
            return problem;
          if (rank == victim)
            _exit(0); // without a goodbye
          double begin = seconds();
          int32_t in = 1, out = 0;
          braid_buffer buffer = {&in, &out, 1, 1};
          braid_op *op = nullptr;
          plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "orphan"), op);
          braid_op_start(op);
          braid_status status = braid_op_wait(op);
          std::string error = braid_last_error();
          if (status != BRAID_PEER_DIED || !contains(error, "rank " + std::to_string(victim) + " died"))
            return "expected to hear of the death, got " + std::to_string(status) + ": " + error;
          if (seconds() - begin > 1)
            return "heard of the death after " + std::to_string(seconds() - begin) + " s";
          braid_op_destroy(op);
          std::vector<int32_t> others;
          for (int32_t other = 0; other < 4; ++other)
            if (other != victim)
              others.push_back(other);
          braid_comm *rest = nullptr;
          if (braid_comm_subset(comm, others.data(), 3, &rest))
            return braid_last_error();
          problem = sumOfOne(rest, rank, 6 - victim);
          if (braid_comm_destroy(rest))
            problem += braid_last_error();
          result = 1;
          return problem;
        },
        results);
    CHECK(problem == "");
    CHECK(std::accumulate(results.begin(), results.end(), uint64_t(0)) == 3);
  }
}
