//===- DeviceVerbsTest.cpp - buffers of a device over verbs: in place where the NICs reach them, else staged -----------===//
#include "test/conformance/Device.h"
#include "test/unit/OverVerbs.h"
#include "transports/cuda/GpuDirect.h"
#include "transports/verbs/Knobs.h"
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <unistd.h>

using namespace braid;
using namespace braid::test;
using namespace braid::runtime::verbs;
using Buffers = braid::test::Device;

namespace {

const int standIn = setenv("BRAID_CUDA_DRIVER", BRAID_FAKE_DRIVER, 0);

template <typename Function> Function *ofDriver(const char *name) {
  void *library = dlopen(BRAID_FAKE_DRIVER, RTLD_NOW);
  return reinterpret_cast<Function *>(library ? dlsym(library, name) : nullptr);
}
uint64_t counted(const char *what) { return ofDriver<uint64_t()>(what)(); }

/// What is planned, with BRAID_LOG=on, says so.
std::string saidBy(const std::function<void()> &body, const char *setting = "on") {
  Forced log("BRAID_LOG", setting);
  std::FILE *file = std::tmpfile();
  std::fflush(stderr);
  int before = dup(2);
  dup2(fileno(file), 2);
  body();
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  std::string text(size_t(std::ftell(file) >= 0 ? lseek(fileno(file), 0, SEEK_END) : 0), 0);
  (void)!pread(fileno(file), text.data(), text.size(), 0);
  std::fclose(file);
  return text;
}

constexpr size_t block = 20000; // elements

/// A collective of blocks of `count` elements, of which each rank's operand holds numbers of its own, at `shift` elements into its
/// memory. Rank `onHost` has its buffers on the host. What is wrong.
std::string moves(braid_collective collective, size_t count, size_t shift = 0, int rounds = 3, bool inPlace = false,
                  int onHost = -1) {
  constexpr int n = 3;
  Ranks ranks(n, overVerbs());
  if (!ranks.failed().empty())
    return ranks.failed();
  return ranks.run([&](int rank, braid_comm *comm) -> std::string {
    braid_memory memory = rank == onHost ? BRAID_MEMORY_HOST : BRAID_MEMORY_DEVICE;
    Buffers device(comm, memory);
    bool all = collective == BRAID_ALL_GATHER || collective == BRAID_ALL_TO_ALL;
    size_t in = collective == BRAID_ALL_TO_ALL ? n * count : count, out = all ? n * count : count;
    std::vector<int32_t> operand(in + shift), result(out + shift);
    auto twin = [&](std::vector<int32_t> &here) {
      return reinterpret_cast<int32_t *>(device.twin(reinterpret_cast<unsigned char *>(here.data()), here.size() * 4));
    };
    int32_t *send = twin(operand), *receive = twin(result);
    if (!send || !receive)
      return device.problem;
    braid_buffer buffer = {send + shift, receive + shift, in, out};
    if (inPlace)
      buffer.send = receive + shift + size_t(rank) * count;
    bool has = collective != BRAID_BROADCAST || rank == 0;
    if (!has)
      buffer.send = nullptr, buffer.send_count = 0;
    braid_op_options options = optionsOf(collective, &buffer, 1, "moved");
    options.memory = memory;
    braid_op *op = nullptr;
    std::string problem = plan(comm, options, op);
    for (int round = 0; round < rounds && problem.empty(); ++round) {
      for (size_t i = 0; i < in; ++i)
        operand[shift + i] = int32_t(1000000 * round + 100000 * rank + int(i % 99991));
      std::fill(result.begin(), result.end(), -1);
      if (inPlace)
        std::copy(operand.begin() + long(shift), operand.end(), result.begin() + long(shift + size_t(rank) * count));
      device.put();
      if (device.start(op) || device.wait(op))
        return braid_last_error();
      device.get();
      for (size_t i = 0; i < out && problem.empty(); ++i) {
        int from = collective == BRAID_BROADCAST ? 0 : int(i / count);
        size_t at = collective == BRAID_ALL_TO_ALL ? size_t(rank) * count + i % count : i % count;
        int32_t expected = int32_t(1000000 * round + 100000 * from + int(at % 99991));
        if (result[shift + i] != expected)
          problem = "round " + std::to_string(round) + ", element " + std::to_string(i) + ": expected " +
                    std::to_string(expected) + ", got " + std::to_string(result[shift + i]);
      }
      for (size_t i = 0; i < shift && problem.empty(); ++i)
        if (result[i] != -1)
          problem = "what is before the result was written";
    }
    if (op && braid_op_destroy(op))
      problem += braid_last_error();
    return problem;
  });
}

/// The test's own copies, there and back, of each round.
uint64_t copiesOfTest(uint64_t elements, int rounds) { return elements * 4 * 2 * uint64_t(rounds); }

} // namespace

