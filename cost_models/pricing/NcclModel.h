//===- NcclModel.h - prices by NCCL's published tuning model ----------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_NCCLMODEL_H
#define BRAID_COST_MODELS_PRICING_NCCLMODEL_H

#include "GroupShape.h"

namespace braid::cost {

/// One collective (or a group call of several) on groups of one shape.
struct NcclQuestion {
  CollectiveKind kind = CollectiveKind::AllReduce;
  Bytes bytes;        ///< operand bytes per rank
  int operations = 1; ///< collectives of one group call, pipelined by NCCL
  bool float8 = false;
  GroupShape shape;
};

/// Ring (and tree for all_reduce) x LL, LL128, Simple. Empty for all_to_all and permute, which are point-to-point.
std::vector<Candidate> ncclCollective(const NcclQuestion &question, const Cluster &cluster);
/// all_to_all as grouped sends and receives.
Candidate ncclAllToAll(const NcclQuestion &question, const Cluster &cluster);
/// Of blocks that differ in size: `load` is what the busiest rank moves.
struct PointToPointLoad {
  int intraPeers = 0, interPeers = 0; ///< ranks that it exchanges something with, on its host and on others
  double intraBytes = 0, interBytes = 0;
};
Candidate ncclRaggedAllToAll(const PointToPointLoad &load, const GroupShape &shape, const Cluster &cluster);
Candidate ncclPermute(Bytes bytes, const PermuteLayout &layout, const Cluster &cluster);

/// NCCL's factor on a tree's bandwidth, between two powers of two interpolated in the logarithm of the size. NCCL
/// rounds down to the power, which makes its time fall by up to 17 % where the factor rises; the interpolated time is
/// monotone and agrees with NCCL's at every power of two.
double ncclTreeFactor(int protocol, double bytes);

/// Whether GPUs of a host are joined by NVLink (else PCIe): picks the hop's latency and whether LL128 is used.
bool ncclHasNvlink(const Cluster &cluster);

/// Row of NCCL's tables by GPU generation (nccl::Architecture).
int ncclArchitecture(const Cluster &cluster);

std::vector<std::string> ncclNotModelled(const Cluster &cluster);

/// Bus bandwidth of a large all_reduce for a group of this shape: the file's, for the NICs that the group has.
BytesPerSecond ncclBusBandwidth(const GroupShape &shape, const Cluster &cluster);

} // namespace braid::cost

#endif
