//===- DeviceWork.h - the steps of an operation on a device ---------------------------------------------------------===//
//
// Copies by the driver, everything else by kernels, all in the operation's stream; what a peer's device holds is read from where it
// lies. An event for each lane of the plan says when its steps are done.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_DEVICEWORK_H
#define BRAID_RUNTIME_CORE_DEVICEWORK_H

#include "core/Work.h"
#include "transports/cuda/Kernels.h"

namespace braid::runtime {

class DeviceWork : public Work {
public:
  /// `kernels`: of the context; null: there are none, and nothing but copies is asked for. `flushes`: what NICs have written.
  DeviceWork(const cuda::Driver &driver, cuda::Context context, cuda::Stream stream, cuda::Kernels *kernels,
             bool flushes)
      : driver(driver), context(context), stream(stream), kernels(kernels), flushes(flushes) {}
  ~DeviceWork() override;

  Outcome copy(void *to, void *also, const void *from, size_t bytes, bool stream) override;
  Outcome combine(const Reducer &reducer, const PlannedStep &step, const void *a, const void *b) override;
  Outcome divide(braid_type type, void *data, size_t count, int ranks) override;
  Outcome convert(braid_type to, void *there, braid_type from, const void *here, size_t count) override;
  Outcome landed() override;
  Outcome mark(size_t lane) override;
  Outcome done(size_t lane, bool &is) override;
  bool later() const override { return true; }

private:
  const cuda::Driver &driver;
  const cuda::Context context;
  const cuda::Stream stream;
  cuda::Kernels *const kernels;
  const bool flushes;
  std::vector<cuda::Event> events; ///< of each lane
};

} // namespace braid::runtime

#endif
