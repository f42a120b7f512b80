//===- Direct.h - whether a host's devices read each other's memory --------------------------------------------------===//
//
// An operation is direct if the buffers of all its ranks are of devices that reach each other: then nothing of it passes through
// the host (DirectTransport.h, DeviceWork.h). All ranks have to do the same, so they find out together:
//
//   1. each rank looks at its own buffers, and says with the announcement of the operation whether it could (Directness);
//   2. where all could, and once for a communicator, each tells the others a few bytes of its device, tries to reach theirs, and
//      tells them whether that worked. Only if it did on all ranks are these, and all later operations, direct.
//
// Otherwise buffers are staged (Staging.h). With BRAID_LOG=on the first rank says which it is, and why.
//
//   BRAID_P2P_DISABLE=1, or NCCL_P2P_DISABLE: buffers are staged
//   BRAID_P2P_LEVEL, or NCCL_P2P_LEVEL        LOC: they are staged; NVL: direct over NVLink only, which PIX, PXB and PHB mean too, as
//                                             PCI switches are not looked at; SYS (the default): wherever the driver allows it
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_DIRECT_H
#define BRAID_RUNTIME_CORE_DIRECT_H

#include "core/DirectTransport.h"
#include "core/Request.h"
#include "transports/cuda/Kernels.h"
#include <functional>

namespace braid::runtime {

/// What a rank says about its part of an operation.
enum class Directness : uint8_t { HostBuffers, Can, Disabled, OtherDevice, NoHandle, NoKernels, Unaligned };
/// "its buffers are of the host": why not.
const char *whyNot(Directness said);

/// What the environment allows.
struct PeerLevel {
  bool off = false, onlyNvlink = false;
  std::string why; ///< off: which variable says so
};
Outcome readPeerLevel(const std::function<const char *(const char *)> &variable, PeerLevel &level);

class Direct {
public:
  /// On a lane of `inner` that nobody else uses.
  static Outcome make(const cuda::Driver &driver, cuda::Context context, const PeerLevel &level, Transport &inner,
                      int me, int ranks, int lane, std::unique_ptr<Direct> &direct);
  ~Direct();

  /// Whether buffers and reductions of the request could be read directly; `why`: what stands against it.
  Directness look(const Request &request, cuda::Context context, std::string &why);
  DirectTransport &transport() { return messages; }
  cuda::Context context() const { return its; }
  cuda::Kernels *kernels() { return ownKernels.get(); }

  enum Verdict { Unknown, Yes, No };
  /// Ranks begin to talk if they have not yet.
  Verdict verdict();
  /// Of which rank why not, in its words, and whose memory it was (-1: nobody's).
  int refuser() const { return refusing; }
  int unreached() const { return unreachable; }
  const std::string &why() const { return refusal; }
  /// Sends and takes what is to be said. True: something moved.
  bool talk();
  /// Which rank has not said it yet, -1: none.
  int silent() const;

private:
  Direct(const cuda::Driver &driver, cuda::Context context, const PeerLevel &level, Transport &inner, int me, int ranks,
         int lane)
      : driver(driver), its(context), level(level), inner(inner), messages(driver, context, inner), me(me), lane(lane),
        told(size_t(ranks)) {}
  Outcome prepare();
  Outcome reach(int peer);

  struct Note {
    cuda::DeviceUuid device;
    cuda::Reference some; ///< a few bytes of it
    int32_t can, whose;
    char why[128]; ///< not
  };
  struct Told {
    int offered = 0, heard = 0; ///< notes: of whom it is, and what it can
    Note first, second;
  };

  const cuda::Driver &driver;
  const cuda::Context its;
  const PeerLevel level;
  Transport &inner;
  DirectTransport messages;
  std::unique_ptr<cuda::Kernels> ownKernels;
  std::string noKernels;
  cuda::Device device = 0;
  const int me, lane;
  std::vector<Told> told;
  Note mine[2] = {}; ///< the second, when all firsts were heard
  bool begun = false, tried = false;
  Verdict found = Unknown;
  int refusing = -1, unreachable = -1;
  std::string refusal;
  void *some = nullptr;
};

} // namespace braid::runtime

#endif