TEST_CASE("verbs: messages begin and end in memory of a device, and no byte is staged", "[verbs][device]") {
  const char *mode = GENERATE("auto", "write", "read", "send");
  Forced forced("BRAID_IB_MODE", mode);
  for (braid_collective collective : {BRAID_ALL_GATHER, BRAID_ALL_TO_ALL, BRAID_BROADCAST}) {
    INFO(mode << " " << collective);
    Use use(Fabric::create());
    size_t in = collective == BRAID_ALL_TO_ALL ? 3 * block : block,
           out = collective == BRAID_BROADCAST ? block : 3 * block;
    uint64_t staged = counted("fake_staged_bytes"), flushes = counted("fake_flushes");
    CHECK(moves(collective, block) == "");
    CHECK(counted("fake_staged_bytes") - staged == copiesOfTest(3 * (in + out), 3));
    CHECK(counted("fake_flushes") > flushes);
  }
}

TEST_CASE("verbs: device buffers that begin inside a page, and where operand and result are one", "[verbs][device]") {
  Use use(Fabric::create());
  uint64_t staged = counted("fake_staged_bytes");
  CHECK(moves(BRAID_ALL_GATHER, block, /*shift=*/1) == "");
  CHECK(moves(BRAID_ALL_TO_ALL, block, /*shift=*/1025) == "");
  CHECK(counted("fake_staged_bytes") - staged ==
        copiesOfTest(3 * (4 * block + 2), 3) + copiesOfTest(3 * (6 * block + 2050), 3));
  CHECK(moves(BRAID_ALL_GATHER, block, 3, 3, /*inPlace=*/true) == "");
  CHECK(moves(BRAID_ALL_GATHER, block, 0, 3, false, /*onHost=*/1) == ""); // a rank in plain memory of the host
  CHECK(moves(BRAID_BROADCAST, block, 0, 3, false, 0) == "");
}

TEST_CASE("verbs: small messages of a device, alone and beside large ones", "[verbs][device]") {
  Use use(Fabric::create());
  std::string said = saidBy([] {
    CHECK(moves(BRAID_ALL_GATHER, 100) == "");
    CHECK(moves(BRAID_ALL_GATHER, 1025) == ""); // 4100 bytes
    CHECK(moves(BRAID_BROADCAST, 3 * 16 + 1) == "");
  });
  CHECK(contains(said,
                 "rank 0: all_gather 'moved': memory of the device: staged through pinned memory of the host: its "
                 "messages are of at most 4096 bytes\n"));
  CHECK(contains(said, "rank 0: all_gather 'moved': memory of the device: dma-buf\n"));
  // The last of the chunks of a program is a small one.
  Ranks ranks(2, overVerbs());
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    Buffers device(comm, BRAID_MEMORY_DEVICE);
    const size_t sizes[2][2] = {{30000, 5}, {7, 9000}};
    std::vector<size_t> gives = {sizes[rank][0], sizes[rank][1]}, takes = {sizes[0][rank], sizes[1][rank]};
    std::vector<int32_t> operand(gives[0] + gives[1]), result(takes[0] + takes[1], -1);
    for (size_t i = 0; i < operand.size(); ++i)
      operand[i] = int32_t(100000 * rank + int(i));
    auto *send = device.twin(reinterpret_cast<unsigned char *>(operand.data()), operand.size() * 4);
    auto *receive = device.twin(reinterpret_cast<unsigned char *>(result.data()), result.size() * 4);
    braid_buffer buffer = {send, receive, operand.size(), result.size()};
    braid_op_options options = optionsOf(BRAID_ALL_TO_ALL, &buffer, 1, "ragged");
    options.memory = BRAID_MEMORY_DEVICE;
    options.send_counts = gives.data();
    options.receive_counts = takes.data();
    braid_op *op = nullptr;
    std::string problem = plan(comm, options, op);
    device.put();
    if (problem.empty() && (device.start(op) || device.wait(op)))
      problem = braid_last_error();
    device.get();
    for (size_t i = 0; i < result.size() && problem.empty(); ++i) {
      int from = i >= takes[0];
      size_t at = from ? i - takes[0] : i;
      int32_t expected = int32_t(100000 * from + int(at + (rank ? sizes[from][0] : 0)));
      if (result[i] != expected)
        problem = "element " + std::to_string(i) + ": expected " + std::to_string(expected) + ", got " +
                  std::to_string(result[i]);
    }
    if (op && braid_op_destroy(op))
      problem += braid_last_error();
    return problem;
  }) == "");
}

