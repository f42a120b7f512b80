//===- Fabric.h - RDMA devices that are memory of one process, and the network between them ------------------------===//
//
// For tests: the transport runs over it as over a fabric, thread to thread, with what hardware is free to do (completions of
// different queue pairs in any order, receivers that are not ready) and what goes wrong with it, on demand.
//
//   - each host has a device per rail, which reaches those of the same rail on other hosts. Its table of GIDs is as an adapter's:
//     link-local and IPv4, as RoCE v1 and as RoCE v2; only RoCE v2 of the network's addresses is carried
//   - a queue pair goes through its states by the table of the specification: attributes that are missing, or not allowed, are
//     EINVAL. One that fails is in the error state, and all that it holds is flushed
//   - memory is read and written when a request is executed, with the keys, bounds and access flags of that moment
//   - work is done by whoever posts or polls: no thread. Requests of a queue pair are executed in their order, when their delay
//     is over; queue pairs take turns at random
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_DOUBLE_FABRIC_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_DOUBLE_FABRIC_H

#include "transports/verbs/Verbs.h"
#include <chrono>
#include <functional>
#include <memory>

namespace braid::runtime::verbs {

using Seconds = std::chrono::duration<double>;

/// What devices of the double check; a test that a check is missed leaves it out.
enum Check : unsigned {
  CheckKeys = 1 << 0,    ///< that they exist, and are of the queue pair's domain
  CheckBounds = 1 << 1,  ///< of memory regions
  CheckRegions = 1 << 2, ///< that they grant the access
  CheckPairs = 1 << 3,   ///< that the queue pair grants it
  CheckLengths = 1 << 4, ///< of messages, against those of receives
  CheckQueues = 1 << 5,  ///< that there is room
  CheckStates = 1 << 6,  ///< of queue pairs, when something is posted
  CheckAll = (1 << 7) - 1
};

/// What goes wrong with rdma_cm on one host.
enum class ManagerFault {
  None,
  NoManager,      ///< the library or its device is missing
  NoAddress,      ///< no IP address belongs to the ports
  AddressRefused, ///< there is no route to an address
  Address,        ///< nobody answers for it
  OtherPort,      ///< it is reached from another port
  Route,          ///< the path is not found
  Unreachable,    ///< requests are not answered
  Rejection,      ///< nobody listens
  WrongSeed,      ///< requests are those of another job
  WrongRequest,   ///< and of another rail
  WrongAnswer,    ///< answers are
  AnsweredTwice,  ///< answers come twice
  AnsweredEarly,  ///< and before anything was asked for
  HangsUp,        ///< who asks is gone when it is answered
  BrokenChannel,  ///< events can't be read
  Silence         ///< nothing is heard of what was asked for
};

/// A fault when the devices have been called so often: the same moment of the same work each time, if the ranks take the same turns.
struct PlannedFault {
  uint64_t after = 0; ///< registrations, changes of state, posts and executed requests of all devices
  enum What { QueuePairFails, DeviceRemoved, LinkCut } what = DeviceRemoved;
  int host = 0, rail = 0, which = 0; ///< which: as failQueuePair counts them
};

struct FabricSettings {
  int rails = 2;
  uint64_t seed = 1;
  bool reorder = true;           ///< among queue pairs
  Seconds latency{0}, jitter{0}; ///< each way of a message: latency + jitter x a lognormal draw of median 1, sigma 0.5
  double bytesPerSecond = 0;     ///< of a device; 0: no limit
  Seconds longestTimeout{2e-3};  ///< a try that is not answered takes what the queue pair says, at most this
  uint32_t inlineBytes = 128;
  int completions = 1 << 16; ///< of a completion queue, at most
  int workRequests = 1 << 12;
  unsigned checks = CheckAll;
  bool iwarp = false; ///< devices are iWARP: no write with immediate
  ManagerFault managerFault = ManagerFault::None;
  int faultyHost = 1;               ///< which it is of
  std::vector<PlannedFault> faults; ///< in the order of `after`
  /// What registering memory fails with, an errno; 0: it does not. Called under the fabric's lock.
  std::function<int(int host, int rail, size_t bytes, bool dmaBuf)> refused;
  bool dmaBufs = true; ///< that are files: a buffer begins at the position of its descriptor
  std::function<void *(void *)>
      peerMemory; ///< where the processor sees what is registered by an address of a GPU; none: it can't be
};

/// What has happened, for tests.
struct FabricFigures {
  uint64_t sends = 0, writes = 0, immediates = 0, reads = 0, atomics = 0, inlined = 0, bytes = 0;
  uint64_t large = 0; ///< of all these, of 64 KiB and more
  uint64_t railBytes[8] = {};
  uint64_t notReady = 0;   ///< RNR NAKs
  uint64_t unanswered = 0; ///< tries that nobody acknowledged
  uint64_t passed = 0;     ///< requests that were executed before an older one of another queue pair
  uint64_t regions = 0;    ///< registered now
  uint64_t registrations = 0;
  uint64_t calls = 0;   ///< as PlannedFault counts them
  int backlog = 0;      ///< the smallest of those who listen by rdma_cm
  uint64_t managed = 0; ///< connections that rdma_cm has established
};

class Fabric {
public:
  static std::shared_ptr<Fabric> create(const FabricSettings &settings = {});
  virtual ~Fabric() = default;

  /// The devices of a host: double0, double1, ... Hosts are made as they are asked for, 0 to 65535.
  virtual std::unique_ptr<Provider> provider(int host) = 0;
  virtual FabricFigures figures() = 0;
  /// Bytes of `host` that are registered and hold this address.
  virtual bool registered(int host, const void *memory) = 0;

  // Faults. They last.
  virtual void failQueuePair(int host, int rail, int which) = 0; ///< the which-th of those that are connected
  virtual void removeDevice(int host, int rail) = 0;
  virtual void cutLink(int host, int rail) = 0;
  virtual void overrun(int host, int rail) = 0; ///< its completion queues
  /// For so long, no receive of the device is ready.
  virtual void deafen(int host, int rail, Seconds duration) = 0;
};

} // namespace braid::runtime::verbs

#endif
