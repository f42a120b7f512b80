//===- Staging.cpp - brings operands from a device to the host, and results back ------------------------------------===//
#include "core/Staging.h"
#include "transports/cuda/Current.h"

namespace braid::runtime {

using cuda::Address;
using cuda::Current;

namespace {

constexpr size_t page = 4096;
constexpr size_t alignment = 256; ///< of each buffer in the pinned memory; cuMemAlloc's own

size_t roundedUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
Address addressOf(const void *at) { return reinterpret_cast<Address>(at); }

} // namespace

Outcome Staging::make(const Request &request, Transport &transport, cuda::Context its, int ordinal,
                      std::unique_ptr<Staging> &staging) {
  Outcome why;
  const cuda::Driver *driver = cuda::Driver::find(why);
  if (!driver)
    return why;
  std::unique_ptr<Staging> made(new Staging(*driver, transport));
  Outcome done = made->open(request, its, ordinal);
  if (done)
    done = made->bind(request);
  if (done)
    staging = std::move(made);
  return done;
}

Outcome Staging::stage(Request &request) {
  if (request.memory != BRAID_MEMORY_DEVICE)
    return {};
  size_t bytes = 0;
  for (const Tensor &tensor : request.tensors)
    bytes += roundedUp(request.operandBytes(tensor), alignment) + roundedUp(request.resultBytes(tensor), alignment);
  Outcome done = bytes ? room(bytes) : Outcome();
  staged = true;
  if (done)
    done = bind(request);
  if (!done)
    return done;
  size_t i = 0, o = 0;
  for (Tensor &tensor : request.tensors) { // from here on the request is one of the host
    if (request.operandBytes(tensor))
      tensor.send = in[i++].host;
    if (request.resultBytes(tensor))
      tensor.receive = out[o++].host;
  }
  return {};
}

Outcome Staging::openToNics() {
  Current current(driver, context);
  return current.outcome() ? cuda::visibilityOfWrites(driver, visible) : current.outcome();
}

/// The context of the first buffer's device; a stream and events there.
Outcome Staging::open(const Request &request, cuda::Context its, int ordinal) {
  Address some = 0;
  for (const Tensor &tensor : request.tensors) { // where there are no bytes the address says nothing
    some = some || !request.operandBytes(tensor) ? some : addressOf(tensor.send);
    some = some || !request.resultBytes(tensor) ? some : addressOf(tensor.receive);
  }
  bool device = request.memory == BRAID_MEMORY_DEVICE;
  if (device && !some)
    context = its;
  Outcome done = context ? Outcome() : cuda::contextOf(driver, device ? some : 0, context, ordinal);
  if (!done && !some) // there may be fewer devices than ranks
    done = cuda::contextOf(driver, 0, context);
  if (!done)
    return done;
  Current current(driver, context);
  done = current.outcome();
  if (done)
    done = driver.check(driver.cuStreamCreate(&stream, cuda::streamNonBlocking), "a stream");
  for (cuda::Event *event : {&ready, &here, &landed})
    if (done)
      done = driver.check(driver.cuEventCreate(event, cuda::eventDisableTiming), "an event");
  return done;
}

Staging::~Staging() {
  if (!context)
    return;
  Current current(driver, context);
  if (stream)
    driver.cuStreamSynchronize(stream); // what is on its way has its memory until it is there
  for (cuda::Event event : {ready, here, landed})
    if (event)
      driver.cuEventDestroy_v2(event);
  if (stream)
    driver.cuStreamDestroy_v2(stream);
  if (pinned)
    driver.cuMemHostUnregister(pinned);
  if (memory)
    transport.release(memory);
}

/// Pages of the transport's memory that hold nothing else, since the driver registers whole pages, each once.
Outcome Staging::room(size_t bytes) {
  bytes = roundedUp(bytes, page);
  memory = transport.allocate(bytes + page);
  if (!memory)
    return {BRAID_OUT_OF_MEMORY, "no memory to stage " + std::to_string(bytes) + " bytes"};
  char *first = reinterpret_cast<char *>(roundedUp(reinterpret_cast<size_t>(memory), page));
  Current current(driver, context);
  Outcome done = driver.check(driver.cuMemHostRegister_v2(first, bytes, cuda::hostPortable),
                              "registering " + std::to_string(bytes) + " bytes of the host");
  if (done)
    pinned = first;
  return done;
}

/// Each buffer of the program and its place in the pinned memory, after a look at what it is.
Outcome Staging::bind(const Request &request) {
  bool device = request.memory == BRAID_MEMORY_DEVICE;
  std::vector<Copy> newIn, newOut;
  char *next = pinned;
  for (size_t i = 0; i < request.tensors.size(); ++i) {
    const Tensor &tensor = request.tensors[i];
    auto add = [&](const void *at, size_t bytes, const char *which, std::vector<Copy> &list) -> Outcome {
      if (bytes == 0)
        return {};
      unsigned kind = 0;
      bool known = driver.cuPointerGetAttribute(&kind, cuda::pointerMemoryType, addressOf(at)) == cuda::success;
      if (!known || (kind == cuda::memoryDevice) != device)
        return {BRAID_INVALID, "tensor " + std::to_string(i) + ": expected " + which + " in " +
                                   (device ? "memory of a device" : "pinned memory of the host") + ", got " +
                                   (!known   ? "memory that the driver does not know"
                                    : device ? "memory of the host"
                                             : "memory of a device")};
      if (device && staged) {
        list.push_back({addressOf(at), next, bytes});
        next += roundedUp(bytes, alignment);
      }
      return {};
    };
    Outcome done = add(tensor.send, request.operandBytes(tensor), "an operand", newIn);
    if (done)
      done = add(tensor.receive, request.resultBytes(tensor), "a result", newOut);
    if (!done)
      return done;
  }
  in = std::move(newIn);
  out = std::move(newOut);
  return {};
}

Outcome Staging::rebind(const Request &request) {
  Current current(driver, context);
  return current.outcome() ? bind(request) : current.outcome();
}

Outcome Staging::follow(void *programs) {
  Current current(driver, context);
  Outcome done = current.outcome();
  if (done)
    done = driver.check(driver.cuEventRecord(ready, programs), "an event in the stream of the start");
  return done ? driver.check(driver.cuStreamWaitEvent(stream, ready, 0), "waiting for the stream of the start") : done;
}

Outcome Staging::fetch() {
  Current current(driver, context);
  Outcome done = current.outcome();
  for (const Copy &copy : in)
    if (done && transport.carriesData())
      done = driver.check(driver.cuMemcpyAsync(addressOf(copy.host), copy.device, copy.bytes, stream),
                          "fetching " + std::to_string(copy.bytes) + " bytes from the device");
  return done ? driver.check(driver.cuEventRecord(here, stream), "an event after the operands") : done;
}

void Staging::finish() {
  Current current(driver, context);
  driver.cuStreamSynchronize(stream);
}

Outcome Staging::fetched(bool &there) {
  Current current(driver, context);
  cuda::Result result = driver.cuEventQuery(here);
  there = result == cuda::success;
  return result == cuda::notReady ? Outcome() : driver.check(result, "operands from the device");
}

Outcome Staging::giveBack() {
  Current current(driver, context);
  Outcome done = current.outcome();
  for (const Copy &copy : out)
    if (done && transport.carriesData())
      done = driver.check(driver.cuMemcpyAsync(copy.device, addressOf(copy.host), copy.bytes, stream),
                          "giving " + std::to_string(copy.bytes) + " bytes back to the device");
  return done ? driver.check(driver.cuEventRecord(landed, stream), "an event after the results") : done;
}

Outcome Staging::handOver(void *programs) {
  Current current(driver, context);
  Outcome done = current.outcome();
  return done ? driver.check(driver.cuStreamWaitEvent(programs, landed, 0), "the stream of the wait") : done;
}

} // namespace braid::runtime
