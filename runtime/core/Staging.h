//===- Staging.h - an operation whose buffers are on a device ------------------------------------------------------===//
//
// Where a transport can't reach the device (no GPUDirect), or something is to be computed, messages are of the host: the plan works on pinned memory of the
// transport, operands are fetched into it before the first message and results are given back after the last. All of it is ordered
// by events, never by waiting for a stream:
//
//   the program's stream   kernel A --ready--.                                          .--landed-- kernel B
//   the operation's own               fetch operands --here--> messages on the host --> give results back
//                          braid_op_start_on                                   braid_op_wait_on
//
// Where it can, an operation that only moves bytes (DirectPlan.h) has none of these copies: messages begin and end in the program's
// own buffers. What the processor would copy there itself (a rank's own part of a result, a message that came before it was awaited),
// the device copies, in the operation's stream.
//
// Pinned memory of the program needs no copies; messages only wait for what comes before them in the stream.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_STAGING_H
#define BRAID_RUNTIME_CORE_STAGING_H

#include "core/Request.h"
#include "transports/Transport.h"
#include "transports/cuda/GpuDirect.h"

namespace braid::runtime {

class Staging {
public:
  /// Of a request with buffers that are not plain memory of the host; puts memory of the transport in their place.
  static Outcome make(Request &request, Transport &transport, std::unique_ptr<Staging> &staging);
  /// Of a request whose messages are to begin and end in memory of the device.
  static Outcome makeDirect(const Request &request, Transport &transport, std::unique_ptr<Staging> &staging);
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  /// Other buffers of the same sizes.
  Outcome rebind(const Request &request);
  /// Operands come to the host when `stream` has come to here.
  Outcome fetch(void *stream);
  Outcome fetched(bool &there);
  bool isDirect() const { return direct; }
  /// Direct. In the operation's stream, after what came before the start; `from` null: zeros.
  Outcome copy(void *to, const void *from, size_t bytes);
  /// The same, and it is there: messages are of memory that the transport wants back.
  Outcome copyNow(void *to, const void *from, size_t bytes);
  /// What has landed on the device is seen by its kernels, and by who reads it from there.
  Outcome show();
  /// Results go to the device.
  Outcome giveBack();
  /// What comes next in `stream` finds them there.
  Outcome handOver(void *stream);

private:
  Staging(const cuda::Driver &driver, Transport &transport) : driver(driver), transport(transport) {}
  Outcome open(const Request &request);
  Outcome bind(const Request &request);
  Outcome room(size_t bytes);

  /// A buffer of the program, and what stands for it.
  struct Copy {
    cuda::Address device;
    char *host;
    size_t bytes;
  };

  const cuda::Driver &driver;
  Transport &transport;
  bool direct = false;
  cuda::Visible visible = cuda::Visible::Always;
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr;
  cuda::Event ready = nullptr, here = nullptr, landed = nullptr;
  void *memory = nullptr;    ///< of the transport
  char *pinned = nullptr;    ///< its pages that are registered
  std::vector<Copy> in, out; ///< of pinned buffers none
};

} // namespace braid::runtime

#endif
