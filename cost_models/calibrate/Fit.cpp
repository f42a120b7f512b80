//===- Fit.cpp - constants from a measured table -------------------------------------------------------------------===//
//
// Least squares of ln(predicted / measured), each row worth `scatter`, rows that are far off less (soft L1, from twice
// the scatter on): a table's warm-up row or one slow job must not bend a machine's constants. Every constant adds one
// residual, its distance from its start in units of its width, so that a table of one algorithm or one scale leaves what
// it cannot know where it was.
//
// Counts of constants: 16 at most; 8 for a table of one scale, which says less. Those closest to their starts are left
// there, one by one, until as many remain. A constant of scale is never fitted to one scale.
//
// Message tables of several jobs have one factor on latency for each (measured: jobs of one machine differ more than
// iterations of one job); the profile gets their geometric mean in its latency, and their spread as the sigma from which
// jobs' factors are drawn.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Fit.h"
#include "calibrate/Noise.h"
#include "calibrate/Optimise.h"
#include "calibrate/Predict.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace braid::cost {

namespace {

// assumption: a factor of 2; a ring's step takes 1.25 to 1.40 us in three jobs of Leonardo, and 3.9 us in a fourth (HLC-Lab/pico)
constexpr double rebaseWidth = 0.7; ///< of ln(factor) between jobs

class Fit {
public:
  Fit(std::vector<MeasuredRow> rows, const Cluster &cluster, CalibratedModel model)
      : rows(std::move(rows)), cluster(cluster), model(model), infos(constantsOf(model)),
        // assumption: models of so few constants leave 10 % of NCCL's medians, and twice that of message libraries'
        scatter(model == CalibratedModel::Nccl ? 0.1 : 0.2) {
    std::set<int> scales;
    std::set<std::string> jobs;
    for (const MeasuredRow &row : this->rows) {
      scales.insert(row.hosts);
      jobs.insert(row.job);
    }
    if (model == CalibratedModel::Messages && jobs.size() > 1)
      this->jobs.assign(jobs.begin(), jobs.end());
    for (size_t i = 0; i < infos.size(); ++i)
      if (!infos[i].ofScale || scales.size() > 1)
        free.push_back(i);
    size_t most = std::min<size_t>(scales.size() > 1 ? 16 : 8, this->rows.size()); // setting: as above
    for (solve(2); free.size() > most; solve(2)) {
      size_t least = 0;
      for (size_t k = 1; k < free.size(); ++k)
        if (std::abs(minimum.place[k]) < std::abs(minimum.place[least]))
          least = k;
      free.erase(free.begin() + least);
    }
    solve(16); // setting: starts of the search
  }

  FittedConstants values(const std::vector<double> &z) const {
    FittedConstants fitted;
    for (const ConstantInfo &info : infos)
      fitted.push_back(info.start);
    for (size_t k = 0; k < free.size(); ++k)
      fitted[free[k]] *= std::exp(infos[free[k]].width * z[k]);
    return fitted;
  }

  double rebase(const std::vector<double> &z, const std::string &job) const {
    auto found = std::find(jobs.begin(), jobs.end(), job);
    return found == jobs.end() ? 1 : std::exp(rebaseWidth * z[free.size() + (found - jobs.begin())]);
  }

  void write(FitResult &result) const {
    result.model = model;
    FittedConstants best = values(minimum.place);
    // The jobs' mean is the profile's; each keeps its distance from it.
    double mean = 0, squares = 0;
    for (size_t j = 0; j < jobs.size(); ++j)
      mean += rebaseWidth * minimum.place[free.size() + j] / jobs.size();
    for (const std::string &job : jobs) {
      double distance = std::log(rebase(minimum.place, job)) - mean;
      result.rebase[job] = std::exp(distance);
      squares += distance * distance;
    }
    if (jobs.size() > 1)
      result.rebaseSigma = std::sqrt(squares / double(jobs.size() - 1));
    if (model == CalibratedModel::Messages)
      best[messagefit::Latency] *= std::exp(mean);
    for (size_t i = 0; i < infos.size(); ++i) {
      FittedConstant constant{&infos[i], best[i], best[i], best[i], false};
      auto at = std::find(free.begin(), free.end(), i);
      // The table shows a constant if it moves it, or knows it better than was known before (a deviation of 1).
      constexpr double moved = 0.01, known = 0.9; // setting: a hundredth, nine tenths
      auto shown = [&](size_t at) { return std::abs(minimum.place[at]) > moved || minimum.deviation[at] < known; };
      if (at != free.end() && shown(size_t(at - free.begin()))) {
        double deviation = infos[i].width * minimum.deviation[at - free.begin()];
        constant.fitted = true;
        constant.low = best[i] * std::exp(-1.96 * deviation); // setting: 95 % of a normal distribution
        constant.high = best[i] * std::exp(1.96 * deviation); // setting: the same
      } else if (at != free.end()) {
        constant.value = constant.low = constant.high = infos[i].start;
      }
      result.constants.push_back(constant);
    }
  }

private:
  void solve(int starts) {
    size_t dimensions = free.size() + jobs.size();
    minimum = leastSquares(
        dimensions, rows.size() + dimensions,
        [&](const std::vector<double> &z, std::vector<double> &out) {
          FittedConstants fitted = values(z);
          for (size_t i = 0; i < rows.size(); ++i) {
            std::optional<Residual> r = predictRow(rows[i], cluster, model, fitted, rebase(z, rows[i].job));
            out[i] = soft(std::log(r->predicted / r->row.time) / scatter);
          }
          std::copy(z.begin(), z.end(), out.begin() + rows.size());
        },
        starts);
  }