TEST_CASE("verbs: device memory that can't be registered as a dma-buf goes another way, and that is said",
          "[verbs][device]") {
  FabricSettings settings;
  settings.dmaBufs = false;
  uint64_t before = counted("fake_staged_bytes");
  auto staged = [&] { return counted("fake_staged_bytes") - before; };
  const uint64_t own = copiesOfTest(3 * 4 * block, 1), through = own + 3 * 4 * block * 4;
  SECTION("nor by nvidia_peermem") {
    Use use(Fabric::create(settings));
    std::string said = saidBy([] { CHECK(moves(BRAID_ALL_GATHER, block, 0, 1) == ""); });
    CHECK(contains(said, "rank 1: all_gather 'moved': memory of the device: staged through pinned memory of the host: "
                         "neither nvidia_peermem nor dma-buf (device double0: cannot register 240000 bytes of memory: "
                         "Operation not supported)\n"));
    CHECK(staged() == through);
  }
  SECTION("but by nvidia_peermem") {
    settings.peerMemory = [](void *at) { return ofDriver<void *(const void *)>("fake_inside")(at); };
    Use use(Fabric::create(settings));
    std::string said = saidBy([] { CHECK(moves(BRAID_ALL_GATHER, block, 3, 1) == ""); });
    CHECK(contains(said,
                   "rank 1: all_gather 'moved': memory of the device: nvidia_peermem is loaded (no dma-buf: device "
                   "double0: cannot register 240000 bytes of memory: Operation not supported)\n"));
    CHECK(staged() == own + copiesOfTest(3 * 6, 1));
  }
  SECTION("on one of the rails, and is registered with none") {
    settings.dmaBufs = true;
    settings.refused = [](int, int rail, size_t, bool dmaBuf) { return dmaBuf && rail == 1 ? ENOMEM : 0; };
    const char *why = "device double1: cannot register 240000 bytes of memory: Cannot allocate memory";
    {
      auto fabric = Fabric::create(settings);
      Use use(fabric);
      std::string said = saidBy([] { CHECK(moves(BRAID_ALL_GATHER, block, 0, 1) == ""); });
      CHECK(contains(said, "staged through pinned memory of the host: neither nvidia_peermem nor dma-buf (" +
                               std::string(why)));
      CHECK(staged() == through);
      CHECK(fabric->figures().regions == 0);
    }
    settings.peerMemory = [](void *at) { return ofDriver<void *(const void *)>("fake_inside")(at); };
    auto fabric = Fabric::create(settings);
    Use use(fabric);
    std::string said = saidBy([] { CHECK(moves(BRAID_ALL_GATHER, block, 0, 1) == ""); });
    CHECK(contains(said, "nvidia_peermem is loaded (no dma-buf: " + std::string(why)));
    CHECK(fabric->figures().regions == 0);
  }
  SECTION("since a knob says so") {
    Forced off("NCCL_DMABUF_ENABLE", "0");
    Use use(Fabric::create());
    std::string said = saidBy([] { CHECK(moves(BRAID_ALL_GATHER, block, 0, 1) == ""); });
    CHECK(contains(said, "neither nvidia_peermem nor dma-buf (it is turned off (NCCL_DMABUF_ENABLE))\n"));
    CHECK(staged() == through);
  }
  SECTION("nor in any way, by a knob of ours") {
    Forced on("NCCL_NET_GDR_LEVEL", "SYS"), off("BRAID_NET_GDR_LEVEL", "LOC");
    Use use(Fabric::create());
    std::string said = saidBy([] { CHECK(moves(BRAID_ALL_GATHER, block, 0, 1) == ""); });
    CHECK(contains(said, "staged through pinned memory of the host: BRAID_NET_GDR_LEVEL=LOC\n"));
    CHECK(staged() == through);
  }
  SECTION("but not with the log off") {
    Use use(Fabric::create());
    for (const char *setting : {"off", "0", ""})
      CHECK(saidBy([] { CHECK(moves(BRAID_ALL_GATHER, block, 0, 1) == ""); }, setting) == "");
  }
  SECTION("where it computes it is staged") {
    Use use(Fabric::create());
    std::string said = saidBy([] {
      Ranks ranks(2, overVerbs());
      CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
        Buffers device(comm, BRAID_MEMORY_DEVICE);
        std::vector<int32_t> values(block, rank + 1);
        auto *at = device.twin(reinterpret_cast<unsigned char *>(values.data()), block * 4);
        braid_buffer buffer = {at, at, block, block};
        braid_op_options options = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "sum");
        options.memory = BRAID_MEMORY_DEVICE;
        braid_op *op = nullptr;
        std::string problem = plan(comm, options, op);
        device.put();
        if (problem.empty() && (device.start(op) || device.wait(op)))
          problem = braid_last_error();
        device.get();
        if (problem.empty() && (values.front() != 3 || values.back() != 3))
          problem = "expected sums of 3, got " + std::to_string(values.front());
        if (op && braid_op_destroy(op))
          problem += braid_last_error();
        return problem;
      }) == "");
    });
    CHECK(contains(
        said,
        "rank 0: all_reduce 'sum': memory of the device: staged through pinned memory of the host: it computes\n"));
  }
}

