//===- DeviceDirectTest.cpp - devices that read each other's memory, behind the stand-in for their driver -----------===//
#include "core/Communicator.h"
#include "core/Direct.h"
#include "test/conformance/Device.h"
#include "test/conformance/Processes.h"
#include "test/conformance/Ranks.h"
#include "test/unit/PlannedOps.h"
#include "transports/cuda/Current.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <dlfcn.h>

using namespace braid;
using namespace braid::test;
using runtime::cuda::Address;

namespace {

// The driver is loaded once in a process, when it is first needed.
const int standIn =
    setenv("BRAID_CUDA_DRIVER", BRAID_FAKE_DRIVER, 0) + setenv("BRAID_CUDA_KERNELS", BRAID_FAKE_DRIVER, 0);

template <typename Function> Function *fake(const char *name) {
  void *library = dlopen(BRAID_FAKE_DRIVER, RTLD_NOW);
  return reinterpret_cast<Function *>(library ? dlsym(library, name) : nullptr);
}
uint64_t counted(const char *what) { return fake<uint64_t()>(what)(); }

constexpr size_t n = 6000;

/// An all_reduce of ones times (rank + 1) by ranks whose results are on a device; what it says to the test.
struct Sum {
  braid_comm *comm;
  Device device;
  std::vector<float> operand, result;
  braid_op *op = nullptr;
  braid_buffer buffer = {};
  std::string problem;

  Sum(braid_comm *comm, int rank, const char *algorithm, braid_memory memory = BRAID_MEMORY_DEVICE)
      : comm(comm), device(comm, memory), operand(n, float(rank + 1)), result(n, -1) {
    auto twin = [&](std::vector<float> &here) {
      return device.twin(reinterpret_cast<unsigned char *>(here.data()), n * sizeof(float));
    };
    buffer = {twin(operand), twin(result), n, n};
    plan(algorithm, memory);
  }
  ~Sum() {
    if (op)
      braid_op_destroy(op);
  }
  void plan(const char *algorithm, braid_memory memory) {
    braid_op_options options = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, nullptr);
    options.type = BRAID_F32;
    options.algorithm = algorithm;
    options.memory = memory;
    must(braid_op_plan(comm, &options, &op));
  }
  void must(braid_status status) {
    if (status && problem.empty())
      problem = braid_last_error();
  }
  /// Puts operands, runs, gets results and looks at them.
  std::string run(int ranks) {
    device.put();
    must(device.start(op));
    if (problem.empty())
      must(device.wait(op));
    device.get();
    for (size_t i = 0; i < n && problem.empty(); ++i)
      if (result[i] != float(ranks * (ranks + 1) / 2))
        problem = "element " + std::to_string(i) + ": got " + std::to_string(result[i]);
    return problem.empty() ? device.problem : problem;
  }
  bool isDirect() const { return op && op->operation->isDirect(); }
};

runtime::CommunicatorOptions shm(double deadline = 60) {
  runtime::CommunicatorOptions options;
  options.transport = "shm";
  options.deadline = deadline;
  return options;
}

} // namespace

TEST_CASE("what devices read directly passes through no memory of the host", "[device]") {
  constexpr int count = 4;
  for (const char *algorithm : {"ring", "two_shot", "halving_doubling", "naive_exchange"}) {
    INFO(algorithm);
    Ranks ranks(count, shm());
    REQUIRE(ranks.failed().empty());
    uint64_t launches = counted("fake_launches");
    CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
      Sum sum(comm, rank, algorithm);
      if (std::string wrong = sum.run(count); !wrong.empty())
        return wrong;
      if (!sum.isDirect())
        return "expected it to be direct";
      if (braid_comm_agree(comm, 1)) // nobody else's copies are on their way
        return braid_last_error();
      uint64_t before = counted("fake_staged_bytes");
      for (int round = 0; round < 3; ++round) {
        sum.must(sum.device.start(sum.op));
        sum.must(sum.device.wait(sum.op));
      }
      uint64_t staged = counted("fake_staged_bytes") - before;
      if (sum.problem.empty() && braid_comm_agree(comm, 2))
        return braid_last_error();
      return sum.problem.empty() && staged ? std::to_string(staged) + " bytes were staged" : sum.problem;
    }) == "");
    CHECK(counted("fake_launches") > launches);
  }
}

