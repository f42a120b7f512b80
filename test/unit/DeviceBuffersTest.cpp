//===- DeviceBuffersTest.cpp - operations on buffers of a device, behind the stand-in for its driver ----------------===//
#include "braid/runtime/braid_module.h"
#include "test/conformance/Device.h"
#include "test/conformance/Ranks.h"
#include "transports/cuda/Kernels.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>

using namespace braid;
using namespace braid::test;

namespace {

// The driver is loaded once in a process, when it is first needed.
const int standIn = setenv("BRAID_CUDA_DRIVER", BRAID_FAKE_DRIVER, 0);

uint64_t counted(const char *what) {
  void *library = dlopen(BRAID_FAKE_DRIVER, RTLD_NOW);
  auto *count = reinterpret_cast<uint64_t (*)()>(library ? dlsym(library, what) : nullptr);
  return count ? count() : ~uint64_t(0);
}

struct Floats {
  std::vector<float> here;
  float *there;

  Floats(Device &device, size_t count, float first) : here(count, first) {
    for (size_t i = 0; i < count; ++i)
      here[i] += float(i % 7);
    there =
        reinterpret_cast<float *>(device.twin(reinterpret_cast<unsigned char *>(here.data()), count * sizeof(float)));
  }
};

braid_op_options sumOf(braid_buffer *buffer, braid_memory memory) {
  braid_op_options options = {};
  options.size = sizeof options;
  options.collective = BRAID_ALL_REDUCE;
  options.type = BRAID_F32;
  options.reduction = BRAID_SUM;
  options.tensors = 1;
  options.buffers = buffer;
  options.name = "gradients";
  options.memory = memory;
  return options;
}

runtime::CommunicatorOptions shm() {
  runtime::CommunicatorOptions options;
  options.transport = "shm";
  return options;
}

} // namespace

TEST_CASE("an operation on a device follows the program's stream, takes other buffers, and stages in pinned memory",
          "[device]") {
  constexpr size_t n = 10000;
  Ranks ranks(3, shm());
  REQUIRE(ranks.failed().empty());
  auto problem = ranks.run([&](int rank, braid_comm *comm) -> std::string {
    Device device(comm, BRAID_MEMORY_DEVICE);
    Floats first(device, n, float(rank)), second(device, n, float(10 * rank)), result(device, n, -1);
    braid_buffer buffer = {first.there, result.there, n, n};
    braid_op_options options = sumOf(&buffer, BRAID_MEMORY_DEVICE);
    braid_op *op = nullptr;
    if (braid_op_plan(comm, &options, &op))
      return braid_last_error();
    for (int round = 0; round < 6; ++round) { // in turn, and the result in place of the operand
      Floats &operand = round % 2 ? second : first;
      buffer = {operand.there, round < 4 ? result.there : operand.there, n, n};
      if (braid_op_rebind(op, &buffer, 1))
        return braid_last_error();
      std::vector<float> before = operand.here;
      device.put();
      if (device.start(op) || device.wait(op))
        return braid_last_error();
      device.get();
      const std::vector<float> &got = round < 4 ? result.here : operand.here;
      for (size_t i = 0; i < n; ++i) {
        float expected = 3 * float(i % 7) + (round % 2 ? 30.0f : 3.0f);
        if (got[i] != expected)
          return "round " + std::to_string(round) + ", element " + std::to_string(i) + ": expected " +
                 std::to_string(expected) + ", got " + std::to_string(got[i]);
      }
      operand.here = before;
    }
    return braid_op_destroy(op) ? braid_last_error() : "";
  });
  CHECK(problem == "");
}

TEST_CASE("what an operation copies itself goes through registered memory", "[device]") {
  constexpr size_t n = 5000;
  Ranks ranks(2, shm());
  uint64_t before = counted("fake_pageable_copies");
  auto problem = ranks.run([&](int, braid_comm *comm) -> std::string {
    void *operand = braid_alloc_in(comm, BRAID_MEMORY_DEVICE, n * 4);
    void *pinned = braid_alloc_in(comm, BRAID_MEMORY_PINNED, n * 4);
    if (!operand || !pinned)
      return braid_last_error();
    for (braid_memory memory : {BRAID_MEMORY_DEVICE, BRAID_MEMORY_PINNED}) {
      void *at = memory == BRAID_MEMORY_DEVICE ? operand : pinned;
      braid_buffer buffer = {at, at, n, n};
      braid_op_options options = sumOf(&buffer, memory);
      braid_op *op = nullptr;
      if (braid_op_plan(comm, &options, &op) || braid_op_start(op) || braid_op_wait(op) || braid_op_destroy(op))
        return braid_last_error();
    }
    braid_free(comm, operand);
    braid_free(comm, pinned);
    return "";
  });
  CHECK(problem == "");
  CHECK(counted("fake_pageable_copies") == before);
}

