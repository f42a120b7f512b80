//===- CalibratedNccl.h - ring and tree as NCCL runs them, with fitted constants --------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_CALIBRATEDNCCL_H
#define BRAID_COST_MODELS_PRICING_CALIBRATEDNCCL_H

#include "NcclConstants.h"
#include "NcclModel.h"

namespace braid::cost {

/// What one cell costs, in parts that add up.
struct CalibratedParts {
  Seconds startUp;  ///< kernel start and first synchronisation
  Seconds inside;   ///< hops inside hosts
  Seconds across;   ///< hops between hosts
  Seconds fill;     ///< the first chunk on its way down and up a tree
  Seconds transfer; ///< all bytes at the rate of the slowest link
  int insideHops = 0;
  double acrossHops = 0;
  BytesPerSecond rate; ///< bus bandwidth that `transfer` ran at
  Seconds time() const { return startUp + inside + across + fill + transfer; }
};

/// One algorithm and protocol on a group of one shape. `fitted`: in the order of constantsOf(CalibratedModel::Nccl).
CalibratedParts calibratedNccl(const NcclQuestion &question, const Cluster &cluster, const FittedConstants &fitted,
                               nccl::Algorithm algorithm, nccl::Protocol protocol);

/// All cells as candidates with their terms; uses cluster.ncclFit, which is not empty.
std::vector<Candidate> calibratedNcclCandidates(const NcclQuestion &question, const Cluster &cluster);

} // namespace braid::cost

#endif
