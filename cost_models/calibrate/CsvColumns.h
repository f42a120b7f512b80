//===- CsvColumns.h - what the head of a CSV table says of its columns ---------------------------------------------===//
#ifndef BRAID_COST_MODELS_CALIBRATE_CSVCOLUMNS_H
#define BRAID_COST_MODELS_CALIBRATE_CSVCOLUMNS_H

#include <optional>
#include <string>
#include <vector>

namespace braid::cost {

struct CsvColumn {
  enum class Kind { Unknown, Word, Size, Count, Wrong, Time, Bandwidth } kind = Kind::Unknown;
  std::string name;    ///< as it is known here: "bytes", "nodes", "p50", "algbw"
  std::string written; ///< "p50_us"
  double unit = 1;     ///< of times in seconds, of bandwidths in GB/s
};

struct CsvHead {
  std::vector<CsvColumn> columns;
  std::optional<size_t> time; ///< the column that is taken; none: times come from bandwidths
  bool ours = false;          ///< of `braid-bench measure`

  bool has(const std::string &name) const;
};

/// The head of a table, or what is wrong with it: no sizes, no times, or two columns of which either may be the one.
std::optional<std::string> readHead(const std::vector<std::string> &fields, CsvHead &head);

/// Of a percentile's name: "min" 0, "p50" 0.5, "p99.9" and "p999" 0.999, "max" 1.
std::optional<double> quantileNamed(const std::string &name);

} // namespace braid::cost

#endif