TEST_CASE("verbs: device memory is registered while an operation is planned with it, and not when it is freed",
          "[verbs][device]") {
  auto fabric = Fabric::create();
  Use use(fabric);
  Ranks ranks(2, overVerbs());
  REQUIRE(ranks.failed() == "");
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    Buffers device(comm, BRAID_MEMORY_DEVICE);
    std::vector<int32_t> one(block, rank), two(block, 10 + rank), result(2 * block);
    auto twin = [&](std::vector<int32_t> &here) {
      return reinterpret_cast<int32_t *>(device.twin(reinterpret_cast<unsigned char *>(here.data()), here.size() * 4));
    };
    int32_t *first = twin(one), *second = twin(two), *to = twin(result);
    braid_buffer buffer = {first, to, block, 2 * block};
    braid_op_options options = optionsOf(BRAID_ALL_GATHER, &buffer, 1, "gathered");
    options.memory = BRAID_MEMORY_DEVICE;
    braid_op *op = nullptr;
    std::string problem = plan(comm, options, op);
    auto expect = [&](const void *memory, bool there, const char *what) {
      if (problem.empty() && fabric->registered(rank, memory) != there)
        problem = std::string(what) + (there ? ": expected to be registered" : ": expected not to be registered");
    };
    expect(first, true, "the operand of a plan");
    expect(to + 2 * block - 1, true, "its result");
    expect(second, false, "another buffer");
    for (int round = 0; round < 4 && problem.empty(); ++round) { // there and back, by plans that are remembered
      buffer.send = round % 2 ? first : second;
      if (braid_op_rebind(op, &buffer, 1))
        return braid_last_error();
      expect(buffer.send, true, "the new operand");
      expect(round % 2 ? second : first, false, "the one that was left");
      device.put();
      if (device.start(op) || device.wait(op))
        return braid_last_error();
      device.get();
      int32_t more = round % 2 ? 0 : 10;
      if (result.front() != more || result.back() != more + 1)
        problem = "expected blocks of both ranks in round " + std::to_string(round);
    }
    // A result that overlaps the operand needs a copy of it: from here on the operation is staged.
    buffer = {to + block / 2, to, block, 2 * block};
    if (problem.empty() && braid_op_rebind(op, &buffer, 1))
      problem = braid_last_error();
    expect(to, false, "a result that is staged");
    std::fill(result.begin(), result.end(), 7 + rank);
    device.put();
    if (problem.empty() && (device.start(op) || device.wait(op)))
      problem = braid_last_error();
    device.get();
    if (problem.empty() && (result.front() != 7 || result.back() != 8))
      problem = "expected blocks of both ranks, staged";
    if (op && braid_op_destroy(op))
      problem += braid_last_error();
    expect(first, false, "a buffer of no plan");
    return problem;
  }) == "");
}

