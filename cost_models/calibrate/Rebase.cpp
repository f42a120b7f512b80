//===- Rebase.cpp - two factors from a few rows, and what they leave open -----------------------------------------===//
//
// Least squares in the logarithm of time, both factors held near 1, but loosely: one standard deviation is a factor of e.
// Jobs of Leonardo lie 3 times apart in latency and 1.7 times in bandwidth, a RoCE site before and after its NICs' settings 2.5
// times in bandwidth (nccl#2409). A row counts with a scatter of 10 %, what fits leave, so it outweighs that 100 to 1.
//
// Example: 2 rows of a ring on 4 ranks, 1 KiB in 13 us where the profile says 10, 16 MiB in 25 ms where it says 20: latency
// x 1.3, bandwidth x 0.8, each to 10 % (one deviation).
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/Rebase.h"
#include "calibrate/Optimise.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

static constexpr double width = 1, rowScatter = 0.1;

void rebase(ProbeResult &result, const std::vector<MeasuredRow> &rows, const TimesAt &times) {
  Minimum minimum = leastSquares(
      2, rows.size() + 2,
      [&](const std::vector<double> &z, std::vector<double> &out) {
        std::vector<Seconds> predicted = times(std::exp(width * z[0]), std::exp(width * z[1]));
        for (size_t i = 0; i < rows.size(); ++i)
          out[i] = std::log(predicted[i] / rows[i].time) / rowScatter;
        std::copy(z.begin(), z.end(), out.begin() + rows.size());
      },
      3);
  result.latency = {std::exp(width * minimum.place[0]), width * minimum.deviation[0]};
  result.bandwidth = {std::exp(width * minimum.place[1]), width * minimum.deviation[1]};
}

ProbedChoice chosen(const ProbeResult &result, Bytes bytes, const std::vector<std::string> &algorithms,
                    const std::vector<Seconds> &before, const TimesAt &times) {
  auto cheapest = [](const std::vector<Seconds> &all) {
    return size_t(std::min_element(all.begin(), all.end()) - all.begin());
  };
  auto at = [&](double latency, double bandwidth) { // in deviations
    return times(result.latency.factor * std::exp(latency * result.latency.deviation),
                 result.bandwidth.factor * std::exp(bandwidth * result.bandwidth.deviation));
  };
  size_t after = cheapest(at(0, 0));
  ProbedChoice choice{bytes, algorithms[cheapest(before)], algorithms[after], 1};
  for (double latency : {-2.0, -1.0, 0.0, 1.0, 2.0})
    for (double bandwidth : {-2.0, -1.0, 0.0, 1.0, 2.0}) {
      std::vector<Seconds> all = at(latency, bandwidth);
      choice.regret = std::max(choice.regret, all[after] / all[cheapest(all)]);
    }
  return choice;
}

std::vector<Bytes> probedSizes() {
  std::vector<Bytes> sizes;
  for (int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 2)
    sizes.push_back({bytes});
  return sizes;
}

std::string sourceOf(const ProbeResult &result, const MeasuredTable &table) {
  return text("re-based by %d rows of %s: latency x %.3g, bandwidth x %.3g", int(result.rows.size()),
              table.path.substr(table.path.rfind('/') + 1).c_str(), result.latency.factor, result.bandwidth.factor);
}

//===- reports ----------------------------------------------------------------------------------------------------===//

std::string toYaml(const ProbeResult &probe, const std::string &basePath, const std::string &name) {
  return "# A job's cluster, by braid-bench probe.\nbase: \"" + basePath + "\"\nname: \"" + name + "\"\n" + probe.yaml;
}

static std::string interval(const Rebase &r) {
  return text("x %.3f (%.3f to %.3f with 95 %%)", r.factor, r.factor * std::exp(-1.96 * r.deviation),
              r.factor * std::exp(1.96 * r.deviation));
}

std::string toText(const ProbeResult &probe, double regret) {
  std::string out =
      text("  %-12s %-22s %10s %14s %10s\n", "all_reduce", "algorithm", "measured", "by the profile", "re-based");
  for (const ProbedRow &probed : probe.rows)
    out += text("  %-12s %-22s %10s %14s %10s\n", toString(probed.row.bytes).c_str(),
                probed.row.algorithm.empty() ? "the cheapest" : probed.row.algorithm.c_str(),
                toString(probed.row.time).c_str(), toString(probed.before).c_str(), toString(probed.after).c_str());
  out += text("\n%d rows, model %s: latency %s, bandwidth %s\n\n  %-24s %-22s %-22s worst regret\n",
              int(probe.rows.size()), probe.model.c_str(), interval(probe.latency).c_str(),
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
    out += text("  %-24s %-22s %-22s %.3f  %s\n", sizes.c_str(), first.before.c_str(), first.after.c_str(), worst,
                worst <= regret ? text("within %.3g", regret).c_str() : "open: measure both here");
  }
  for (const std::string &note : probe.notes)
    out += "  " + note + "\n";
  return out;
}

} // namespace braid::cost
