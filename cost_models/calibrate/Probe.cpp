//===- Probe.cpp - a job re-based by a few measurements -------------------------------------------------------------===//
//
// Two factors, by least squares in the logarithm of time, each held near 1 by how far jobs are known to differ: latency by
// a factor of 1.6 for one standard deviation, bandwidth by 1.3. A row counts with a scatter of 10 %, what fits leave.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Probe.h"
#include "calibrate/Optimise.h"
#include "calibrate/Predict.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

static constexpr double latencyWidth = 0.5, bandwidthWidth = 0.25, rowScatter = 0.1;

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

static std::vector<std::string> algorithmsOf(CalibratedModel model) {
  if (model == CalibratedModel::Nccl)
    return {"ring", "tree"};
  return {"rabenseifner", "recursive_doubling", "ring"};
}

Result<ProbeResult> probeJob(const MeasuredTable &table, const Cluster &cluster, CalibratedModel model) {
  ProbeResult result;
  result.model = model;
  FittedConstants profile = model == CalibratedModel::Nccl ? cluster.ncclFit : cluster.messageFit;
  if (profile.empty())
    for (const ConstantInfo &info : constantsOf(model))
      profile.push_back(info.start);
  std::vector<std::string> notes;
  std::vector<MeasuredRow> rows = usableRows(table, model, notes);
  if (rows.empty())
    return Error{"probe: expected at least one row that the model '" + std::string(name(model)) +
                     "' can price, got none" + (notes.empty() ? "" : " (" + notes.front() + ")"),
                 table.path};
  result.rows = int(rows.size());
  auto at = [&](const std::vector<double> &z) {
    return rebased(profile, model, std::exp(latencyWidth * z[0]), std::exp(bandwidthWidth * z[1]));
  };
  Minimum minimum = leastSquares(
      2, rows.size() + 2,
      [&](const std::vector<double> &z, std::vector<double> &out) {
        FittedConstants constants = at(z);
        for (size_t i = 0; i < rows.size(); ++i)
          out[i] = std::log(predictRow(rows[i], cluster, model, constants)->predicted / rows[i].time) / rowScatter;
        std::copy(z.begin(), z.end(), out.begin() + rows.size());
      },
      3);
  result.latency = {std::exp(latencyWidth * minimum.place[0]), latencyWidth * minimum.deviation[0]};
  result.bandwidth = {std::exp(bandwidthWidth * minimum.place[1]), bandwidthWidth * minimum.deviation[1]};
  result.constants = at(minimum.place);

  std::vector<std::string> algorithms = algorithmsOf(model);
  MeasuredRow row = rows.front();
  row.kind = CollectiveKind::AllReduce;
  row.time = {1};
  auto prices = [&](const FittedConstants &constants) {
    std::vector<double> times;
    for (const std::string &algorithm : algorithms) {
      row.algorithm = algorithm;
      times.push_back(predictRow(row, cluster, model, constants)->predicted.value);
    }
    return times;
  };
  auto cheapest = [](const std::vector<double> &times) {
    return std::min_element(times.begin(), times.end()) - times.begin();
  };
  for (int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 2) {
    row.bytes = {bytes};
    size_t after = cheapest(prices(result.constants));
    ProbedChoice choice{row.bytes, algorithms[cheapest(prices(profile))], algorithms[after], 1};
    for (double latency : {-2.0, -1.0, 0.0, 1.0, 2.0})
      for (double bandwidth : {-2.0, -1.0, 0.0, 1.0, 2.0}) {
        std::vector<double> times = prices(at(
            {minimum.place[0] + latency * minimum.deviation[0], minimum.place[1] + bandwidth * minimum.deviation[1]}));
        choice.regret = std::max(choice.regret, times[after] / times[cheapest(times)]);
      }
    result.choices.push_back(choice);
  }
  return result;
}

std::string toYaml(const ProbeResult &probe, const MeasuredTable &table, const std::string &basePath,
                   const std::string &name) {
  std::string why =
      text("re-based by %d rows of %s: latency x %.3g, bandwidth x %.3g", probe.rows,
           table.path.substr(table.path.rfind('/') + 1).c_str(), probe.latency.factor, probe.bandwidth.factor);
  std::string out = "# A job's cluster, by braid-bench probe: " + why + ".\nbase: \"" + basePath + "\"\nname: \"" +
                    name + "\"\ncalibration:\n  " + cost::name(probe.model) + ":\n    source: \"" + why + "\"\n";
  for (size_t i = 0; i < probe.constants.size(); ++i)
    out += text("    %s: %.6g\n", constantsOf(probe.model)[i].key, probe.constants[i]);
  return out;
}

std::string toText(const ProbeResult &probe, double regret) {
  auto interval = [](const Rebase &r) {
    return text("x %.3f (%.3f to %.3f with 95 %%)", r.factor, r.factor * std::exp(-1.96 * r.deviation),
                r.factor * std::exp(1.96 * r.deviation));
  };
  std::string out = text("%d rows, model %s: latency %s, bandwidth %s\n\n  %-24s %-20s %-20s worst regret\n",
                         probe.rows, name(probe.model), interval(probe.latency).c_str(),
                         interval(probe.bandwidth).c_str(), "all_reduce", "by the profile", "in this job");
  for (size_t begin = 0, end; begin < probe.choices.size(); begin = end) {
    const ProbedChoice &first = probe.choices[begin];
    double worst = 1;
    for (end = begin; end < probe.choices.size(); ++end) {
      const ProbedChoice &next = probe.choices[end];
      if (next.before != first.before || next.after != first.after ||
          (next.regret <= regret) != (first.regret <= regret))
        break;
      worst = std::max(worst, next.regret);
    }
    std::string sizes = toString(first.bytes);
    if (end - begin > 1)
      sizes += " .. " + toString(probe.choices[end - 1].bytes);
    out += text("  %-24s %-20s %-20s %.3f  %s\n", sizes.c_str(), first.before.c_str(), first.after.c_str(), worst,
                worst <= regret ? text("within %.3g", regret).c_str() : "open: measure both here");
  }
  return out;
}

} // namespace braid::cost