TEST_CASE("where one rank can't, all stage, whichever it is", "[device]") {
  constexpr int count = 3;
  auto *fromPool = fake<int(Address *, size_t)>("fake_alloc_from_pool");
  for (int which = 0; which < count; ++which)
    for (bool pool : {false, true}) {
      INFO("rank " << which << (pool ? " has memory of a pool" : " has memory of the host"));
      Ranks ranks(count, shm());
      CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
        if (rank == which && !pool) {
          Sum sum(comm, rank, "ring", BRAID_MEMORY_HOST);
          return sum.run(count);
        }
        Sum sum(comm, rank, "ring");
        Address own = 0;
        if (rank == which) { // its operand is put there from the other one
          if (fromPool(&own, n * sizeof(float)))
            return "no memory";
          braid_op_destroy(sum.op);
          sum.buffer.receive = reinterpret_cast<void *>(own);
          sum.plan("ring", BRAID_MEMORY_DEVICE);
        }
        std::string wrong;
        if (own) {
          sum.device.put();
          sum.must(sum.device.start(sum.op));
          sum.must(sum.device.wait(sum.op));
          sum.device.get();
          wrong = sum.problem;
        } else {
          wrong = sum.run(count);
        }
        bool direct = sum.isDirect();
        if (own) {
          braid_op_destroy(sum.op);
          sum.op = nullptr;
          fake<int(Address)>("cuMemFree_v2")(own);
        }
        return !wrong.empty() ? wrong : direct ? "expected it to be staged" : "";
      }) == "");
    }
}

TEST_CASE("buffers of several devices are staged, since kernels of one reach no others", "[device]") {
  constexpr int count = 2;
  std::vector<uint64_t> none;
  CHECK(runProcesses(
            count, shm(20),
            [&](int rank, braid_comm *comm, uint64_t &) -> std::string {
              fake<void(int)>("fake_set_devices")(2);
              Sum sum(comm, rank, "ring");
              braid_op_destroy(sum.op);
              sum.op = nullptr;
              runtime::Outcome found;
              const runtime::cuda::Driver *driver = runtime::cuda::Driver::find(found);
              runtime::cuda::Context other = nullptr;
              driver->cuDevicePrimaryCtxRetain(&other, 1 - rank);
              Address away = 0;
              {
                runtime::cuda::Current current(*driver, other);
                driver->cuMemAlloc_v2(&away, n * sizeof(float));
              }
              sum.buffer.receive = reinterpret_cast<void *>(away);
              sum.plan("ring", BRAID_MEMORY_DEVICE);
              sum.device.put();
              sum.must(sum.device.start(sum.op));
              sum.must(sum.device.wait(sum.op));
              sum.device.get();
              return !sum.problem.empty() ? sum.problem : sum.isDirect() ? "expected it to be staged" : "";
            },
            none) == "");
}

TEST_CASE("the address of a buffer of no bytes is not looked at", "[device]") {
  Ranks ranks(2, shm());
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    Sum sum(comm, rank, "ring");
    braid_op_destroy(sum.op);
    sum.op = nullptr;
    static char ofHost;
    sum.buffer = {&ofHost, &ofHost, 0, 0};
    sum.plan("ring", BRAID_MEMORY_DEVICE);
    if (sum.op) {
      sum.must(sum.device.start(sum.op));
      sum.must(sum.device.wait(sum.op));
    }
    return sum.problem;
  }) == "");
}

