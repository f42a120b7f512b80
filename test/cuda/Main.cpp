//===- Main.cpp - every kernel against the host's loops -------------------------------------------------------------===//
//
//   cuda_kernels            on the device: all types, reductions, sizes and places; 77 where there is no driver, and why
//   cuda_kernels --names    the names that the library has to have
//
// The host's loops are tested on their own (ReduceTest, ArithmeticTest). With BRAID_CUDA_DRIVER and BRAID_CUDA_KERNELS set to
// the stand-in (Driver.cpp) the same runs without a GPU.
//===------------------------------------------------------------------------------------------------------------===//
#include "test/cuda/HostKernels.h"
#include "transports/cuda/Kernels.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace braid;
using namespace braid::runtime;
using namespace braid::runtime::cuda;

namespace {

[[noreturn]] void fail(const std::string &text) {
  std::fprintf(stderr, "cuda_kernels: %s\n", text.c_str());
  std::exit(1);
}
void need(const Outcome &outcome) {
  if (!outcome)
    fail(outcome.text);
}

/// Bytes at the same place on the device and here, with room around that must stay as it is.
struct Buffer {
  const Driver &driver;
  Address device = 0;
  std::vector<unsigned char> host, before;

  Buffer(const Driver &driver, size_t bytes) : driver(driver), host(bytes) {
    need(driver.check(driver.cuMemAlloc_v2(&device, bytes), "memory"));
  }
  ~Buffer() { driver.cuMemFree_v2(device); }
  void *at(size_t shift) const { return reinterpret_cast<void *>(device + shift); }
  void put() { move(device, reinterpret_cast<Address>(host.data())); }
  void get() { move(reinterpret_cast<Address>(host.data()), device); }
  void move(Address to, Address from) {
    need(driver.check(driver.cuMemcpyAsync(to, from, host.size(), nullptr), "copy"));
    need(driver.check(driver.cuStreamSynchronize(nullptr), "synchronise"));
  }
};

struct Run {
  const Driver &driver;
  Kernels &kernels;
  static constexpr size_t mostCount = 70000, room = 64;
  Buffer a{driver, mostCount * 8 + room}, b{driver, mostCount * 8 + room}, to{driver, mostCount * 8 + room},
      also{driver, mostCount * 8 + room};
  std::mt19937_64 random{11};
  size_t checked = 0;

  void fill() {
    for (Buffer *each : {&a, &b, &to, &also}) {
      for (size_t i = 0; i + 8 <= each->host.size(); i += 8) {
        uint64_t value = random();
        std::memcpy(&each->host[i], &value, 8);
      }
      each->put();
    }
  }

  /// `launch` on the device, `reference` here; then all bytes of the results are the same.
  template <typename Launch, typename Reference>
  void compare(const std::string &what, Launch launch, Reference reference) {
    fill();
    need(launch());
    reference();
    for (Buffer *each : {&to, &also}) {
      std::vector<unsigned char> expected = each->host;
      each->get();
      for (size_t i = 0; i < expected.size(); ++i)
        if (expected[i] != each->host[i])
          fail(what + ": expected byte " + std::to_string(i) + " to be " + std::to_string(expected[i]) + ", got " +
               std::to_string(each->host[i]));
    }
    ++checked;
  }

  /// Places of a, b, to and also: all vectors, after a head, and without a common alignment.
  struct Places {
    size_t a, b, to, also;
  };

