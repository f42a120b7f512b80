//===- Abi.h - how NCCL calls a tuner plugin, versions 4, 5 and 6 -----------------------------------------------===//
//
// NCCL opens the library of NCCL_TUNER_PLUGIN, looks for ncclTunerPlugin_v6, then _v5, _v4, and calls the functions of the first
// that it knows: init and finalize (destroy in version 4) once for each communicator, getCollInfo for each collective between
// filling its table of costs and taking the cheapest cell. An error from any of them ends the job, so none is ever returned.
//
// Only what crosses the border is declared here, from the published interface (NVIDIA/nccl, src/include/plugin/tuner); sizes and
// offsets are those of x86-64 and are checked below. Enumerations are plain numbers: NCCL adds to them.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_NCCL_TUNER_ABI_H
#define BRAID_RUNTIME_ENGINES_NCCL_TUNER_ABI_H

#include <cstddef>
#include <cstdint>

namespace braid::nccl {

enum Result : int { Success = 0 };
enum Function : int { Broadcast, Reduce, AllGather, ReduceScatter, AllReduce };
constexpr const char *functionNames[] = {"broadcast", "reduce", "all_gather", "reduce_scatter", "all_reduce"};
constexpr int functions = 5; ///< that have algorithms; others are point-to-point
constexpr const char *algorithmNames[] = {"tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
                                          "nvls_tree", "pat"};
constexpr int algorithms = 7;
constexpr const char *protocolNames[] = {"LL", "LL128", "Simple"};
constexpr int protocols = 3;
constexpr float impossible = -1; ///< in the cost table: not for this collective, or not on this machine
constexpr int mostChannels = 64;

/// NCCL's log: a level, the subsystems that a line belongs to, where it comes from, and what printf takes.
using Logger = void (*)(int level, unsigned long subsystems, const char *file, int line, const char *format, ...);
enum Level : int { Warn = 2, Info = 3 };
enum Subsystem : unsigned long {
  Init = 0x1,
  Tuning = 0x40,
  All = ~0ul
}; ///< warnings are of all: any mask lets them through

/// A row for each algorithm, a column for each protocol, in microseconds; NCCL passes the address of the first cell as float**.
using GetCollInfo = int (*)(void *context, int function, size_t bytes, int operations, float **costs,
                            int algorithmCount, int protocolCount, int registered, int *channels);

struct TunerV4 {
  const char *name;
  int (*init)(size_t ranks, size_t nodes, Logger logger, void **context);
  GetCollInfo getCollInfo;
  int (*destroy)(void *context);
};

/// How ranks are joined by NVLink.
struct NvlDomainInfoV5 {
  int domains, fewestRanks, mostRanks;
};

/// The constants of NCCL's own model: microseconds and GB/s. Generations are Volta, Ampere, Hopper, Blackwell; scales are one,
/// two and more nodes.
struct ConstantsV5 {
  double baseLatency[algorithms][protocols];
  double hopLatency[3][algorithms][protocols]; ///< over NVLink, PCIe, the network
  double llMost[4][3];
  double ringLl128PerChannel[4][3];
  double treeLl128PerChannel[4][3];
  double treePerChannel[4][3];
  double nvlsTreePerChannel[4][3];
};

using InitV5 = int (*)(void **context, uint64_t communicator, size_t ranks, size_t nodes, Logger logger,
                       NvlDomainInfoV5 *nvlink, ConstantsV5 *constants);

struct TunerV5 {
  const char *name;
  InitV5 init;
  GetCollInfo getCollInfo;
  int (*finalize)(void *context);
};

struct TunerV6 {
  const char *name;
  InitV5 init;
  GetCollInfo getCollInfo;
  int (*finalize)(void *context);
  int (*getChunkSize)(void *context, int function, size_t bytes, int algorithm, int protocol, int channels,
                      size_t *chunk);
};

static_assert(sizeof(TunerV4) == 32 && offsetof(TunerV4, init) == 8 && offsetof(TunerV4, getCollInfo) == 16 &&
              offsetof(TunerV4, destroy) == 24);
static_assert(sizeof(TunerV5) == 32 && offsetof(TunerV5, init) == 8 && offsetof(TunerV5, getCollInfo) == 16 &&
              offsetof(TunerV5, finalize) == 24);
static_assert(sizeof(TunerV6) == 40 && offsetof(TunerV6, finalize) == 24 && offsetof(TunerV6, getChunkSize) == 32);
static_assert(sizeof(NvlDomainInfoV5) == 12);
static_assert(sizeof(ConstantsV5) == 1152 && offsetof(ConstantsV5, hopLatency) == 168 &&
              offsetof(ConstantsV5, llMost) == 672 && offsetof(ConstantsV5, ringLl128PerChannel) == 768 &&
              offsetof(ConstantsV5, treeLl128PerChannel) == 864 && offsetof(ConstantsV5, treePerChannel) == 960 &&
              offsetof(ConstantsV5, nvlsTreePerChannel) == 1056);

} // namespace braid::nccl

#endif
