//===- Fit.h - constants from measured tables -------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_FIT_H
#define BRAID_COST_MODELS_FIT_H

#include "braid/cost_models/Calibration.h"
#include "braid/cost_models/Measured.h"
#include <functional>
#include <map>

namespace braid::cost {

struct FitOptions {
  /// Which rows are judged and not fitted; none by default.
  std::function<bool(const MeasuredRow &)> heldOut;
  std::optional<CalibratedModel> model; ///< default: what the table's algorithms are of
};

struct FittedConstant {
  const ConstantInfo *info = nullptr;
  double value = 0, low = 0, high = 0; ///< with an interval that holds the true one with 95 %, if the model is right
  bool fitted = false;                 ///< else it stayed at its start
};

struct Residual {
  MeasuredRow row;
  Seconds predicted;
  std::string protocol; ///< the cheapest one's, where the model has several
  bool heldOut = false;
  double error() const { return predicted / row.time - 1; }
};

/// One size on one job for which several algorithms were measured.
struct Pick {
  std::string job;
  int hosts = 1;
  Bytes bytes;
  std::string chosen, best;
  double regret = 1; ///< time measured for the chosen over the best
  bool heldOut = false;
};

/// Of tables with percentiles per iteration: keys of a fabric profile.
struct FittedNoise {
  double spikeProbability = 0; ///< per node and operation
  Seconds spikeMinimum;
  double spikeIndex = 2;
  double bulkMean = 0; ///< 0: not seen
  int points = 0;      ///< percentiles that lie a spike above the median
};

struct FitResult {
  CalibratedModel model = CalibratedModel::Nccl;
  std::vector<FittedConstant> constants; ///< all of the model, in the order of constantsOf
  /// Factor on the latency of each job (messages only, tables of several jobs): what this job's draw was.
  std::map<std::string, double> rebase;
  double rebaseSigma = 0; ///< of ln(factor) over jobs; 0 where there is one
  std::optional<FittedNoise> noise;
  std::vector<Residual> residuals;
  std::vector<Pick> picks;
  std::vector<std::string> notes;
  double scatter = 0; ///< standard deviation of ln(predicted / measured), robust

  FittedConstants values() const;
  int fittedCount() const;
  double medianError(bool heldOut) const; ///< of |predicted / measured - 1|; 0 where there are no such rows
  double worstRegret(bool heldOut) const;
  int wrongPicks(bool heldOut) const;
};

/// Fits one set of constants to all rows of a trusted table. At most 16 constants of the model nccl for a table of
/// several scales and 8 for one of a single scale; 8 of the model messages, and for several jobs one factor each.
/// A job that is wholly held out is
/// re-based by its one row of fewest bytes, as a probe would. Deterministic. Errors: no row of an algorithm that the model knows.
Result<FitResult> fitTable(const MeasuredTable &table, const Cluster &cluster, const FitOptions &options = {});

/// The factor on latency under which the model gives the rows' times, in the median.
double rebaseLatency(const std::vector<MeasuredRow> &rows, const Cluster &cluster, CalibratedModel model,
                     const FittedConstants &fitted);

/// What NCCL's published formula makes of the table with one number fitted, the bus bandwidth between hosts.
Result<FitResult> fitPublished(const MeasuredTable &table, const Cluster &cluster, const FitOptions &options = {});

/// Time that fitted constants give a row; of its cheapest algorithm where the row names none. Nothing for an algorithm that
/// the model does not know.
std::optional<Residual> predictRow(const MeasuredRow &row, const Cluster &cluster, CalibratedModel model,
                                   const FittedConstants &fitted, double rebase = 1);

/// Regrets of choosing by prediction, for every size and job of which several algorithms were measured.
std::vector<Pick> picksOf(const std::vector<Residual> &residuals);

/// Which collectives and algorithms the constants were fitted to, which others they price, and which prices stay as they are: a
/// sentence each. None of what has no constants.
std::vector<std::string> coverageOf(const FitResult &fit);

/// A cluster file that takes over `basePath` and adds what was fitted, each constant with its source and its interval.
std::string toYaml(const FitResult &fit, const MeasuredTable &table, const std::string &basePath,
                   const std::string &name);
/// Constants, residuals row by row, picks: JSON.
std::string toJson(const FitResult &fit, const MeasuredTable &table);
/// The same for people.
std::string toText(const FitResult &fit, const MeasuredTable &table);

} // namespace braid::cost

#endif