TEST_CASE("buffers that are not what was said are refused in one sentence", "[device]") {
  Ranks ranks(1, shm());
  braid_comm *comm = ranks.comm(0);
  std::vector<float> host(64);
  auto *device = static_cast<float *>(braid_alloc_in(comm, BRAID_MEMORY_DEVICE, 256));
  auto *pinned = static_cast<float *>(braid_alloc_in(comm, BRAID_MEMORY_PINNED, 256));
  REQUIRE(device);
  REQUIRE(pinned);
  auto said = [&](void *at, int memory) {
    braid_buffer buffer = {at, at, 64, 64};
    braid_op_options options = sumOf(&buffer, braid_memory(memory));
    braid_op *op = nullptr;
    std::string text = braid_op_plan(comm, &options, &op) ? braid_last_error() : "";
    if (op)
      braid_op_destroy(op);
    return text;
  };
  CHECK(said(device, BRAID_MEMORY_DEVICE) == "");
  CHECK(said(pinned, BRAID_MEMORY_PINNED) == "");
  CHECK(said(host.data(), BRAID_MEMORY_DEVICE) ==
        "rank 0: all_reduce 'gradients': expected memory of a device, got memory that the driver does not know");
  CHECK(said(pinned, BRAID_MEMORY_DEVICE) ==
        "rank 0: all_reduce 'gradients': tensor 0: expected an operand in memory of a device, got memory of the host");
  CHECK(said(device, BRAID_MEMORY_PINNED) ==
        "rank 0: all_reduce 'gradients': tensor 0: expected an operand in pinned memory "
        "of the host, got memory of a device");
  CHECK(said(host.data(), 3) == "rank 0: memory: expected one of braid_memory, got 3");
  braid_buffer buffer = {host.data(), host.data(), 64, 64};
  braid_op_options options = sumOf(&buffer, BRAID_MEMORY_HOST);
  braid_op *op = nullptr;
  REQUIRE(braid_op_plan(comm, &options, &op) == BRAID_OK);
  CHECK(braid_op_start_on(op, nullptr) == BRAID_INVALID);
  CHECK(std::string(braid_last_error()) == "all_reduce 'gradients': expected buffers of a device, or pinned ones, to "
                                           "follow a stream, got memory of the host "
                                           "(braid_op_options.memory)");
  braid_op_destroy(op);
  braid_free(comm, device);
  braid_free(comm, pinned);
  CHECK(braid_alloc_in(comm, BRAID_MEMORY_DEVICE, size_t(1) << 62) == nullptr);
  CHECK(std::string(braid_last_error()).find("bytes of the device: ") != std::string::npos);
}

TEST_CASE("a compiled module's site on a device: its memory, and a result there", "[device]") {
  Ranks ranks(1, shm());
  braid_comm *comm = ranks.comm(0);
  braid_module_use(comm);
  braid_module_on_error([](const char *message) { throw std::runtime_error(message); });
  // all_reduce (0) of f32 (13), sum, memory of a device (2), on all ranks.
  static const int64_t site[] = {4, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0};
  auto word = [](const void *pointer) { return reinterpret_cast<int64_t>(pointer); };
  {
    Device device(comm, BRAID_MEMORY_DEVICE);
    Floats operand(device, 64, 3), result(device, 64, -1);
    void *own = braid_module_alloc_device(256);
    device.put();
    device.get();
    for (void *to : {static_cast<void *>(result.there), own}) {
      int64_t call = braid_module_begin(word(site), 0, word("sum"));
      braid_module_tensor(call, word(operand.there), word(to), 64, 64, 1, 1);
      braid_module_launch(call);
      braid_module_finish(call);
    }
    device.get();
    CHECK(result.here == operand.here);
    braid_module_free(own);
    CHECK(braid_module_alloc_device(200) == own); // kept for the next step
    braid_module_free(own);
    int64_t allocated = braid_module_allocated();
    void *host = braid_module_alloc(256, 1); // and never given to who wants memory of the host
    CHECK(host != own);
    CHECK(braid_module_allocated() == allocated + 1);
    braid_module_free(host);
  }
  braid_module_reset();
  braid_module_on_error(nullptr);
}

TEST_CASE("device buffers: BRAID_CUDA_BLOCKS is a number of blocks, or an error that names it", "[cuda]") {
  runtime::Outcome found;
  const runtime::cuda::Driver *driver = runtime::cuda::Driver::find(found);
  REQUIRE(driver);
  std::unique_ptr<runtime::cuda::Kernels> kernels;
  for (const char *wrong : {"0", "-3", "nonsense", "5 ", " 5", "0x10", "99999999999999999999", "65536"}) {
    setenv("BRAID_CUDA_BLOCKS", wrong, 1);
    runtime::Outcome opened = runtime::cuda::Kernels::open(*driver, kernels);
    CHECK(opened.status == BRAID_INVALID);
    CHECK(opened.text == "BRAID_CUDA_BLOCKS: expected a number from 1 to 65535, got '" + std::string(wrong) + "'");
  }
  for (const char *good : {"1", "65535", ""}) {
    setenv("BRAID_CUDA_BLOCKS", good, 1);
    CHECK(runtime::cuda::Kernels::open(*driver, kernels).status != BRAID_INVALID);
  }
  unsetenv("BRAID_CUDA_BLOCKS");
}
