//===- PriceReport.h - what braid-sim price found, and its forms ------------------------------------------------===//
#ifndef BRAID_TOOLS_BRAID_SIM_PRICEREPORT_H
#define BRAID_TOOLS_BRAID_SIM_PRICEREPORT_H

#include "braid/cost_models/Price.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::braid::sim {

namespace cost = ::braid::cost;

/// What one size costs.
struct PriceRow {
  cost::Bytes bytes;
  const cost::Candidate *choice = nullptr;
  const cost::Candidate *runnerUp = nullptr;
  std::vector<std::pair<cost::Seconds, cost::Seconds>> quantiles; ///< value and standard error
  /// For each quantile, what is cheaper there than the choice, by more than the errors, and its time; or nullptr.
  std::vector<std::pair<const cost::Candidate *, cost::Seconds>> cheaper;
  const std::vector<cost::Candidate> *candidates = nullptr; ///< all, cheapest first
};

/// All sizes on one cluster. The rows point into the pricer.
struct PriceReport {
  cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
  std::unique_ptr<cost::Pricer> pricer;
  int ranks = 0;
  std::vector<double> quantiles;
  std::vector<PriceRow> rows;
  std::string value; ///< of the knob that is swept
};

/// One report, or one for each value of the knob that is swept.
struct PriceReports {
  std::string knob; ///< a key of cluster files; empty: nothing is swept
  std::vector<PriceReport> reports;
};

std::string quantileName(double q); ///< "p99"
std::string choiceName(const cost::Candidate &c);
/// "in_network, not offered: ..." of Pricer::notModelled is what the cluster does not grant, not what is missing here.
bool isNotOffered(const std::string &sentence);
/// nccl-tests' bus bandwidth in GB/s of a collective that takes `time`.
double busBandwidth(const PriceReport &report, cost::Bytes bytes, cost::Seconds time);

void printText(const PriceReports &reports, llvm::raw_ostream &os);
void printCsv(const PriceReports &reports, llvm::raw_ostream &os);
void printJson(const PriceReports &reports, llvm::raw_ostream &os);
/// An SVG drawing: time and bus bandwidth by size, or by the knob's values where there is one size.
std::string plotSvg(const PriceReports &reports);

} // namespace mlir::braid::sim

#endif
