//===- MeasureCell.h - one rank's part in measuring one collective of one size ------------------------------*- C++ -*-===//
#ifndef BRAID_BENCH_MEASURECELL_H
#define BRAID_BENCH_MEASURECELL_H

#include "MeasureReport.h"
#include "Ranks.h"

namespace braid::bench {

/// Measures a cell; all ranks get the row. Throws Failure, also where a result is wrong. `supported` is false, and the row
/// empty, where the runtime says that this algorithm can't do this collective here.
MeasuredRow measureCell(Ranks &ranks, const MeasureOptions &options, Kind kind, size_t bytes,
                        const std::string &algorithm, bool &supported);

/// How long one call takes on the machine's clock, roughly: the best of three, on the slowest rank. The same on all ranks.
double secondsOfOne(Ranks &ranks, const MeasureOptions &options, Kind kind, size_t bytes, const std::string &algorithm);

} // namespace braid::bench

#endif
