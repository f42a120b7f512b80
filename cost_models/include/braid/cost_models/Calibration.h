//===- Calibration.h - the constants that a fit finds, and where a fit starts -----------------------------------===//
//
// Two models of few constants, each one set for all sizes and all scales of a machine:
//
//   nccl      ring and tree x LL, LL128, Simple, as NCCL's kernels run them (pricing/CalibratedNccl.cpp has the formula)
//   messages  ranks of a host processor that exchange messages, as MPI libraries do and as Braid's own runtime does
//             (pricing/CalibratedMessages.cpp)
//
// A cluster file may carry either as a section `calibration`; prices then come from it. Every constant has a value to
// start from, published or measured elsewhere, and a width: how far machines are known to differ (standard deviation of
// the logarithm). A fit balances the table against both, so what a table says nothing about stays where it was.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_CALIBRATION_H
#define BRAID_COST_MODELS_CALIBRATION_H

#include <string>
#include <vector>

namespace braid::cost {

enum class CalibratedModel { Nccl, Messages };
const char *name(CalibratedModel model);

/// One constant of a model.
struct ConstantInfo {
  const char *key;      ///< in cluster files
  double start;         ///< where fits begin, in the unit of `what`
  double width;         ///< standard deviation of ln(value / start) over machines
  bool ofScale;         ///< says how costs change with the number of hosts: no table of one scale shows it
  const char *what;     ///< meaning and unit
  const char *source;   ///< of the start
  bool divides = false; ///< a rate, which can't be 0; any other constant that is 0 counts for nothing
};
const std::vector<ConstantInfo> &constantsOf(CalibratedModel model);

/// Values in the order of constantsOf; empty: not calibrated.
using FittedConstants = std::vector<double>;

/// Indices into FittedConstants of the model nccl; a hop, a bandwidth and their two neighbours are those of LL, LL128, Simple.
namespace ncclfit {
enum {
  StartUp,
  RingHop,
  TreeHop = RingHop + 3,
  Bandwidth = TreeHop + 3,
  TreeBandwidth = Bandwidth + 3,
  LongTrees,
  Contention,
  TreeChunk,
  LoadedRing,
  Count
};
}
/// Indices into FittedConstants of the model messages.
namespace messagefit {
enum { Latency, Rendezvous, Bandwidth, Reduction, Memory, Cache, SlowestLink, Neighbour, Count };
}

} // namespace braid::cost

#endif
