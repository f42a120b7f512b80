//===- Fit.cpp - braid-bench fit: a measured table becomes a calibrated cluster file ----------------------------------===//
#include "braid/cost_models/Fit.h"
#include "../command/ClusterInputs.h"
#include "Subcommands.h"
#include "TableOptions.h"
#include <algorithm>
#include <random>
#include <set>

namespace braid::bench {

using namespace command;

static const char *const usage = R"(usage: braid-bench fit TABLE --cluster BASE [options]

Fits one set of constants to a table of measured collectives: the text of nccl-tests or of the OSU benchmarks, a CSV of
braid-bench measure, or any CSV with columns bytes, nodes, gpus_per_node, algo, time_us (see cost_models/README.md).
Tables that can't be trusted are refused, with the line and the reason. Of nccl-tests the out-of-place columns are fitted.

  --cluster BASE      cluster file of the machine: its links' rates; required
  -o OUT.yaml         the calibrated cluster file: takes over BASE, adds the constants with their sources; default: none
  --name NAME         its name; default: that of OUT
  --json FILE         constants with intervals, residuals row by row, choices with their regrets; default: none
  --hold-out WHAT     rows that are judged and not fitted: even-sizes, odd-sizes (by place among the table's sizes, from 0),
                      nodes=N, job=NAME, half-of-sizes=SEED, half-of-cells=SEED (a random half; a cell is one size of one job);
                      default: none
  --model NAME        nccl, messages, published (NCCL's own formula, one bandwidth fitted); default: what the algorithms are of
  --accept-inversions times that fall steeply as messages grow are the machine's, not the table's; default: refused
  --nodes N, --per-node N, --collective NAME    what the table does not say (default: what it
                      says); an error where it says otherwise
)";

static int fail(const std::string &message) {
  fprintf(stderr, "braid-bench fit: error: %s\n", message.c_str());
  return 1;
}

/// The rows of a random half of all cells, each a size on a job, or of all sizes. The same seed gives the same half.
static std::function<bool(const cost::MeasuredRow &)> randomHalf(const cost::MeasuredTable &table, bool ofCells,
                                                                 unsigned seed) {
  using Cell = std::pair<std::string, int64_t>;
  auto cellOf = [ofCells](const cost::MeasuredRow &row) { return Cell(ofCells ? row.job : "", row.bytes.value); };
  std::set<Cell> all;
  for (const cost::MeasuredRow &row : table.rows)
    all.insert(cellOf(row));
  std::vector<Cell> cells(all.begin(), all.end());
  std::mt19937 random(seed);
  for (size_t i = cells.size(); i > 1; --i) // std::shuffle differs between libraries
    std::swap(cells[i - 1], cells[random() % i]);
  std::set<Cell> half(cells.begin(), cells.begin() + cells.size() / 2);
  return [half, cellOf](const cost::MeasuredRow &row) { return half.count(cellOf(row)) > 0; };
}

/// Which rows --hold-out names; an empty function for none.
static cost::Result<std::function<bool(const cost::MeasuredRow &)>> heldOut(const std::string &what,
                                                                            const cost::MeasuredTable &table) {
  using Rows = std::function<bool(const cost::MeasuredRow &)>;
  if (what.empty())
    return Rows();
  if (what == "even-sizes" || what == "odd-sizes") {
    std::set<int64_t> sizes;
    for (const cost::MeasuredRow &row : table.rows)
      sizes.insert(row.bytes.value);
    size_t parity = what == "odd-sizes";
    return Rows([=](const cost::MeasuredRow &row) {
      return std::distance(sizes.begin(), sizes.find(row.bytes.value)) % 2 == int(parity);
    });
  }
  size_t equals = what.find('=');
  std::string value = equals == std::string::npos ? "" : what.substr(equals + 1);
  if (what.rfind("nodes=", 0) == 0)
    return Rows([=](const cost::MeasuredRow &row) { return std::to_string(row.hosts) == value; });
  if (what.rfind("job=", 0) == 0)
    return Rows([=](const cost::MeasuredRow &row) { return row.job == value; });
  for (const char *half : {"half-of-sizes=", "half-of-cells="})
    if (what.rfind(half, 0) == 0 && !value.empty() && value.size() < 10 &&
        value.find_first_not_of("0123456789") == std::string::npos)
      return randomHalf(table, what.rfind("half-of-cells=", 0) == 0, unsigned(std::stoul(value)));
  return cost::Error{"--hold-out: expected even-sizes, odd-sizes, nodes=N, job=NAME, half-of-sizes=SEED or "
                     "half-of-cells=SEED, got '" +
                         what + "'",
                     ""};
}

int runFit(int argc, char **argv) {
  TableOptions asked;
  std::string name, json, hold, model;
  bool acceptInversions = false;
  std::vector<Option> options = tableOptions(asked);
  options.insert(options.end(), {textOption("name", name), textOption("json", json), textOption("hold-out", hold),
                                 wordOption("model", model, {"nccl", "messages", "published"}),
                                 flagOption("accept-inversions", acceptInversions)});
  Arguments arguments = readArguments(argc, argv, options);
  if (arguments.help) {
    fputs(usage, stdout);
    return 0;
  }
  if (!arguments.error.empty())
    return fail(arguments.error);
  if (arguments.words.size() != 1)
    return fail("table: expected one file, got " + std::to_string(arguments.words.size()));
  if (asked.cluster.empty())
    return fail("--cluster: expected the cluster file of the machine, got none");
  if (!name.empty() && asked.output.empty())
    return fail("--name: expected -o, the file that has the name, got none");
  if (std::string error = command::checkOutputs(
          {{"-o", asked.output}, {"--json", json}},
          command::clusterInputs("--cluster", asked.cluster, {{"the table", arguments.words[0]}}));
      !error.empty())
    return fail(error);

  cost::Result<cost::Cluster> cluster = cost::readCluster(asked.cluster);
  if (!cluster)
    return fail(cluster.error().text());
  cost::Result<cost::MeasuredTable> table = cost::readMeasured(arguments.words[0], asked.hints);
  if (!table)
    return fail(table.error().text());
  cost::TrustOptions trust;
  trust.acceptInversions = acceptInversions;
  if (std::optional<cost::Error> distrust = cost::findDistrust(*table, *cluster, trust))
    return fail(distrust->text());
  cost::FitOptions fitting;
  cost::Result<std::function<bool(const cost::MeasuredRow &)>> held = heldOut(hold, *table);
  if (!held)
    return fail(held.error().text());
  fitting.heldOut = *held;
  if (*held && std::none_of(table->rows.begin(), table->rows.end(), *held))
    return fail("--hold-out: expected rows that it names in " + arguments.words[0] + ", got none of '" + hold + "'");
  if (model == "nccl" || model == "messages")
    fitting.model = model == "nccl" ? cost::CalibratedModel::Nccl : cost::CalibratedModel::Messages;
  bool published = model == "published";
  if (published && !asked.output.empty())
    return fail("-o: expected none with --model published, which has no constants of its own, got '" + asked.output +
                "'");
  cost::Result<cost::FitResult> fit =
      published ? cost::fitPublished(*table, *cluster, fitting) : cost::fitTable(*table, *cluster, fitting);
  if (!fit)
    return fail(fit.error().text());

  if (name.empty())
    name = nameOfFile(asked.output);
  std::string error;
  if (!asked.output.empty())
    error = command::writeFile(asked.output, cost::toYaml(*fit, *table, absolutePath(asked.cluster), name));
  if (error.empty() && !json.empty())
    error = command::writeFile(json, cost::toJson(*fit, *table));
  if (!error.empty())
    return fail(error);
  fputs(cost::toText(*fit, *table).c_str(), stdout);
  return 0;
}

} // namespace braid::bench
