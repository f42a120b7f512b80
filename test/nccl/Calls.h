//===- Calls.h - one call of the stand-in, from its argument check to its result ------------------------------------===//
#ifndef BRAID_TEST_NCCL_CALLS_H
#define BRAID_TEST_NCCL_CALLS_H

#include "engines/nccl/Abi.h"
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace braid::runtime::nccl {

/// A communicator of the stand-in.
struct Handle {
  static constexpr unsigned alive = 0x6e63636c;
  unsigned magic = alive;
  std::string folder; ///< where its ranks meet
  std::string log;    ///< file of this rank's calls
  int rank = 0, ranks = 0, device = 0;
  bool blocking = true;
  std::atomic<bool> aborted{false}, revoked{false}, finalized{false};
  std::atomic<int> inFlight{0}; ///< batches
  uint64_t collectives = 0;
  std::map<int, uint64_t> sent, received; ///< to and from each rank
  int children = 0;                       ///< as NCCL counts them

  std::mutex mutex; ///< of what is below: a stream's work is done by whoever drives the device
  Result state = ok;
  std::string error; ///< what ncclGetLastError says
  std::vector<std::shared_ptr<struct Batch>>
      waiting; ///< of a communicator that does not block: not in their streams yet
  bool meeting = false, ending = false;
  Comm child = nullptr; ///< Split, Shrink: what it is busy with, and where the handle goes then
  Comm *childAt = nullptr;

  Result fail(Result result, const std::string &text) {
    std::lock_guard<std::mutex> lock(mutex);
    error = text;
    return state = result;
  }
};

struct Call {
  enum Kind { AllReduce, Reduce, ReduceScatter, AllGather, Broadcast, AlltoAll, Gather, Scatter, Send, Recv } kind;
  const void *send = nullptr;
  void *receive = nullptr;
  size_t count = 0;
  Type type = i8;
  Reduction op = sum;
  int root = 0; ///< or the peer
  Comm comm = nullptr;
  Stream stream = nullptr;
  uint64_t number = 0;
  bool said = false, done = false;

  bool reduces() const { return kind == AllReduce || kind == Reduce || kind == ReduceScatter; }
  bool pointToPoint() const { return kind == Send || kind == Recv; }
  bool rooted() const { return kind == Reduce || kind == Broadcast || kind == Gather || kind == Scatter; }
  size_t operandBytes() const;
  size_t resultBytes() const;
  std::string text() const;
  /// Empty, or what NCCL would refuse, or would not do right.
  std::string wrong() const;
  /// Goes on; true: it is done, or dropped.
  bool advance();

private:
  std::string file(int rank) const;
  bool exchange();
  void compute();
};

/// What one group call puts into one stream.
struct Batch {
  std::vector<Call> calls;
  Stream stream = nullptr;
  Comm comm = nullptr;
};

const char *name(Call::Kind kind);
size_t sizeOf(Type type);
/// The mistake that BRAID_FAKE_NCCL_PLANT names.
bool planted(const char *what);

/// What the stand-in for the driver does for this one (test/cuda/Driver.cpp).
struct FakeDriver {
  void (*enqueue)(Stream, bool (*)(void *), void *);
  void *(*inside)(const void *);
  int (*streamDevice)(Stream);
  int (*pointer)(void *, int, unsigned long long);
  int (*device)(int *);
  int (*uuid)(void *, int);
};
/// Null: libnccl would find no device.
const FakeDriver *driver();

} // namespace braid::runtime::nccl

#endif
