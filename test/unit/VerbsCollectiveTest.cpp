//===- VerbsCollectiveTest.cpp - collectives over the double of RDMA verbs: copies, registrations, rails that fail ----===//
#include "test/unit/OverVerbs.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <mutex>

using namespace braid;
using namespace braid::test;
using namespace braid::runtime::verbs;

TEST_CASE("verbs: a registered buffer of 64 KiB and more is copied 0 times", "[verbs]") {
  const char *mode = GENERATE("auto", "write", "read", "send");
  Forced forced("BRAID_IB_MODE", mode);
  INFO(mode);
  for (braid_collective collective : {BRAID_BROADCAST, BRAID_ALL_GATHER, BRAID_ALL_REDUCE, BRAID_ALL_TO_ALL}) {
    auto fabric = Fabric::create();
    Use use(fabric);
    Ranks ranks(3, overVerbs());
    REQUIRE(ranks.failed() == "");
    CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
      constexpr size_t block = 64 << 10; // elements
      size_t in = collective == BRAID_ALL_GATHER ? block : 3 * block;
      std::vector<int32_t> send(in, rank + 1), receive(3 * block); // foreign memory, not of braid_alloc
      braid_buffer buffer = {send.data(), receive.data(), in, 3 * block};
      if (collective == BRAID_BROADCAST && rank != 0)
        buffer = {nullptr, receive.data(), 0, 3 * block};
      braid_op *op = nullptr;
      std::string problem = plan(comm, optionsOf(collective, &buffer, 1, "large"), op);
      if (problem.empty())
        problem = startAndWait(op);
      auto before = comm->comm->transport().counters();
      for (int i = 0; i < 4 && problem.empty(); ++i)
        problem = startAndWait(op);
      auto after = comm->comm->transport().counters();
      bool sends = collective != BRAID_BROADCAST || rank == 0; // who is last does not
      if (problem.empty() && sends && after.bytes - before.bytes < 4 * 64 * 1024)
        problem = "expected large messages, got " + std::to_string(after.bytes - before.bytes) + " bytes";
      if (problem.empty() && after.bytesCopied != before.bytesCopied)
        problem = "expected no copies, got " + std::to_string(after.copies - before.copies) + " of " +
                  std::to_string(after.bytesCopied - before.bytesCopied) + " bytes";
      if (op && braid_op_destroy(op))
        problem += braid_last_error();
      return problem;
    }) == "");
  }
}

TEST_CASE("verbs: buffers are registered while an operation is planned with them", "[verbs]") {
  auto fabric = Fabric::create();
  Use use(fabric);
  Ranks ranks(2, overVerbs());
  REQUIRE(ranks.failed() == "");
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    constexpr size_t count = 1 << 16;
    std::vector<int32_t> one(count, 1), two(count, 2), result(count);
    braid_buffer buffer = {one.data(), result.data(), count, count};
    braid_op *op = nullptr;
    std::string problem = plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "sum"), op);
    auto expect = [&](const void *memory, bool there, const char *what) {
      if (problem.empty() && fabric->registered(rank, memory) != there)
        problem = std::string(what) + (there ? ": expected to be registered" : ": expected not to be registered");
    };
    expect(one.data(), true, "the operand of a plan");
    expect(result.data() + count - 1, true, "its result");
    expect(two.data(), false, "another buffer");
    buffer.send = two.data();
    if (problem.empty() && braid_op_rebind(op, &buffer, 1))
      problem = braid_last_error();
    expect(one.data(), false, "a buffer that was left, though its plan is remembered");
    expect(two.data(), true, "the new one");
    if (problem.empty())
      problem = startAndWait(op);
    if (problem.empty() && (result.front() != 4 || result.back() != 4))
      problem = "expected sums of 4";
    if (op && braid_op_destroy(op))
      problem += braid_last_error();
    expect(two.data(), false, "a buffer of no plan");
    return problem;
  }) == "");
}