TEST_CASE("a direct operation takes other buffers, and refuses those that peers can't reach", "[device]") {
  constexpr int count = 2;
  auto *fromPool = fake<int(Address *, size_t)>("fake_alloc_from_pool");
  Ranks ranks(count, shm());
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    Sum sum(comm, rank, "ring");
    if (std::string wrong = sum.run(count); !wrong.empty())
      return wrong;
    const void *first = sum.buffer.send;
    std::vector<float> second(n, float(rank + 1));
    for (bool other : {true, false}) {
      sum.buffer.send =
          other ? sum.device.twin(reinterpret_cast<unsigned char *>(second.data()), n * sizeof(float)) : first;
      std::fill(sum.result.begin(), sum.result.end(), -1.0f);
      sum.must(braid_op_rebind(sum.op, &sum.buffer, 1));
      if (std::string wrong = sum.run(count); !wrong.empty())
        return wrong;
    }
    Address own = 0;
    fromPool(&own, n * sizeof(float));
    braid_buffer other = {sum.buffer.send, reinterpret_cast<void *>(own), n, n};
    std::string said = braid_op_rebind(sum.op, &other, 1) ? braid_last_error() : "";
    fake<int(Address)>("cuMemFree_v2")(own);
    if (said.find("expected buffers that peers reach, like those before, got others: cuda: a handle for other "
                  "processes: ") == std::string::npos)
      return "got '" + said + "'";
    return sum.run(count);
  }) == "");
}

TEST_CASE("processes open each allocation once, also one at the address of another, and close what they read",
          "[device]") {
  constexpr int count = 3;
  std::vector<uint64_t> opens;
  CHECK(runProcesses(
            count, shm(),
            [&](int rank, braid_comm *comm, uint64_t &result) -> std::string {
              auto sum = std::make_unique<Sum>(comm, rank, "naive_exchange");
              for (int round = 0; round < 4; ++round)
                if (std::string wrong = sum->run(count); !wrong.empty())
                  return wrong;
              if (!sum->isDirect())
                return "expected it to be direct";
              result = counted("fake_open");
              if (rank == 0) { // the same address, and another allocation: who reads the old one gets what was there
                void *old = const_cast<void *>(sum->buffer.send);
                fake<int(Address)>("cuMemFree_v2")(reinterpret_cast<Address>(old));
                Address fresh = 0;
                fake<int(Address *, size_t)>("cuMemAlloc_v2")(&fresh, n * sizeof(float));
                if (reinterpret_cast<void *>(fresh) != old)
                  return "expected the stand-in to give the same address";
                sum->must(braid_op_rebind(sum->op, &sum->buffer, 1));
              }
              for (float &each : sum->operand)
                each *= 2;
              sum->device.put();
              sum->must(sum->device.start(sum->op));
              sum->must(sum->device.wait(sum->op));
              sum->device.get();
              if (!sum->problem.empty() || sum->result[7] != float(count * (count + 1)))
                return sum->problem + " got " + std::to_string(sum->result[7]);
              if (uint64_t now = counted("fake_open"); now != result)
                return "expected " + std::to_string(result) + " allocations to be open, got " + std::to_string(now);
              sum.reset();
              if (uint64_t left = counted("fake_open"))
                return std::to_string(left) + " allocations are still open";
              return braid_comm_agree(comm, 3) ? braid_last_error() : "";
            },
            opens) == "");
  for (uint64_t each : opens)
    CHECK(each == count - 1); // the operand of each peer
}

TEST_CASE("memory of a peer that can't be opened: staged where it shows in time, else one sentence", "[device]") {
  constexpr int count = 2;
  auto *failOpens = fake<void(int64_t)>("fake_fail_opens");
  std::vector<uint64_t> none;
  for (int64_t after : {0, 1}) {
    INFO("after " << after);
    std::string problem = runProcesses(
        count, shm(20),
        [&](int rank, braid_comm *comm, uint64_t &) -> std::string {
          if (rank == 1)
            failOpens(after);
          Sum sum(comm, rank, "ring");
          std::string wrong = sum.run(count);
          return wrong.empty() && sum.isDirect() ? "expected it to be staged" : wrong;
        },
        none);
    INFO(problem);
    if (after == 0)
      CHECK(problem == "");
    else
      CHECK(problem.find("all_reduce: cuda: opening memory of another process: refused by the stand-in (error 205) "
                         "(memory of rank 0)") != std::string::npos);
  }
}

