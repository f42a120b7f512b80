//===- FitReport.cpp - a fit as a cluster file, as JSON and as text --------------------------------------------------===//
#include "braid/cost_models/Fit.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

/// In double quotes, for YAML and JSON alike.
static std::string quoted(const std::string &raw) {
  std::string out = "\"";
  for (unsigned char c : raw)
    if (c == '"' || c == '\\')
      out += std::string("\\") + char(c);
    else if (c < 0x20)
      out += ' ';
    else
      out += char(c);
  return out + "\"";
}

static std::string fileName(const std::string &path) { return path.substr(path.rfind('/') + 1); }

static int rowsOf(const FitResult &fit, bool heldOut) {
  int count = 0;
  for (const Residual &residual : fit.residuals)
    count += residual.heldOut == heldOut;
  return count;
}

/// The keys of the fabric profile that the table shows.
static std::string profileYaml(const FitResult &fit, const std::string &file) {
  std::string keys;
  auto add = [&](const char *key, const std::string &value, const std::string &source) {
    keys += text("    %s: {value: %s, source: %s}\n", key, value.c_str(), quoted(source).c_str());
  };
  if (fit.rebaseSigma > 0)
    add("latency_rebase_sigma", text("%.3g", std::min(10.0, fit.rebaseSigma)), // setting: the key's range
        text("fit: spread of the latency of %d jobs in %s", int(fit.rebase.size()), file.c_str()));
  if (fit.noise) {
    std::string source = text("fit of %d percentiles per iteration in %s", fit.noise->points, file.c_str());
    add("spike_probability", text("%.3g", fit.noise->spikeProbability), source);
    add("spike_minimum", text("\"%.3g us\"", fit.noise->spikeMinimum.value * 1e6), source);
    add("spike_index", text("%.3g", fit.noise->spikeIndex), source);
    if (fit.noise->bulkMean > 0)
      add("bulk_mean", text("%.3g", fit.noise->bulkMean), "fit: p90 over p50 of short messages in " + file);
  }
  return keys.empty() ? "" : "inter:\n  profile:\n" + keys;
}

std::string toYaml(const FitResult &fit, const MeasuredTable &table, const std::string &basePath,
                   const std::string &name) {
  std::string file = fileName(table.path);
  std::string out = text("# Calibrated by braid-bench fit: %d constants from %d rows of %s, median |error| %.1f %%.\n",
                         fit.fittedCount(), rowsOf(fit, false), file.c_str(), 100 * fit.medianError(false));
  if (table.source != table.path)
    out += "# The table: " + table.source + "\n";
  for (const std::string &line : coverageOf(fit))
    out += "# " + line + "\n";
  out += "base: " + quoted(basePath) + "\nname: " + quoted(name) + "\n";
  out += profileYaml(fit, file);
  out += text("calibration:\n  %s:\n", cost::name(fit.model));
  for (const FittedConstant &constant : fit.constants) {
    std::string why = text("fit of %d rows of %s, %.3g to %.3g with 95 %%: %s", rowsOf(fit, false), file.c_str(),
                           constant.low, constant.high, constant.info->what);
    bool published = std::string(constant.info->source).rfind("no publication", 0) != 0;
    if (!constant.fitted)
      why = std::string(constant.info->what) + "; " + constant.info->source + "; the table does not show it";
    out += text("    %s: {value: %.6g, %s: %s}\n", constant.info->key, constant.value,
                constant.fitted || published ? "source" : "assumption", quoted(why).c_str());
  }
  return out;
}

std::string toJson(const FitResult &fit, const MeasuredTable &table) {
  std::string out = text("{\"format\": \"braid-bench fit 1\", \"table\": %s, \"source\": %s, \"model\": \"%s\",\n",
                         quoted(table.path).c_str(), quoted(table.source).c_str(), name(fit.model));
  auto summary = [&](const char *key, bool heldOut) {
    out += text(" \"%s\": {\"rows\": %d, \"median_error\": %.6g, \"wrong_picks\": %d, \"worst_regret\": %.6g},\n", key,
                rowsOf(fit, heldOut), fit.medianError(heldOut), fit.wrongPicks(heldOut), fit.worstRegret(heldOut));
  };
  out += text(" \"fitted_constants\": %d, \"scatter\": %.6g,\n", fit.fittedCount(), fit.scatter);
  if (fit.noise)
    out += text(" \"noise\": {\"spike_probability\": %.6g, \"spike_minimum_s\": %.6g, \"spike_index\": %.6g, "
                "\"bulk_mean\": %.6g, "
                "\"points\": %d},\n",
                fit.noise->spikeProbability, fit.noise->spikeMinimum.value, fit.noise->spikeIndex, fit.noise->bulkMean,
                fit.noise->points);
  summary("fitted", false);
  summary("held_out", true);
  const char *comma = "";
  auto list = [&](const char *key) {
    out += text(" \"%s\": [", key);
    comma = "\n  ";
  };
  auto item = [&](const std::string &one) {
    out += comma + one;
    comma = ",\n  ";
  };
  list("constants");
  for (const FittedConstant &c : fit.constants)
    item(text("{\"key\": \"%s\", \"value\": %.6g, \"low\": %.6g, \"high\": %.6g, \"start\": %.6g, \"fitted\": %s, "
              "\"what\": %s}",
              c.info->key, c.value, c.low, c.high, c.info->start, c.fitted ? "true" : "false",
              quoted(c.info->what).c_str()));
  out += "],\n";
  list("rebase");
  for (const auto &[job, factor] : fit.rebase)
    item(text("{\"job\": %s, \"latency_factor\": %.6g}", quoted(job).c_str(), factor));
  out += "],\n";
  list("residuals");
  for (const Residual &r : fit.residuals)
    item(
        text("{\"line\": %d, \"collective\": \"%s\", \"nodes\": %d, \"per_node\": %d, \"job\": %s, \"algorithm\": %s, "
             "\"protocol\": "
             "\"%s\", \"bytes\": %lld, \"measured_s\": %.6g, \"predicted_s\": %.6g, \"error\": %.6g, \"held_out\": %s}",
             r.row.line, algorithms::name(r.row.kind), r.row.hosts, r.row.perHost, quoted(r.row.job).c_str(),
             quoted(r.row.algorithm).c_str(), r.protocol.c_str(), (long long)r.row.bytes.value, r.row.time.value,
             r.predicted.value, r.error(), r.heldOut ? "true" : "false"));
  out += "],\n";
  list("picks");
  for (const Pick &p : fit.picks)
    item(text("{\"job\": %s, \"nodes\": %d, \"bytes\": %lld, \"chosen\": %s, \"best\": %s, \"regret\": %.6g, "
              "\"held_out\": %s}",
              quoted(p.job).c_str(), p.hosts, (long long)p.bytes.value, quoted(p.chosen).c_str(),
              quoted(p.best).c_str(), p.regret, p.heldOut ? "true" : "false"));
  out += "],\n";
  list("coverage");
  for (const std::string &line : coverageOf(fit))
    item(quoted(line));
  out += "],\n";
  list("notes");
  for (const std::string &note : fit.notes)
    item(quoted(note));
  return out + "]}\n";
}

