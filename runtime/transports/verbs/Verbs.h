//===- Verbs.h - the part of RDMA verbs that the transport uses ---------------------------------------------------===//
//
// A seam with two sides. Above it is the whole transport. Below it are two providers of devices:
//
//   Library.cpp   libibverbs of rdma-core, opened when it is asked for, so that one binary runs with and without it
//   double/       queue pairs, completion queues and registered memory among threads of one process, with faults on demand
//
// The names and numbers are those of verbs: of ibv_wc_status, of ibv_qp_attr_mask, of ibv_access_flags. Only reliable
// connections. Whatever is made must be gone before the device that made it. Integers that functions return are 0 or an errno.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_VERBS_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_VERBS_H

#include "core/Outcome.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace braid::runtime::verbs {

struct Gid {
  enum Type { InfiniBand, RoCEv1, RoCEv2 };
  std::array<uint8_t, 16> raw = {};
  Type type = InfiniBand;
  int index = 0;
  bool empty() const { return raw == std::array<uint8_t, 16>(); }
};

struct Port {
  int number = 1;
  bool active = false;
  bool ethernet = false; ///< RoCE or iWARP; else InfiniBand
  bool iwarp = false;    ///< which is connected by rdma_cm alone, and has no write with immediate
  uint16_t lid = 0;
  uint32_t mtu = 1024; ///< bytes, of what is active
  int gids = 0;        ///< entries of the table, also empty ones
};

struct Limits {
  int ports = 1;
  int completions = 0;  ///< of a completion queue
  int workRequests = 0; ///< of one queue of a queue pair
  int readsServed = 1, readsInFlight = 1;
};

/// ibv_access_flags.
enum Access : unsigned { LocalWrite = 1, RemoteWrite = 2, RemoteRead = 4, RemoteAtomic = 8 };

/// ibv_wc_status.
enum class Status {
  Success = 0,
  LocalLength = 1,
  LocalOperation = 2,
  LocalProtection = 4,
  Flushed = 5,
  BadResponse = 7,
  LocalAccess = 8,
  RemoteInvalidRequest = 9,
  RemoteAccess = 10,
  RemoteOperation = 11,
  RetryExceeded = 12,
  RnrRetryExceeded = 13,
  RemoteAborted = 17,
  Fatal = 19,
  ResponseTimeout = 20,
  General = 21
};

struct Completion {
  uint64_t id = 0; ///< of the work request
  Status status = Status::Success;
  uint32_t vendor = 0; ///< the device's own word on an error
  uint32_t queuePair = 0;
  uint32_t bytes = 0; ///< received; without an error
  uint32_t immediate = 0;
};

/// One piece of local memory, or none if `bytes` is 0.
struct WorkRequest {
  enum Operation { Send, Write, WriteWithImmediate, Read, FetchAdd } operation = Send;
  uint64_t id = 0;
  void *local = nullptr;
  uint32_t bytes = 0, localKey = 0;
  bool inlined = false; ///< the bytes are taken at once; they need no key
  uint64_t remote = 0;
  uint32_t remoteKey = 0;
  uint32_t immediate = 0;
  uint64_t add = 0; ///< FetchAdd: to the 8 bytes at `remote`, whose old value comes to `local`
};

enum class State { Reset = 0, Init = 1, ReadyToReceive = 2, ReadyToSend = 3, Error = 6 };

/// ibv_qp_attr_mask.
enum Attribute : unsigned {
  SetState = 1 << 0,
  SetAccess = 1 << 3,
  SetPkeyIndex = 1 << 4,
  SetPort = 1 << 5,
  SetAddress = 1 << 7,
  SetMtu = 1 << 8,
  SetTimeout = 1 << 9,
  SetRetries = 1 << 10,
  SetRnrRetries = 1 << 11,
  SetReceivePsn = 1 << 12,
  SetReadsInFlight = 1 << 13,
  SetRnrTimer = 1 << 15,
  SetSendPsn = 1 << 16,
  SetReadsServed = 1 << 17,
  SetPeer = 1 << 20
};