TEST_CASE("verbs: one of two rails dies under a collective, and the sums are right", "[verbs]") {
  enum Event { QueuePairFails, DeviceRemoved, LinkCut };
  for (Event what : {QueuePairFails, DeviceRemoved, LinkCut})
    for (int count : {100, 200000}) {
      INFO(what << " with " << count);
      auto fabric = Fabric::create();
      Use use(fabric);
      std::once_flag once;
      Ranks ranks(4, overVerbs());
      REQUIRE(ranks.failed() == "");
      CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
        std::vector<int32_t> send(size_t(count), 0), receive(send.size());
        braid_buffer buffer = {send.data(), receive.data(), send.size(), send.size()};
        braid_op_options options = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "sum");
        options.algorithm = "ring";
        braid_op *op = nullptr;
        std::string problem = plan(comm, options, op);
        for (int step = 0; step < 8 && problem.empty(); ++step) {
          for (size_t i = 0; i < send.size(); ++i)
            send[i] = int32_t(i) + rank + step;
          if (braid_op_start(op))
            problem = braid_last_error();
          if (rank == 1 && step == 3)
            std::call_once(once, [&] {
              if (what == QueuePairFails)
                fabric->failQueuePair(1, 0, 2);
              else if (what == DeviceRemoved)
                fabric->removeDevice(2, 0);
              else
                fabric->cutLink(2, 0);
            });
          if (problem.empty() && braid_op_wait(op))
            problem = braid_last_error();
          for (size_t i = 0; i < receive.size() && problem.empty(); ++i)
            if (receive[i] != 4 * (int32_t(i) + step) + 6)
              problem = "step " + std::to_string(step) + ": expected " + std::to_string(4 * (int32_t(i) + step) + 6) +
                        ", got " + std::to_string(receive[i]);
        }
        if (!problem.empty())
          braid_comm_abort(comm, problem.c_str());
        if (op && braid_op_destroy(op) && problem.empty())
          problem = braid_last_error();
        return problem;
      }) == "");
    }
}

TEST_CASE("verbs: when a rail has died, messages are dealt anew over the queue pairs of those that are left",
          "[verbs]") {
  const char *mode = GENERATE("write", "read", "send");
  Forced forced("BRAID_IB_MODE", mode), pairs("BRAID_IB_QPS_PER_CONNECTION", "2");
  INFO(mode);
  auto fabric = Fabric::create();
  Use use(fabric);
  Ranks ranks(2, overVerbs());
  REQUIRE(ranks.failed() == "");
  std::vector<uint64_t> parts(2); // of the one large message of a step
  std::vector<uint64_t> carried(2);
  for (int step = 0; step < 4; ++step) {
    FabricFigures before = fabric->figures();
    CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
      std::vector<int32_t> data(1 << 18, rank == 0 ? step + 1 : 0); // 1 MiB
      braid_buffer buffer = {data.data(), data.data(), rank == 0 ? data.size() : 0, data.size()};
      braid_op *op = nullptr;
      std::string problem = plan(comm, optionsOf(BRAID_BROADCAST, &buffer, 1, "large"), op);
      if (problem.empty())
        problem = startAndWait(op);
      if (problem.empty() && (data.front() != step + 1 || data.back() != step + 1))
        problem = "expected the bytes of step " + std::to_string(step);
      if (op && braid_op_destroy(op))
        problem += braid_last_error();
      return problem;
    }) == "");
    FabricFigures after = fabric->figures();
    for (int rail : {0, 1})
      carried[size_t(rail)] = after.railBytes[rail] - before.railBytes[rail];
    parts[0] = parts[1];
    parts[1] = after.large - before.large;
    if (step == 0) {
      CHECK(parts[1] == 4); // two rails of two queue pairs
      CHECK((carried[0] >= 1 << 19 && carried[1] >= 1 << 19));
      fabric->cutLink(1, 0);
    }
  }
  CHECK(parts[1] == 2); // one rail of two
  CHECK((carried[0] == 0 && carried[1] >= 1 << 20));
}

TEST_CASE("verbs: without libibverbs the error says so on all ranks, with the way out", "[verbs]") {
  setenv("BRAID_IBVERBS", "/nowhere/libibverbs.so.1", 1);
  runtime::CommunicatorOptions options = impatient(20);
  options.transport = "verbs";
  Ranks ranks(2, options);
  unsetenv("BRAID_IBVERBS");
  CHECK(contains(ranks.failed(), "transport 'verbs': expected "));
  CHECK(contains(ranks.failed(), "the transport tcp"));
#ifdef BRAID_RT_HAVE_IBVERBS
  CHECK(contains(ranks.failed(),
                 "the library of rdma-core, got /nowhere/libibverbs.so.1: cannot open shared object file"));
#endif
}