TEST_CASE("a dma-buf is of whole pages, and says where in them a buffer begins", "[verbs][device]") {
  runtime::Outcome done;
  const runtime::cuda::Driver *driver = runtime::cuda::Driver::find(done);
  REQUIRE(driver);
  runtime::cuda::Address at = 0;
  REQUIRE(driver->cuMemAlloc_v2(&at, 3 * 4096 + 100) == runtime::cuda::success);
  auto exported = [&](size_t from, size_t bytes) {
    int descriptor = -1;
    uint64_t offset = 0;
    runtime::Outcome made = runtime::cuda::exportDmaBuf(*driver, at + from, bytes, descriptor, offset);
    std::string text = made ? std::to_string(lseek(descriptor, 0, SEEK_CUR)) + "+" + std::to_string(offset) : made.text;
    if (made)
      close(descriptor);
    return text;
  };
  CHECK(exported(0, 1) == "0+0");
  CHECK(exported(4096, 4096) == "4096+0");
  CHECK(exported(4095, 2) == "0+4095");
  CHECK(exported(8200, 4188) == "8192+8");
  CHECK(exported(8200, 8192) ==
        "cuda: cuMemGetHandleForAddressRange of 12288 bytes: refused by the stand-in (error 1)");
  driver->cuMemFree_v2(at);
}

TEST_CASE("knobs of memory of GPUs", "[verbs]") {
  auto read = [](std::map<std::string, std::string> set, Knobs &knobs) {
    return readKnobs(
               [&](const char *name) -> const char * {
                 auto found = set.find(name);
                 return found == set.end() ? nullptr : found->second.c_str();
               },
               knobs)
        .text;
  };
  Knobs plain, off, level, wrong;
  CHECK(read({}, plain) == "");
  CHECK((plain.dmaBuf && plain.notDirect.empty()));
  CHECK(read({{"NCCL_DMABUF_ENABLE", "1"}, {"BRAID_DMABUF_ENABLE", "0"}, {"NCCL_NET_GDR_LEVEL", "PIX"}}, off) == "");
  CHECK((!off.dmaBuf && off.notDirect.empty()));
  CHECK(read({{"NCCL_NET_GDR_LEVEL", "0"}}, level) == "");
  CHECK(level.notDirect == "NCCL_NET_GDR_LEVEL=0");
  CHECK(read({{"NCCL_NET_GDR_LEVEL", "NEAR"}}, wrong) ==
        "NCCL_NET_GDR_LEVEL: expected LOC, PIX, PXB, PHB, SYS, or a number from 0 to 5, got 'NEAR'");
  CHECK(read({{"BRAID_DMABUF_ENABLE", "yes"}}, wrong) ==
        "BRAID_DMABUF_ENABLE: expected a number from 0 to 1, got 'yes'");
}
