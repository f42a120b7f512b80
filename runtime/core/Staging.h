//===- Staging.h - an operation whose buffers are on a device ------------------------------------------------------===//
//
// Where devices can't reach each other (Direct.h), nor NICs them (GpuDirectPlan.h), messages are of the host: the plan works on pinned memory of the
// transport, operands are fetched into it before the first message and results are given back after the last. All of it is ordered
// by events, never by waiting for a stream:
//
//   the program's stream   kernel A --ready--.                                          .--landed-- kernel B
//   the operation's own               fetch operands --here--> messages on the host --> give results back
//                          braid_op_start_on                                   braid_op_wait_on
//
// Pinned memory of the program needs no copies; messages only wait for what comes before them in the stream. Neither does an
// operation that is direct or GPUDirect, whose steps are work of the same stream (DeviceWork.h).
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_STAGING_H
#define BRAID_RUNTIME_CORE_STAGING_H

#include "core/Request.h"
#include "transports/Transport.h"
#include "transports/cuda/GpuDirect.h"

namespace braid::runtime {

class Staging {
public:
  /// Of a request with buffers that are not plain memory of the host. Where this rank has no buffers: in the context `its`, else
  /// the thread's, else that of device `ordinal`.
  static Outcome make(const Request &request, Transport &transport, cuda::Context its, int ordinal,
                      std::unique_ptr<Staging> &staging);
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  /// Puts memory of the transport in the place of a device's.
  Outcome stage(Request &request);
  bool stages() const { return staged; } ///< it has
  /// Messages are to begin and end on the device: fails where NICs may not write there.
  Outcome openToNics();
  /// Whether all buffers are of its context: kernels and flushes there reach no others. Copies do.
  Outcome ownsAll(const Request &request) const;
  bool flushes() const { return visible == cuda::Visible::Flushed; } ///< what NICs have written
  /// Other buffers of the same sizes.
  Outcome rebind(const Request &request);
  /// What comes next follows what `stream` has come to.
  Outcome follow(void *stream);
  /// Operands come to the host.
  Outcome fetch();
  /// Whether all before the last fetch is done, and operands are there.
  Outcome fetched(bool &there);
  /// Results go to the device.
  Outcome giveBack();
  /// What comes next in `stream` finds them there.
  Outcome handOver(void *stream);
  /// Nothing of it is on its way any more.
  void finish();

  const cuda::Driver &driver;
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr; ///< the operation's own

private:
  Staging(const cuda::Driver &driver, Transport &transport) : driver(driver), transport(transport) {}
  Outcome open(const Request &request, cuda::Context its, int ordinal);
  Outcome bind(const Request &request);
  Outcome room(size_t bytes);

  /// A buffer of the program, and what stands for it.
  struct Copy {
    cuda::Address device;
    char *host;
    size_t bytes;
  };

  Transport &transport;
  bool staged = false;
  cuda::Visible visible = cuda::Visible::Always;
  cuda::Event ready = nullptr, here = nullptr, landed = nullptr;
  void *memory = nullptr;    ///< of the transport
  char *pinned = nullptr;    ///< its pages that are registered
  std::vector<Copy> in, out; ///< of buffers that are staged
};

} // namespace braid::runtime

#endif