TEST_CASE("a sender's buffer is its own again only when a slow peer's device has read it", "[device]") {
  auto *slow = fake<void(uint64_t)>("fake_slow");
  std::vector<uint64_t> none;
  CHECK(runProcesses(
            2, shm(600),
            [&](int rank, braid_comm *comm, uint64_t &) -> std::string {
              Device device(comm, BRAID_MEMORY_DEVICE);
              std::vector<float> here(n);
              auto *there = device.twin(reinterpret_cast<unsigned char *>(here.data()), n * sizeof(float));
              braid_buffer buffer = {rank ? nullptr : there, there, rank ? 0 : n, n};
              braid_op_options options = optionsOf(BRAID_BROADCAST, &buffer, 1, nullptr);
              options.type = BRAID_F32;
              options.memory = BRAID_MEMORY_DEVICE;
              options.algorithm = "binomial_tree";
              braid_op *op = nullptr;
              if (braid_op_plan(comm, &options, &op))
                return braid_last_error();
              if (rank)
                slow(100);
              for (int round = 1; round < 5; ++round) {
                std::fill(here.begin(), here.end(), rank ? -1.0f : float(round));
                device.put();
                if (device.start(op) || device.wait(op))
                  return braid_last_error();
                if (rank == 0) // at once
                  std::fill(here.begin(), here.end(), -2.0f), device.put();
                device.get();
                if (here[n / 2] != (rank ? float(round) : -2.0f))
                  return "round " + std::to_string(round) + ": got " + std::to_string(here[n / 2]);
              }
              return braid_op_destroy(op) ? braid_last_error() : "";
            },
            none) == "");
}

TEST_CASE("an operation that waits for its device is overtaken by one of the host", "[device]") {
  constexpr int count = 2;
  auto *slow = fake<void(uint64_t)>("fake_slow");
  Ranks ranks(count, shm());
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    Sum late(comm, rank, "ring"), soon(comm, rank, "ring", BRAID_MEMORY_HOST);
    if (braid_comm_agree(comm, 1)) // both are planned
      return braid_last_error();
    slow(20000); // the operand is not there yet
    late.device.put();
    late.must(late.device.start(late.op));
    if (std::string wrong = soon.run(count); !wrong.empty())
      return wrong;
    slow(1);
    late.must(late.device.wait(late.op));
    late.device.get();
    return !late.problem.empty() ? late.problem : late.result[0] != 3 ? "got " + std::to_string(late.result[0]) : "";
  }) == "");
  slow(1);
}

TEST_CASE("who waits for what a peer says about its device names it", "[device]") {
  std::vector<uint64_t> none;
  std::string problem = runProcesses(
      2, shm(1),
      [&](int rank, braid_comm *comm, uint64_t &) -> std::string {
        Sum sum(comm, rank, "ring");
        if (rank == 0)
          return sum.run(2);
        sum.must(sum.device.start(sum.op)); // says what it is, and nothing more until the other has given up
        while (!comm->comm->transport().fault())
          sched_yield();
        return sum.problem;
      },
      none);
  CHECK(problem.find("all_reduce: rank 1 has not said whether it reaches the others' devices within 1 s") !=
        std::string::npos);
}

/// With one rank's result elsewhere: all stage, and get what they want.
std::string stagesWith(const std::function<char *(char *own)> &elsewhere) {
  constexpr int count = 2;
  std::vector<uint64_t> none;
  return runProcesses(
      count, shm(20),
      [&](int rank, braid_comm *comm, uint64_t &) -> std::string {
        Sum sum(comm, rank, "ring");
        if (rank == 1) {
          braid_op_destroy(sum.op);
          sum.buffer.receive = elsewhere(static_cast<char *>(sum.buffer.receive));
          sum.plan("ring", BRAID_MEMORY_DEVICE);
        }
        sum.device.put();
        sum.must(sum.device.start(sum.op));
        sum.must(sum.device.wait(sum.op));
        sum.device.get();
        if (sum.problem.empty() && rank == 0 && sum.result[n - 1] != 3)
          return "got " + std::to_string(sum.result[n - 1]);
        return sum.problem.empty() && sum.isDirect() ? "expected it to be staged" : sum.problem;
      },
      none);
}

