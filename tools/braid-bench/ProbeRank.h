//===- ProbeRank.h - one rank's part in the measurements of a probe -----------------------------------------*- C++ -*-===//
#ifndef BRAID_BENCH_PROBERANK_H
#define BRAID_BENCH_PROBERANK_H

#include "MeasureReport.h"
#include "Ranks.h"
#include "braid/cost_models/Price.h"

namespace braid::bench {

/// One short and one long all_reduce, each by the algorithm that the cluster file says is the cheapest, in about
/// options.seconds on the machine's clock. All ranks get the rows. Throws Failure.
std::vector<MeasuredRow> probeRows(Ranks &ranks, const MeasureOptions &options, const cost::Cluster &cluster,
                                   const cost::Placement &placement);

} // namespace braid::bench

#endif
