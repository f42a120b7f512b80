//===- Calls.h - an operation as calls of NCCL ----------------------------------------------------------------------===//
//
// A planned operation becomes one group of calls, whatever its number of tensors. Moves are of bytes; reductions have NCCL's types. What
// NCCL has no word for (exclusive or, 16-bit integers, tags) is an error that names the way out.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_NCCL_CALLS_H
#define BRAID_RUNTIME_ENGINES_NCCL_CALLS_H

#include "core/Request.h"
#include "engines/nccl/Library.h"
#include "transports/cuda/Driver.h"

namespace braid::runtime::nccl {

struct Call {
  enum Kind { AllReduce, Reduce, ReduceScatter, AllGather, Broadcast, AllToAll, Gather, Scatter, Send, Receive } kind;
  const char *send = nullptr;
  char *receive = nullptr;
  size_t count = 0;
  int root = 0; ///< or the peer
};

/// Before the calls, in their stream: of the device's memory, `from` null: zeros.
struct DeviceCopy {
  char *to;
  const char *from;
  size_t bytes;
};

struct Calls {
  std::vector<DeviceCopy> before;
  std::vector<Call> calls;
  Type type = u8;
  Reduction reduction = sum;
};

/// Whether NCCL has what the operation asks for; the type and reduction.
Outcome readCalls(const Request &request, const Library &nccl, Calls &calls);

/// Whether this is an algorithm in NCCL's words, "ring" or "ring/LL128", or none. Calls have no place for it: NCCL's tuner chooses.
Outcome readAlgorithm(const std::string &spelled);

/// Bytes of scratch that operands need: NCCL works in place where operand and result begin at the same block, and not where they overlap
/// otherwise.
size_t scratchBytes(const Request &request);

/// The calls for the request's buffers. `scratch` has so many bytes; `barrier`: a byte of the device.
void makeCalls(const Request &request, const Library &nccl, char *scratch, char *barrier, Calls &calls);

/// One call, inside a group.
Result issue(const Library &nccl, const Calls &all, const Call &call, Comm comm, Stream stream);

} // namespace braid::runtime::nccl

#endif
