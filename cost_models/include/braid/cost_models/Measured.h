//===- Measured.h - tables of measured collectives --------------------------------------------------------------===//
//
// Read from what people have: the text of nccl-tests, the text of the OSU micro-benchmarks, `braid-bench measure` and
// any CSV with a head that names its columns:
//
//   collective   all_reduce, allreduce, all_gather, reduce_scatter, broadcast, ...       default: all_reduce
//   nodes|hosts, gpus_per_node|ranks_per_node|ppn, ranks                                  two of the three
//   algo|algorithm [, protocol]                    "default" or none: the library chose
//   bytes|size                                     of the operand, as nccl-tests counts it
//   time_us|latency_us|median_s|p50_us|mean_us     suffix _s, _ms, _us or _ns; one of the first two alone, or the median
//                                                  before the mean
//   algbw_GBps, busbw_GBps                         checked against the time, or the time is taken from them; GBps are bytes,
//                                                  Gbps bits; MBps, GiBps, ...
//   min_us, p90_us, p99_us, p999_us, max_us        per iteration, where there are any
//   #wrong                                         as nccl-tests counts it
//   job                                            which allocation; default: one per number of nodes
//
// Lines that begin with # are comments; "# source: ..." is kept.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_MEASURED_H
#define BRAID_COST_MODELS_MEASURED_H

#include "braid/cost_models/Price.h"
#include "braid/cost_models/Result.h"
#include <map>
#include <optional>

namespace braid::cost {

struct MeasuredRow {
  CollectiveKind kind = CollectiveKind::AllReduce;
  int hosts = 1, perHost = 1;
  std::string algorithm; ///< lower case; empty: the library chose
  std::string job;
  Bytes bytes; ///< as nccl-tests counts it: the larger of operand and result
  Seconds time;
  double algBandwidth = -1, busBandwidth = -1; ///< GB/s as printed; below 0: not printed
  Seconds p90, p99, p999;                      ///< of one iteration; 0: not there
  Seconds mean;                                ///< 0: not there
  std::map<double, Seconds> quantiles;         ///< all that are there, 0 the shortest time and 1 the longest
  int line = 0;
  std::string written; ///< its fields as they stand there
  /// False: on an emulated fabric, where `hosts` are those that the ranks' processes had, or not said.
  bool hostsKnown = true;
  int ranks() const { return hosts * perHost; }
};

struct MeasuredTable {
  std::string path, format; ///< "nccl-tests", "OSU", "braid-bench", "CSV"
  std::string source;       ///< what the table says of where it is from, or its path
  std::vector<MeasuredRow> rows;
  std::vector<std::string> notes; ///< rows set aside and why, on one line each
};

/// What the caller knows and the table may not say.
struct TableHints {
  int hosts = 0, perHost = 0;
  std::optional<CollectiveKind> kind;
};

Result<MeasuredTable> readMeasured(const std::string &path, const TableHints &hints = {});
Result<MeasuredTable> parseMeasured(const std::string &text, const std::string &path, const TableHints &hints = {});

/// What a table is trusted for.
struct TrustOptions {
  /// A fit asks for six sizes at least; a probe, which re-bases what was fitted, for a short one and a long one.
  bool probe = false;
  bool acceptInversions = false;
  /// The caller says which devices the ranks are on, so they may be any part of the cluster.
  bool placed = false;
};

/// Whether the table can be trusted; the error says what is wrong, where, and the way out. Looked for: too few points; hosts
/// and ranks that the cluster has not; rows that stand there twice; percentiles that fall; a time that does not agree with
/// the bandwidth printed beside it (us for ms, MB for MiB, by their factors); bus bandwidth taken for algorithm bandwidth;
/// times no network has; more bandwidth than the cluster's links carry; times that fall steeply, or often, as messages grow.
/// Small slips become notes; with `acceptInversions` the latter do, too.
std::optional<Error> findDistrust(MeasuredTable &table, const Cluster &cluster, const TrustOptions &options = {});

/// Bus bandwidth over algorithm bandwidth, as nccl-tests has it: 2 (n-1)/n for all_reduce, (n-1)/n, or 1.
double busFactor(CollectiveKind kind, int ranks);

} // namespace braid::cost

#endif
