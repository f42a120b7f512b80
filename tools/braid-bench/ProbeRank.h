//===- ProbeRank.h - one rank's part in the measurements of a probe -----------------------------------------*- C++ -*-===//
#ifndef BRAID_BENCH_PROBERANK_H
#define BRAID_BENCH_PROBERANK_H

#include "MeasureReport.h"
#include "Ranks.h"
#include "braid/cost_models/Price.h"

namespace braid::bench {

/// One short and one long all_reduce, each by the algorithm that the cluster file says is the cheapest, in about
/// options.seconds on the machine's clock. All ranks get the rows. Throws Failure. The short one alone where it shows that
/// ranks take turns on a processor, or wait for what else runs there: they answer each other after the scheduler's time
/// slices, a few ms each, and say nothing of links.
std::vector<MeasuredRow> probeRows(Ranks &ranks, const MeasureOptions &options, const cost::Cluster &cluster,
                                   const cost::Placement &placement);

/// The error of a short one alone.
std::string waiting(const Ranks &ranks, const MeasuredRow &small);

} // namespace braid::bench

#endif