TEST_CASE("a rank with buffers on several devices, or misaligned ones, lets all stage", "[device]") {
  auto alloc = [](intptr_t context, size_t bytes) {
    runtime::cuda::Context left = nullptr;
    Address at = 0;
    fake<int(runtime::cuda::Context)>("cuCtxPushCurrent_v2")(reinterpret_cast<runtime::cuda::Context>(context));
    fake<int(Address *, size_t)>("cuMemAlloc_v2")(&at, bytes);
    fake<int(runtime::cuda::Context *)>("cuCtxPopCurrent_v2")(&left);
    return reinterpret_cast<char *>(at);
  };
  CHECK(stagesWith([&](char *) { return alloc(2, n * sizeof(float)); }) == ""); // the stand-in's second device
  CHECK(stagesWith([&](char *) { return alloc(1, n * sizeof(float) + 1) + 1; }) == "");
}

TEST_CASE("the environment turns direct reads off", "[device]") {
  auto read = [](std::map<std::string, std::string> variables) -> std::string {
    runtime::PeerLevel level;
    runtime::Outcome done = runtime::readPeerLevel(
        [&](const char *name) { return variables.count(name) ? variables[name].c_str() : nullptr; }, level);
    return !done ? done.text : level.off ? "off: " + level.why : level.onlyNvlink ? "NVLink" : "on";
  };
  CHECK(read({}) == "on");
  CHECK(read({{"NCCL_P2P_DISABLE", "1"}}) == "off: NCCL_P2P_DISABLE=1");
  CHECK(read({{"NCCL_P2P_DISABLE", "1"}, {"BRAID_P2P_DISABLE", "0"}}) == "on");
  CHECK(read({{"BRAID_P2P_DISABLE", "yes"}}) == "BRAID_P2P_DISABLE: expected 0 or 1, got 'yes'");
  CHECK(read({{"NCCL_P2P_LEVEL", "LOC"}}) == "off: NCCL_P2P_LEVEL=LOC");
  CHECK(read({{"NCCL_P2P_LEVEL", "PXB"}}) == "NVLink");
  CHECK(read({{"BRAID_P2P_LEVEL", "SYS"}, {"NCCL_P2P_LEVEL", "LOC"}}) == "on");
  CHECK(read({{"BRAID_P2P_LEVEL", "far"}}) ==
        "BRAID_P2P_LEVEL: expected LOC, NVL, PIX, PXB, PHB, SYS, or a number from 0 to 5, got 'far'");
  CHECK(read({{"NCCL_P2P_LEVEL", "0"}}) == "off: NCCL_P2P_LEVEL=0");
  CHECK(read({{"NCCL_P2P_LEVEL", "2"}}) == "NVLink");
  CHECK(read({{"NCCL_P2P_LEVEL", "4"}}) == "on");
  CHECK(contains(read({{"NCCL_P2P_LEVEL", "-1"}}), "NCCL_P2P_LEVEL: expected"));
  CHECK(read({{"BRAID_CUDA_BLOCKS", "64"}}) == "on");
  for (const char *wrong : {"many", "0", "-1", "64 ", "123456"})
    CHECK(read({{"BRAID_CUDA_BLOCKS", wrong}}) ==
          "BRAID_CUDA_BLOCKS: expected a number from 1 to 99999, got '" + std::string(wrong) + "'");
}

TEST_CASE("a message that is copied is written by the step that makes it", "[device]") {
  using runtime::PlannedStep;
  char sum[8], message[8], other[8];
  PlannedStep reduce, send, again;
  reduce.kind = PlannedStep::Reduce;
  reduce.to = sum;
  reduce.bytes = 8;
  send.kind = again.kind = PlannedStep::Send;
  send.mine = again.mine = sum;
  send.bytes = again.bytes = 8;
  send.to = message;
  again.to = other;
  runtime::Plan plan;
  plan.lanes.resize(1);
  plan.lanes[0].steps = {reduce, send, again};
  runtime::fuseCopies(plan);
  const std::vector<PlannedStep> &steps = plan.lanes[0].steps;
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].also == message);
  CHECK((steps[1].kind == PlannedStep::Send && !steps[1].to));
  CHECK((steps[2].kind == PlannedStep::Copy && steps[2].to == other && steps[2].mine == sum));
  CHECK((steps[3].kind == PlannedStep::Send && !steps[3].to));
}