  void reductions(braid_type type) {
    size_t es = sizeOf(type);
    for (int r = 0; r <= BRAID_XOR; ++r) {
      auto reduction = braid_reduction(r);
      Combine combine = combiner(type, reduction);
      if (!combine)
        continue;
      std::string what = std::string(name(reduction)) + " of " + name(type);
      for (size_t count : {size_t(1), size_t(7), size_t(100), size_t(4097), mostCount})
        for (Places p : {Places{0, 0, 0, 0}, Places{es, es, es, es}, Places{0, es, 0, 2 * es}})
          for (bool second : {false, true}) {
            if (count == mostCount && (p.a || second))
              continue;
            ReduceArguments k = {to.at(p.to), second ? also.at(p.also) : nullptr, a.at(p.a), b.at(p.b), count, 3};
            compare(
                what + ", " + std::to_string(count) + " elements",
                [&] { return kernels.reduce(type, reduction, k, nullptr); },
                [&] {
                  combine(&to.host[p.to], &a.host[p.a], &b.host[p.b], count);
                  if (reduction == BRAID_AVERAGE)
                    divide(type, &to.host[p.to], count, 3);
                  if (second)
                    std::memcpy(&also.host[p.also], &to.host[p.to], count * es);
                });
          }
      ReduceArguments inPlace = {to.at(0), nullptr, to.at(0), b.at(0), 1000, 3}; // the result is an operand
      compare(
          what + " in place", [&] { return kernels.reduce(type, reduction, inPlace, nullptr); },
          [&] {
            combine(to.host.data(), to.host.data(), b.host.data(), 1000);
            if (reduction == BRAID_AVERAGE)
              divide(type, to.host.data(), 1000, 3);
          });
    }
    if (type == BRAID_BOOL)
      return;
    ReduceArguments k = {to.at(es), nullptr, nullptr, nullptr, 1001, 7};
    compare(
        std::string("division of ") + name(type), [&] { return kernels.divide(type, k, nullptr); },
        [&] { divide(type, &to.host[es], 1001, 7); });
  }

  void conversions(braid_type one, braid_type other) {
    ReduceArguments k = {to.at(0), nullptr, a.at(0), nullptr, 5003, 0};
    compare(
        std::string(name(other)) + " to " + name(one), [&] { return kernels.convert(one, other, k, nullptr); },
        [&] { convert(one, to.host.data(), other, a.host.data(), 5003); });
  }

  void copies() {
    for (size_t bytes : {size_t(1), size_t(15), size_t(16), size_t(4099), 8 * mostCount})
      for (Places p : {Places{0, 0, 0, 0}, Places{3, 0, 3, 3}, Places{0, 0, 4, 8}, Places{1, 0, 2, 7}})
        for (bool second : {false, true}) {
          ReduceArguments k = {to.at(p.to), second ? also.at(p.also) : nullptr, a.at(p.a), nullptr, bytes, 0};
          compare(
              "copy of " + std::to_string(bytes) + " bytes", [&] { return kernels.copy(k, nullptr); },
              [&] {
                std::memcpy(&to.host[p.to], &a.host[p.a], bytes);
                if (second)
                  std::memcpy(&also.host[p.also], &a.host[p.a], bytes);
              });
        }
  }
};

/// The same classes as an accumulation: floats, signed, unsigned.
int classOf(int type) { return type >= BRAID_F8E4M3FN ? 3 : type >= BRAID_U8 ? 2 : type >= BRAID_I8 ? 1 : 0; }

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> names = braid::test::kernelNames();
  if (argc > 1 && std::string(argv[1]) == "--names") {
    for (const std::string &name : names)
      std::printf("%s\n", name.c_str());
    return 0;
  }
  Outcome why;
  const Driver *driver = Driver::find(why);
  if (!driver) {
    std::printf("%s\n", why.text.c_str());
    return 77;
  }
  Device device = 0;
  Context context = nullptr;
  need(driver->check(driver->cuDeviceGet(&device, 0), "device 0"));
  need(driver->check(driver->cuDevicePrimaryCtxRetain(&context, device), "context"));
  need(driver->check(driver->cuCtxSetCurrent(context), "context"));
  std::unique_ptr<Kernels> kernels;
  need(Kernels::open(*driver, kernels));
  Run run{*driver, *kernels};
  run.copies();
  for (int type = BRAID_BOOL; type <= BRAID_F64; ++type) {
    run.reductions(braid_type(type));
    for (int other = BRAID_BOOL; other <= BRAID_F64; ++other)
      if (other != type && classOf(type) == classOf(other) && type != BRAID_BOOL)
        run.conversions(braid_type(type), braid_type(other));
  }
  std::printf("%zu kernels: %zu results are the host's\n", names.size(), run.checked);
  return 0;
}
