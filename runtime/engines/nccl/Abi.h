//===- Abi.h - the functions of NCCL that the engine calls ----------------------------------------------------------===//
//
// Declared here, so that Braid builds without NCCL and opens whichever version a machine has; where nccl.h is found, AbiCheck.cpp
// compares them with it. NCCL keeps its binary interface: structures are longer in later versions and say how long they are, functions are
// added. What came after the oldest version that the engine works with is optional, and used only by a library that is new enough.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_NCCL_ABI_H
#define BRAID_RUNTIME_ENGINES_NCCL_ABI_H

#include <cstddef>
#include <cstdint>

namespace braid::runtime::nccl {

enum Result : int {
  ok = 0,
  unhandledCudaError = 1,
  systemError = 2,
  internalError = 3,
  invalidArgument = 4,
  invalidUsage = 5,
  remoteError = 6,
  inProgress = 7
};

enum Type : int { i8, u8, i32, u32, i64, u64, f16, f32, f64, bf16, f8e4m3, f8e5m2 };
enum Reduction : int { sum, product, max, min, average };

struct UniqueId {
  char internal[128];
};

struct Handle; ///< what ncclComm_t points to
using Comm = Handle *;
using Stream = void *;

/// The first members of ncclConfig_t, as of version 2.14: a library fills in what a shorter structure lacks.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef, version = 21400;
  int blocking = 0;
};

constexpr int noColor = -1;        ///< NCCL_SPLIT_NOCOLOR
constexpr int oldest = 21400;      ///< configurations, and communicators that do not block
constexpr int firstWithF8 = 22400; ///< reductions of 8-bit floats

/// X(first version with it, name, parameters); version 0: always there.
#define BRAID_NCCL_FUNCTIONS(X)                                                                                        \
  X(0, ncclGetUniqueId, (UniqueId * id))                                                                               \
  X(0, ncclCommInitRankConfig, (Comm * comm, int ranks, UniqueId id, int rank, Config *config))                        \
  X(0, ncclCommFinalize, (Comm comm))                                                                                  \
  X(0, ncclCommDestroy, (Comm comm))                                                                                   \
  X(0, ncclCommAbort, (Comm comm))                                                                                     \
  X(0, ncclCommGetAsyncError, (Comm comm, Result * error))                                                             \
  X(0, ncclGroupStart, ())                                                                                             \
  X(0, ncclGroupEnd, ())                                                                                               \
  X(0, ncclAllReduce, (const void *send, void *receive, size_t count, Type, Reduction, Comm, Stream))                  \
  X(0, ncclReduce, (const void *send, void *receive, size_t count, Type, Reduction, int root, Comm, Stream))           \
  X(0, ncclReduceScatter, (const void *send, void *receive, size_t count, Type, Reduction, Comm, Stream))              \
  X(0, ncclAllGather, (const void *send, void *receive, size_t count, Type, Comm, Stream))                             \
  X(0, ncclBroadcast, (const void *send, void *receive, size_t count, Type, int root, Comm, Stream))                   \
  X(0, ncclSend, (const void *send, size_t count, Type, int peer, Comm, Stream))                                       \
  X(0, ncclRecv, (void *receive, size_t count, Type, int peer, Comm, Stream))                                          \
  X(21800, ncclCommSplit, (Comm comm, int color, int key, Comm *made, Config *config))                                 \
  X(22700, ncclCommShrink, (Comm comm, int *left, int count, Comm *made, Config *config, int flags))                   \
  X(22800, ncclAlltoAll, (const void *send, void *receive, size_t count, Type, Comm, Stream))                          \
  X(22800, ncclGather, (const void *send, void *receive, size_t count, Type, int root, Comm, Stream))                  \
  X(22800, ncclScatter, (const void *send, void *receive, size_t count, Type, int root, Comm, Stream))                 \
  X(22800, ncclCommRevoke, (Comm comm, int flags))

} // namespace braid::runtime::nccl

#endif