struct QueuePairAttributes {
  State state = State::Reset;
  int port = 1;
  int pkeyIndex = 0;
  unsigned access = 0;
  uint32_t mtu = 1024; ///< bytes
  uint32_t peer = 0;   ///< number of its queue pair
  uint32_t receivePsn = 0, sendPsn = 0;
  int readsServed = 1, readsInFlight = 1;
  int rnrTimer = 12;  ///< ibv's code; 12: 0.64 ms
  int timeout = 20;   ///< 4.096 us x 2^timeout
  int retries = 7;    ///< of what is not acknowledged
  int rnrRetries = 7; ///< of what met no receive; 7: for ever
  struct {
    bool global = false; ///< by GID, which RoCE needs; else by LID
    Gid gid;
    int sourceIndex = 0;
    uint32_t flowLabel = 0; ///< 20 bits; RoCE v2 makes the UDP source port of it
    int hopLimit = 64, trafficClass = 0, serviceLevel = 0;
    uint16_t lid = 0;
    int sourcePathBits = 0, staticRate = 0; ///< of InfiniBand's path
  } address;
};

class MemoryRegion {
public:
  virtual ~MemoryRegion() = default; ///< deregisters; no access through it begins after that
  virtual uint32_t localKey() const = 0;
  virtual uint32_t remoteKey() const = 0;
};

class CompletionQueue {
public:
  virtual ~CompletionQueue() = default;
  /// How many there were, at most `count`; negative: the queue is broken (it overran, or its device is gone).
  virtual int poll(Completion *completions, int count) = 0;
  /// The next completion makes `descriptor` readable, once. Poll after it and before sleeping.
  virtual int arm() = 0;
  virtual int descriptor() const = 0;
  /// Takes the events that have made it readable.
  virtual void acknowledge() = 0;
};

struct QueuePairSizes {
  int sends = 1, receives = 1;
  uint32_t inlineBytes = 0; ///< wished for; the device may give less
};

class QueuePair {
public:
  virtual ~QueuePair() = default;
  virtual uint32_t number() const = 0;
  virtual uint32_t inlineBytes() const = 0;
  virtual int modify(const QueuePairAttributes &attributes, unsigned mask) = 0;
  /// Every request has a completion, also a failed one, unless this function has failed.
  virtual int send(const WorkRequest &request) = 0;
  virtual int receive(uint64_t id, void *local, uint32_t bytes, uint32_t localKey) = 0;
};

/// An opened device with one protection domain.
class Device {
public:
  virtual ~Device() = default;
  virtual const std::string &name() const = 0;
  virtual int limits(Limits &limits) = 0;
  virtual int port(int number, Port &port) = 0;
  virtual int gid(int port, int index, Gid &gid) = 0;
  // What is made; null: `error` is an errno.
  virtual std::unique_ptr<MemoryRegion> registerMemory(void *memory, size_t bytes, unsigned access, int &error) = 0;
  /// Memory of another device, exported as a dma-buf; `address` is what work requests call its first byte.
  virtual std::unique_ptr<MemoryRegion> registerDmaBuf(int descriptor, uint64_t offset, size_t bytes, uint64_t address,
                                                       unsigned access, int &error) = 0;
  /// Whether registerMemory takes addresses of GPUs, too (the module nvidia_peermem, or nv_peer_mem, is loaded).
  virtual bool peerMemory() const = 0;
  virtual std::unique_ptr<CompletionQueue> makeCompletionQueue(int capacity, int &error) = 0;
  virtual std::unique_ptr<QueuePair> makeQueuePair(CompletionQueue &completions, const QueuePairSizes &sizes,
                                                   int &error) = 0;
  /// Whether the device, or a port of it, reports that it goes no further; the sentence says what. Never blocks.
  virtual bool broken(std::string &what) = 0;
};

class ConnectionManager; // ConnectionManager.h

class Provider {
public:
  virtual ~Provider() = default;
  virtual Outcome devices(std::vector<std::string> &names) = 0;
  virtual Outcome open(const std::string &name, std::unique_ptr<Device> &device) = 0;
  /// For BRAID_IB_CM=rdma_cm.
  virtual Outcome connectionManager(std::unique_ptr<ConnectionManager> &manager) = 0;
};

/// That of libibverbs. The sentence of a failure says what is missing and how to get it.
Outcome openLibrary(std::unique_ptr<Provider> &provider);

} // namespace braid::runtime::verbs

#endif
