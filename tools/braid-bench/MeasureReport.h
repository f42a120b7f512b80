//===- MeasureReport.h - rows of measured times: a table, CSV, JSON -----------------------------------------*- C++ -*-===//
#ifndef BRAID_BENCH_MEASUREREPORT_H
#define BRAID_BENCH_MEASUREREPORT_H

#include "Sampling.h"
#include "Values.h"
#include <string>
#include <vector>

namespace braid::bench {

/// One collective of one size by one algorithm. Times are seconds of the slowest rank.
struct MeasuredRow {
  Kind kind;
  std::string type, algorithm, transport, buffers;
  int ranks = 0, hosts = 0, channels = 0, chunks = 0;
  size_t bytes = 0; ///< of the larger buffer of a rank
  Median median;    ///< of batches of back-to-back calls
  size_t batches = 0;
  int callsPerBatch = 0;
  double p50 = 0, p95 = 0, p99 = 0; ///< of single calls
  size_t samples = 0;               ///< single calls

  /// Bytes per second that each rank's link must carry at least, in one direction, as nccl-tests defines it: bytes / time
  /// times 2 (n-1)/n for all_reduce, (n-1)/n where every rank keeps one block of n, 1 for broadcast, reduce and permute
  /// (https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md). 64 MiB all_reduce on 2 ranks in 10 ms: 6.7 GB/s.
  double busBandwidth() const;
};

std::string tableHead();
std::string tableRow(const MeasuredRow &row);
std::string toCsv(const std::vector<MeasuredRow> &rows);
/// `counters`: objects of JSON, what the ports of the hosts have counted meanwhile.
std::string toJson(const std::vector<MeasuredRow> &rows, const std::string &counters);

} // namespace braid::bench

#endif