  /// The number whose square is the soft L1 loss of r: r near zero, growing as the root of r from 2 on.
  static double soft(double r) {
    double loss = 2 * (std::sqrt(1 + r * r / 4) - 1);
    return std::copysign(2 * std::sqrt(loss), r);
  }

  std::vector<MeasuredRow> rows;
  const Cluster &cluster;
  CalibratedModel model;
  const std::vector<ConstantInfo> &infos;
  double scatter; ///< of ln(predicted / measured) that a few constants leave on real tables
  std::vector<size_t> free;
  std::vector<std::string> jobs;
  Minimum minimum;
};

/// Messages where a row names an algorithm that NCCL has not, or comes from a benchmark of host processors.
CalibratedModel modelOf(const MeasuredTable &table) {
  if (table.format == "OSU" || table.format == "braid-bench")
    return CalibratedModel::Messages;
  for (const MeasuredRow &row : table.rows)
    if (!row.algorithm.empty() && !algorithmOf(row.algorithm, CalibratedModel::Nccl) &&
        algorithmOf(row.algorithm, CalibratedModel::Messages))
      return CalibratedModel::Messages;
  return CalibratedModel::Nccl;
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

} // namespace

Result<FitResult> fitTable(const MeasuredTable &table, const Cluster &cluster, const FitOptions &options) {
  FitResult result;
  result.notes = table.notes;
  CalibratedModel model = options.model ? *options.model : modelOf(table);
  std::vector<MeasuredRow> rows = usableRows(table, model, result.notes), fitted;
  for (const MeasuredRow &row : rows)
    if (!options.heldOut || !options.heldOut(row))
      fitted.push_back(row);
  if (fitted.size() < 6) {
    std::string aside;
    for (const std::string &note : result.notes)
      aside += "; " + note;
    return Error{"measured table, expected at least 6 rows that the model '" + std::string(name(model)) +
                     "' can be fitted to, got " + std::to_string(fitted.size()) + aside,
                 table.path};
  }
  Fit fit(fitted, cluster, model);
  fit.write(result);
  result.noise = fitNoise(fitted, cluster.inter.profile);
  FittedConstants values = result.values();
  std::map<std::string, MeasuredRow> smallest; // of jobs of which no row was fitted
  for (const MeasuredRow &row : rows)
    if (!result.rebase.empty() && !result.rebase.count(row.job)) {
      auto [entry, isNew] = smallest.try_emplace(row.job, row);
      if (!isNew && row.bytes < entry->second.bytes)
        entry->second = row;
    }
  for (const auto &[job, row] : smallest)
    result.rebase[job] = rebaseLatency({row}, cluster, model, values);
  for (const MeasuredRow &row : rows) {
    auto factor = result.rebase.find(row.job);
    std::optional<Residual> residual =
        predictRow(row, cluster, model, values, factor == result.rebase.end() ? 1 : factor->second);
    residual->heldOut = options.heldOut && options.heldOut(row);
    result.residuals.push_back(*residual);
  }
  result.picks = picksOf(result.residuals);
  std::vector<double> logs;
  for (const Residual &residual : result.residuals)
    if (!residual.heldOut)
      logs.push_back(std::abs(std::log(residual.predicted / residual.row.time)));
  result.scatter = 1.4826 * median(logs);    // source: 1 / the normal quantile 3/4
  constexpr double whole = 1.1, good = 0.15; // setting: a tenth above the whole; what profiles of sites are held to
  for (const FittedConstant &c : result.constants)
    if (c.fitted && c.value > whole && std::string(c.info->what).rfind("part of", 0) == 0)
      result.notes.push_back(
          text("%s: %.3g (%.3g to %.3g), %s: above 1 something else moved the bytes; is it this machine's file?",
               c.info->key, c.value, c.low, c.high, c.info->what));
  if (double off = result.medianError(false); off > good)
    result.notes.push_back(text("half of the fitted rows are more than %.0f %% off: this model is not this table's, "
                                "prices by it are worth as much",
                                100 * off));
  return result;
}

double rebaseLatency(const std::vector<MeasuredRow> &rows, const Cluster &cluster, CalibratedModel model,
                     const FittedConstants &fitted) {
  // Times grow with the factor, so does their median: halve the interval of its logarithm.
  double low = std::log(0.02), high = std::log(50.0); // setting: where it is looked for, and how closely
  for (int i = 0; i < 50; ++i) {                      // setting: halvings
    double middle = (low + high) / 2;
    std::vector<double> errors;
    for (const MeasuredRow &row : rows)
      if (std::optional<Residual> r = predictRow(row, cluster, model, fitted, std::exp(middle)))
        errors.push_back(r->error());
    (median(errors) > 0 ? high : low) = middle;
  }
  return std::exp((low + high) / 2);
}

FittedConstants FitResult::values() const {
  FittedConstants values;
  for (const FittedConstant &constant : constants)
    values.push_back(constant.value);
  return values;
}

int FitResult::fittedCount() const {
  return int(std::count_if(constants.begin(), constants.end(), [](const FittedConstant &c) { return c.fitted; }));
}

double FitResult::medianError(bool heldOut) const {
  std::vector<double> errors;
  for (const Residual &residual : residuals)
    if (residual.heldOut == heldOut)
      errors.push_back(std::abs(residual.error()));
  return median(errors);
}

double FitResult::worstRegret(bool heldOut) const {
  double worst = 1;
  for (const Pick &pick : picks)
    if (pick.heldOut == heldOut)
      worst = std::max(worst, pick.regret);
  return worst;
}

int FitResult::wrongPicks(bool heldOut) const {
  return int(std::count_if(picks.begin(), picks.end(),
                           [&](const Pick &pick) { return pick.heldOut == heldOut && pick.chosen != pick.best; }));
}

} // namespace braid::cost
