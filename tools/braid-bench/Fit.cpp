//===- Fit.cpp - braid-bench fit: a measured table becomes a calibrated cluster file ----------------------------------===//
#include "braid/cost_models/Fit.h"
#include "Subcommands.h"
#include "braid/runtime/trace/AtomicFile.h"
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <set>

namespace braid::bench {

static const char *const usage = R"(usage: braid-bench fit TABLE --cluster BASE [options]

Fits one set of constants to a table of measured collectives: the text of nccl-tests or of the OSU benchmarks, a CSV of
braid-bench measure, or any CSV with columns bytes, nodes, gpus_per_node, algo, time_us (see cost_models/README.md).
Tables that can't be trusted are refused, with the line and the reason.

  --cluster BASE      cluster file of the machine: its links' rates
  -o OUT.yaml         the calibrated cluster file: takes over BASE, adds the constants with their sources
  --name NAME         its name; default: that of OUT
  --json FILE         constants with intervals, residuals row by row, choices with their regrets
  --hold-out WHAT     rows that are judged and not fitted: even-sizes, odd-sizes (by place among the table's sizes, from 0),
                      nodes=N, job=NAME
  --model NAME        nccl, messages, published (NCCL's own formula, one bandwidth fitted); default: what the algorithms are of
  --accept-inversions times that fall steeply as messages grow are the machine's, not the table's
  --nodes N, --per-node N, --collective NAME    what the table does not say
)";

static int fail(const std::string &message) {
  fprintf(stderr, "braid-bench fit: error: %s\n", message.c_str());
  return 1;
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
  return cost::Error{"--hold-out: expected even-sizes, odd-sizes, nodes=N or job=NAME, got '" + what + "'", ""};
}

static std::string absolute(const std::string &path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? resolved : path;
}

int runFit(int argc, char **argv) {
  enum { Cluster = 256, Name, Json, HoldOut, Model, Nodes, PerNode, Collective, Inversions, Help };
  static const option longOptions[] = {{"cluster", 1, nullptr, Cluster},
                                       {"name", 1, nullptr, Name},
                                       {"json", 1, nullptr, Json},
                                       {"hold-out", 1, nullptr, HoldOut},
                                       {"model", 1, nullptr, Model},
                                       {"nodes", 1, nullptr, Nodes},
                                       {"per-node", 1, nullptr, PerNode},
                                       {"collective", 1, nullptr, Collective},
                                       {"accept-inversions", 0, nullptr, Inversions},
                                       {"help", 0, nullptr, Help},
                                       {nullptr, 0, nullptr, 0}};
  std::string clusterPath, output, name, json, hold, model;
  cost::TableHints hints;
  bool acceptInversions = false;
  optind = 1;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, ":o:h", longOptions, nullptr)) != -1;) {
    std::string value = optarg ? optarg : "";
    switch (option) {
    case Cluster:
      clusterPath = value;
      break;
    case 'o':
      output = value;
      break;
    case Name:
      name = value;
      break;
    case Json:
      json = value;
      break;
    case HoldOut:
      hold = value;
      break;
    case Model:
      model = value;
      if (model != "nccl" && model != "messages" && model != "published")
        return fail("--model: expected nccl, messages or published, got '" + model + "'");
      break;
    case Nodes:
    case PerNode: {
      int number = atoi(value.c_str());
      if (number < 1 || std::to_string(number) != value)
        return fail(std::string(option == Nodes ? "--nodes" : "--per-node") +
                    ": expected a whole number from 1, got '" + value + "'");
      (option == Nodes ? hints.hosts : hints.perHost) = number;
      break;
    }
    case Collective: {
      for (cost::CollectiveKind kind :
           {cost::CollectiveKind::AllReduce, cost::CollectiveKind::AllGather, cost::CollectiveKind::ReduceScatter,
            cost::CollectiveKind::AllToAll, cost::CollectiveKind::Broadcast})
        if (value == algorithms::name(kind))
          hints.kind = kind;
      if (!hints.kind)
        return fail("--collective: expected all_reduce, all_gather, reduce_scatter, all_to_all or broadcast, got '" +
                    value + "'");
      break;
    }
    case Inversions:
      acceptInversions = true;
      break;
    case 'h':
    case Help:
      fputs(usage, stdout);
      return 0;
    default:
      return fail(std::string("option: expected one of those that --help lists, with its value, got '") +
                  argv[optind - 1] + "'");
    }
  }
  if (optind + 1 != argc)
    return fail("table: expected one file, got " + std::to_string(argc - optind));
  if (clusterPath.empty())
    return fail("--cluster: expected the cluster file of the machine, got none");

  cost::Result<cost::Cluster> cluster = cost::readCluster(clusterPath);
  if (!cluster)
    return fail(cluster.error().text());
  cost::Result<cost::MeasuredTable> table = cost::readMeasured(argv[optind], hints);
  if (!table)
    return fail(table.error().text());
  if (std::optional<cost::Error> distrust = cost::findDistrust(*table, *cluster, acceptInversions))
    return fail(distrust->text());
  cost::FitOptions options;
  cost::Result<std::function<bool(const cost::MeasuredRow &)>> held = heldOut(hold, *table);
  if (!held)
    return fail(held.error().text());
  options.heldOut = *held;
  if (model == "nccl" || model == "messages")
    options.model = model == "nccl" ? cost::CalibratedModel::Nccl : cost::CalibratedModel::Messages;
  bool published = model == "published";
  if (published && !output.empty())
    return fail("-o: expected none with --model published, which has no constants of its own, got '" + output + "'");
  cost::Result<cost::FitResult> fit =
      published ? cost::fitPublished(*table, *cluster, options) : cost::fitTable(*table, *cluster, options);
  if (!fit)
    return fail(fit.error().text());

  if (name.empty()) {
    name = output.substr(output.rfind('/') + 1);
    name = name.substr(0, name.rfind('.'));
  }
  std::string error;
  if (!output.empty())
    error = trace::writeAtomically(output, cost::toYaml(*fit, *table, absolute(clusterPath), name));
  if (error.empty() && !json.empty())
    error = trace::writeAtomically(json, cost::toJson(*fit, *table));
  if (!error.empty())
    return fail(error);
  fputs(cost::toText(*fit, *table).c_str(), stdout);
  return 0;
}

} // namespace braid::bench