/// The row that is met worst, and whether the largest sizes all lie on one side: a sign that something which the model has not, or
/// a limit that it has, decides there.
static std::string worstRow(const FitResult &fit) {
  std::vector<const Residual *> rows;
  for (const Residual &r : fit.residuals)
    rows.push_back(&r);
  if (rows.empty())
    return "";
  auto signedError = [](const Residual &r) { return r.predicted / r.row.time - 1; };
  auto worst = std::max_element(rows.begin(), rows.end(), [&](const Residual *a, const Residual *b) {
    return std::abs(signedError(*a)) < std::abs(signedError(*b));
  });
  std::string out = text("worst row: line %d, %s, predicted %+.1f %%\n", (*worst)->row.line,
                         toString((*worst)->row.bytes).c_str(), 100 * signedError(**worst));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Residual *a, const Residual *b) { return a->row.bytes.value > b->row.bytes.value; });
  constexpr double off = 0.05; // setting: four rows, each more than 5 % off, are no chance
  size_t run = 0;
  double sign = signedError(*rows[0]) > 0 ? 1 : -1;
  while (run < rows.size() && sign * signedError(*rows[run]) > off)
    ++run;
  if (run >= 4)
    out += text(
        "the %d rows from %s on are all predicted too %s: %s\n", int(run), toString(rows[run - 1]->row.bytes).c_str(),
        sign > 0 ? "slow" : "fast",
        sign > 0 ? "they may reach more than the file's links give (inter.bandwidth x NICs, nccl.bus_bandwidth_inter)"
                 : "something slows them that the model does not have");
  return out;
}

std::string toText(const FitResult &fit, const MeasuredTable &table) {
  std::string out = text("%s: model %s, %d constants fitted to %d rows, median |error| %.1f %%\n", table.path.c_str(),
                         name(fit.model), fit.fittedCount(), rowsOf(fit, false), 100 * fit.medianError(false));
  if (int judged = rowsOf(fit, true))
    out += text("held out: %d rows, median |error| %.1f %%, wrong picks %d, worst regret %.3f\n", judged,
                100 * fit.medianError(true), fit.wrongPicks(true), fit.worstRegret(true));
  out += worstRow(fit);
  if (!fit.picks.empty())
    out += text("picks: %d of %d wrong, worst regret %.3f\n", fit.wrongPicks(false) + fit.wrongPicks(true),
                int(fit.picks.size()), std::max(fit.worstRegret(false), fit.worstRegret(true)));
  for (const std::string &line : coverageOf(fit))
    out += line + "\n";
  out += "\n  constant              value      95 % interval          start\n";
  for (const FittedConstant &c : fit.constants)
    out += text("  %-18s %10.4g   %-22s %6.4g  %s\n", c.info->key, c.value,
                c.fitted ? text("%.4g to %.4g", c.low, c.high).c_str() : "not seen in the table", c.info->start,
                c.info->what);
  if (fit.noise)
    out += text(
        "  noise, %d percentiles per iteration: spikes from %.3g us with p = %.2g per node and operation, index %.2g; "
        "bulk mean %.2g of the latency\n",
        fit.noise->points, fit.noise->spikeMinimum.value * 1e6, fit.noise->spikeProbability, fit.noise->spikeIndex,
        fit.noise->bulkMean);
  for (const auto &[job, factor] : fit.rebase)
    out += text("  job %s: latency x %.3f\n", job.c_str(), factor);
  for (const std::string &note : fit.notes)
    out += "  " + note + "\n";
  return out;
}

} // namespace braid::cost
