//===- DeviceWork.cpp - steps as copies and kernels in a stream -----------------------------------------------------===//
#include "core/DeviceWork.h"
#include "transports/cuda/Current.h"

namespace braid::runtime {

using cuda::Address;
using cuda::Current;

static Address addressOf(const void *at) { return reinterpret_cast<Address>(at); }

DeviceWork::~DeviceWork() {
  Current current(driver, context);
  for (cuda::Event event : events)
    if (event)
      driver.cuEventDestroy_v2(event);
}

Outcome DeviceWork::copy(void *to, void *also, const void *from, size_t bytes, bool) {
  Current current(driver, context);
  Outcome done = current.outcome();
  if (done && from && also && kernels)
    return kernels->copy({to, also, from, nullptr, bytes, 0}, stream);
  for (void *each : {to, also})
    if (done && each)
      done = from ? driver.check(driver.cuMemcpyAsync(addressOf(each), addressOf(from), bytes, stream),
                                 "a copy of " + std::to_string(bytes) + " bytes")
                  : driver.check(driver.cuMemsetD8Async(addressOf(each), 0, bytes, stream),
                                 std::to_string(bytes) + " zeros");
  return done;
}

Outcome DeviceWork::combine(const Reducer &reducer, const PlannedStep &step, const void *a, const void *b) {
  Current current(driver, context);
  if (!current.outcome())
    return current.outcome();
  braid_reduction reduction = reducer.reduction != BRAID_AVERAGE || step.average ? reducer.reduction : BRAID_SUM;
  return kernels->reduce(reducer.type, reduction, {step.to, step.also, a, b, step.count, reducer.ranks}, stream);
}

Outcome DeviceWork::divide(braid_type type, void *data, size_t count, int ranks) {
  Current current(driver, context);
  return current.outcome() ? kernels->divide(type, {data, nullptr, nullptr, nullptr, count, ranks}, stream)
                           : current.outcome();
}

Outcome DeviceWork::convert(braid_type to, void *there, braid_type from, const void *here, size_t count) {
  Current current(driver, context);
  return current.outcome() ? kernels->convert(to, from, {there, nullptr, here, nullptr, count, 0}, stream)
                           : current.outcome();
}

Outcome DeviceWork::landed() {
  if (!flushes)
    return {};
  Current current(driver, context);
  Outcome done = current.outcome();
  return done ? driver.check(driver.cuFlushGPUDirectRDMAWrites(cuda::flushCurrentContext, cuda::flushToOwner),
                             "flushing what came from the network")
              : done;
}

Outcome DeviceWork::mark(size_t lane) {
  Current current(driver, context);
  Outcome done = current.outcome();
  if (events.size() <= lane)
    events.resize(lane + 1);
  if (done && !events[lane])
    done = driver.check(driver.cuEventCreate(&events[lane], cuda::eventDisableTiming), "an event");
  return done ? driver.check(driver.cuEventRecord(events[lane], stream), "an event after a step") : done;
}

Outcome DeviceWork::done(size_t lane, bool &is) {
  Current current(driver, context);
  cuda::Result result = driver.cuEventQuery(events[lane]);
  is = result == cuda::success;
  return result == cuda::notReady ? Outcome() : driver.check(result, "a step on the device");
}

} // namespace braid::runtime
