//===- Rebase.cpp - factors from a few rows, and what they leave open ---------------------------------------------===//
//
// Least squares in the logarithm of time, all factors held near 1, but loosely: one standard deviation is a factor of e.
// Jobs of Leonardo lie 3 times apart in latency and 1.7 times in bandwidth, a RoCE site before and after its NICs' settings 2.5
// times in bandwidth (nccl#2409). The factors meet the rows to 1 %, as medians are measured, also where latency is a small part of a
// short row (1 KiB in 7 us, 5 of which are a kernel's launch). What is left open counts 10 % for each row, what fits leave.
//
// A long row has transfer and reduction in it and cannot tell them apart: each is moved by its share of the time, and what
// keeps the sum is left open.
//
// Example: 2 rows of a ring on 4 ranks, 1 KiB in 13 us where the profile says 10, 16 MiB in 25 ms where it says 20: latency
// x 1.3, bandwidth x 0.8, either of them to 10 % (one deviation).
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/Rebase.h"
#include "calibrate/Optimise.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

// source: jobs of Leonardo and nccl#2409 for the width; assumption: the others, as above
static constexpr double width = 1, measured = 0.01, modelled = 0.1;

Position rebase(ProbeResult &result, const std::vector<MeasuredRow> &rows, const TimesAt &times, bool withReduction) {
  size_t count = withReduction ? 3 : 2;
  auto at = [&](const std::vector<double> &z) {
    return Factors{std::exp(width * z[0]), std::exp(width * z[1]), withReduction ? std::exp(width * z[2]) : 1};
  };
  auto solve = [&](double scatter) {
    return leastSquares(
        count, rows.size() + count,
        [&](const std::vector<double> &z, std::vector<double> &out) {
          std::vector<Seconds> predicted = times(at(z));
          for (size_t i = 0; i < rows.size(); ++i)
            out[i] = std::log(predicted[i] / rows[i].time) / scatter;
          std::copy(z.begin(), z.end(), out.begin() + rows.size());
        },
        // setting: starts. A fit's prices stop at the links' rate, where a step up in bandwidth shows nothing of what one down does.
        withReduction ? 3 : 12);
  };
  Minimum minimum = solve(modelled);
  minimum.place = solve(measured).place;
  Position position{at(minimum.place), {}};
  result.latency = {position.best.latency, width * minimum.deviation[0]};
  result.bandwidth = {position.best.bandwidth, width * minimum.deviation[1]};
  if (withReduction)
    result.reduction = Rebase{position.best.reduction, width * minimum.deviation[2]};
  position.open = {position.best};
  std::vector<std::vector<double>> places = {minimum.place};
  for (const std::vector<double> &axis : minimum.axes) {
    std::vector<std::vector<double>> more;
    for (const std::vector<double> &place : places)
      for (double deviations : {-2.0, -1.0, 0.0, 1.0, 2.0}) {
        more.push_back(place);
        for (size_t i = 0; i < count; ++i)
          more.back()[i] += deviations * axis[i];
      }
    places = std::move(more);
  }
  for (const std::vector<double> &place : places)
    position.open.push_back(at(place));
  return position;
}

ProbedChoice chosen(const Position &position, Bytes bytes, const std::vector<std::string> &algorithms,
                    const std::vector<Seconds> &before, const TimesAt &times) {
  auto cheapest = [](const std::vector<Seconds> &all) {
    return size_t(std::min_element(all.begin(), all.end()) - all.begin());
  };
  size_t after = cheapest(times(position.best));
  ProbedChoice choice{bytes, algorithms[cheapest(before)], algorithms[after], 1};
  for (const Factors &factors : position.open) {
    std::vector<Seconds> all = times(factors);
    choice.regret = std::max(choice.regret, all[after] / all[cheapest(all)]);
  }
  return choice;
}

std::vector<Bytes> probedSizes() {
  std::vector<Bytes> sizes;
  for (int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 2) // setting: sizes
    sizes.push_back({bytes});
  return sizes;
}

std::string sourceOf(const ProbeResult &result, const MeasuredTable &table) {
  std::string factors = text("latency x %.3g, bandwidth x %.3g", result.latency.factor, result.bandwidth.factor);
  if (result.reduction)
    factors += text(", reduction x %.3g", result.reduction->factor);
  return text("re-based by %d rows of %s: %s", int(result.rows.size()),
              table.path.substr(table.path.rfind('/') + 1).c_str(), factors.c_str());
}

std::optional<Error> outOfReach(ProbeResult &result, const MeasuredTable &table, const Cluster &cluster) {
  // setting: jobs and settings of one machine lie 3 times apart; what a file assumes may be further off.
  constexpr double farthest = 1000, left = 10, told = 1.3;
  auto refused = [&](const ProbedRow &row, const std::string &expected, Seconds price) {
    return Error{text("probe: expected %s, got %s for %s, which took %s; is it this machine's file?", expected.c_str(),
                      toString(price).c_str(), toString(row.row.bytes).c_str(), toString(row.row.time).c_str()),
                 table.path + (row.row.line ? ":" + std::to_string(row.row.line) : "")};
  };
  int missed = 0;
  const ProbedRow *worst = nullptr;
  for (const ProbedRow &row : result.rows) {
    if (!(std::abs(std::log(row.before / row.row.time)) < std::log(farthest)))
      return refused(
          row, text("prices of cluster file %s within %g times of what was measured", cluster.name.c_str(), farthest),
          row.before);
    double distance = std::abs(std::log(row.after / row.row.time));
    if (!(distance < std::log(left)))
      return refused(row, "cluster file " + cluster.name + " to be re-based to what was measured", row.after);
    missed += distance > std::log(told);
    if (!worst || distance > std::abs(std::log(worst->after / worst->row.time)))
      worst = &row;
  }
  if (missed == int(result.rows.size()))
    return refused(*worst,
                   text("a latency and a bandwidth that meet one row at least within %g: what is measured here is not "
                        "what cluster file %s "
                        "prices (ranks that wait for a processor, a launch that takes longer than a row)",
                        told, cluster.name.c_str()),
                   worst->after);
  if (missed)
    result.notes.push_back(
        text("%d of %d rows are met within %g: no one latency and bandwidth fits all sizes here; %s took %s "
             "and is re-based to %s",
             int(result.rows.size()) - missed, int(result.rows.size()), told, toString(worst->row.bytes).c_str(),
             toString(worst->row.time).c_str(), toString(worst->after).c_str()));
  return std::nullopt;
}

//===- reports ----------------------------------------------------------------------------------------------------===//

std::string toYaml(const ProbeResult &probe, const std::string &basePath, const std::string &name) {
  return "# A job's cluster, by braid-bench probe.\nbase: \"" + basePath + "\"\nname: \"" + name + "\"\n" + probe.yaml;
}

static std::string interval(const Rebase &r) {
  // setting: 95 % of a normal distribution
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
  out += text("\n%d rows, model %s: latency %s, bandwidth %s%s\n\n  %-24s %-22s %-22s worst regret\n",
              int(probe.rows.size()), probe.model.c_str(), interval(probe.latency).c_str(),
              interval(probe.bandwidth).c_str(),
              probe.reduction ? (", reduction " + interval(*probe.reduction)).c_str() : "", "all_reduce",
              "by the profile", "in this job");
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
