//===- Device.h - buffers of a case on a device, and the way there and back -----------------------------------------===//
//
// What a case writes and checks is memory of the host; each block has a twin on the device that the operation works on. Copies
// go through a stream that nobody waits for before the results have come back, so that the operation has to follow it.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_DEVICE_H
#define BRAID_TEST_CONFORMANCE_DEVICE_H

#include "transports/cuda/Current.h"
#include <vector>

namespace braid::test {

class Device {
public:
  /// `kind`: BRAID_MEMORY_HOST: there are no twins, and streams are not followed.
  Device(braid_comm *comm, braid_memory kind) : comm(comm), kind(kind) {
    if (kind == BRAID_MEMORY_HOST)
      return;
    runtime::Outcome done;
    driver = runtime::cuda::Driver::find(done);
    void *probe = done ? braid_alloc_in(comm, BRAID_MEMORY_DEVICE, 1) : nullptr; // the stream is of the same device
    if (done && !probe && (done = share()))
      probe = braid_alloc_in(comm, BRAID_MEMORY_DEVICE, 1);
    if (done)
      done = probe ? runtime::cuda::contextOf(*driver, reinterpret_cast<runtime::cuda::Address>(probe), context)
                   : runtime::Outcome(BRAID_SYSTEM, braid_last_error());
    braid_free(comm, probe);
    if (done) {
      runtime::cuda::Current current(*driver, context);
      done = driver->check(driver->cuStreamCreate(&stream, runtime::cuda::streamNonBlocking), "a stream");
    }
    problem = done.text;
  }
  ~Device() {
    for (const Twin &twin : twins)
      braid_free(comm, twin.there);
    if (stream)
      driver->cuStreamDestroy_v2(stream);
  }

  /// Where the operation finds what lies at `here`; null: no memory.
  unsigned char *twin(unsigned char *here, size_t bytes) {
    if (kind == BRAID_MEMORY_HOST)
      return here;
    auto *there = static_cast<unsigned char *>(problem.empty() ? braid_alloc_in(comm, kind, bytes) : nullptr);
    if (there)
      twins.push_back({here, there, bytes});
    else if (problem.empty())
      problem = braid_last_error();
    return there;
  }
  braid_status start(braid_op *op) {
    return kind == BRAID_MEMORY_HOST ? braid_op_start(op) : braid_op_start_on(op, stream);
  }
  braid_status wait(braid_op *op) {
    return kind == BRAID_MEMORY_HOST ? braid_op_wait(op) : braid_op_wait_on(op, stream);
  }
  /// To the device, some time.
  void put() {
    for (const Twin &twin : twins)
      copy(twin.there, twin.here, twin.bytes);
  }
  /// Back, and here when it returns.
  void get() {
    for (const Twin &twin : twins)
      copy(twin.here, twin.there, twin.bytes);
    if (stream)
      check(driver->cuStreamSynchronize(stream));
  }

  std::string problem;

private:
  /// Where Braid has no device for the rank, as there are fewer than ranks: a thread without a context gets one that others have too.
  runtime::Outcome share() {
    int32_t rank = 0, ranks = 0;
    int devices = 0;
    runtime::cuda::Context own = nullptr;
    braid_comm_rank(comm, &rank, &ranks);
    driver->cuDeviceGetCount(&devices);
    driver->cuCtxGetCurrent(&own);
    if (own || devices >= ranks)
      return {};
    runtime::Outcome done = driver->check(driver->cuDevicePrimaryCtxRetain(&own, rank % devices), "a context");
    return done ? driver->check(driver->cuCtxSetCurrent(own), "a context") : done;
  }

  struct Twin {
    unsigned char *here, *there;
    size_t bytes;
  };
  void copy(void *to, const void *from, size_t bytes) {
    using runtime::cuda::Address;
    check(driver->cuMemcpyAsync(reinterpret_cast<Address>(to), reinterpret_cast<Address>(from), bytes, stream));
  }
  void check(runtime::cuda::Result result) {
    if (runtime::Outcome done = driver->check(result, "copies of the test"); !done && problem.empty())
      problem = done.text;
  }

  braid_comm *comm;
  braid_memory kind;
  const runtime::cuda::Driver *driver = nullptr;
  runtime::cuda::Context context = nullptr;
  runtime::cuda::Stream stream = nullptr;
  std::vector<Twin> twins;
};

} // namespace braid::test

#endif
