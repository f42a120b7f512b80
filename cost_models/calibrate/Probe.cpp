//===- Probe.cpp - the constants of a fit re-based to a job -------------------------------------------------------===//
#include "calibrate/Predict.h"
#include "calibrate/Rebase.h"
#include "pricing/Terms.h"

namespace braid::cost {

/// Constants of a job whose latency and bandwidth are these factors of the profile's.
static FittedConstants rebased(FittedConstants c, CalibratedModel model, double latency, double bandwidth) {
  if (model == CalibratedModel::Messages) {
    c[messagefit::Latency] *= latency;
    c[messagefit::Bandwidth] *= bandwidth;
    return c;
  }
  for (int i = ncclfit::StartUp; i < ncclfit::TreeHop + 3; ++i)
    c[i] *= latency;
  c[ncclfit::Bandwidth + 0] *= bandwidth; // LL; that of LL128 is a part of Simple's
  c[ncclfit::Bandwidth + 2] *= bandwidth; // Simple
  return c;
}

Result<ProbeResult> probeFit(const MeasuredTable &table, const Cluster &cluster, CalibratedModel model) {
  ProbeResult result;
  result.model = name(model);
  result.notes = table.notes;
  FittedConstants profile = model == CalibratedModel::Nccl ? cluster.ncclFit : cluster.messageFit;
  if (profile.empty())
    for (const ConstantInfo &info : constantsOf(model))
      profile.push_back(info.start);
  std::vector<MeasuredRow> rows = usableRows(table, model, result.notes);
  if (rows.empty())
    return Error{"probe: expected at least one row that the model '" + result.model + "' can price, got none" +
                     (result.notes.empty() ? "" : " (" + result.notes.front() + ")"),
                 table.path};
  auto timesOf = [&](const std::vector<MeasuredRow> &asked) {
    return [&, asked](const Factors &factors) {
      FittedConstants constants = rebased(profile, model, factors.latency, factors.bandwidth);
      std::vector<Seconds> times;
      for (const MeasuredRow &row : asked)
        times.push_back(predictRow(row, cluster, model, constants)->predicted);
      return times;
    };
  };
  TimesAt times = timesOf(rows);
  Position position = rebase(result, rows, times, /*withReduction=*/false);
  std::vector<Seconds> before = times({}), after = times(position.best);
  for (size_t i = 0; i < rows.size(); ++i)
    result.rows.push_back({rows[i], before[i], after[i]});
  if (std::optional<Error> far = outOfReach(result, table, cluster))
    return *far;

  std::vector<std::string> algorithms = {"ring", "tree"};
  if (model == CalibratedModel::Messages)
    algorithms = {"rabenseifner", "recursive_doubling", "ring"};
  for (Bytes bytes : probedSizes()) {
    std::vector<MeasuredRow> asked(algorithms.size(), rows.front());
    for (size_t i = 0; i < asked.size(); ++i) {
      asked[i].kind = CollectiveKind::AllReduce;
      asked[i].algorithm = algorithms[i];
      asked[i].bytes = bytes;
    }
    TimesAt all = timesOf(asked);
    result.choices.push_back(chosen(position, bytes, algorithms, all({}), all));
  }
  FittedConstants constants = rebased(profile, model, position.best.latency, position.best.bandwidth);
  result.yaml = "calibration:\n  " + result.model + ":\n    source: \"" + sourceOf(result, table) + "\"\n";
  for (size_t i = 0; i < constants.size(); ++i)
    result.yaml += text("    %s: %.6g\n", constantsOf(model)[i].key, constants[i]);
  return result;
}

} // namespace braid::cost
