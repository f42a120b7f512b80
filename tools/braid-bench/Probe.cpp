//===- Probe.cpp - braid-bench probe: a job's latency and bandwidth from a few measurements ---------------------------===//
#include "braid/cost_models/Probe.h"
#include "Subcommands.h"
#include "braid/runtime/trace/AtomicFile.h"
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>

namespace braid::bench {

static const char *const usage = R"(usage: braid-bench probe TABLE --cluster PROFILE [options]

Re-bases a calibrated cluster file to the job that TABLE was measured in: latency and bandwidth each by a factor. Two sizes
are enough, one short and one long, measured in seconds at the job's start:

  braid-bench measure --sizes 1KiB,16MiB --collective all_reduce --seconds 2 --csv TABLE        (Braid's runtime)
  all_reduce_perf -b 1K -e 16M -f 16384 -g 8 > TABLE                                             (NCCL)

Then says which choices of an algorithm stay within a regret, whatever the two measurements leave open.

  --cluster PROFILE   cluster file, calibrated by braid-bench fit (else the published constants are re-based)
  --model NAME        nccl (default), messages
  --regret R          what a choice may cost over the best, default 1.1
  -o OUT.yaml         the job's cluster file: takes over PROFILE with re-based constants
  --nodes N, --per-node N    what the table does not say
)";

static int fail(const std::string &message) {
  fprintf(stderr, "braid-bench probe: error: %s\n", message.c_str());
  return 1;
}

int runProbe(int argc, char **argv) {
  enum { Cluster = 256, Model, Regret, Nodes, PerNode, Help };
  static const option longOptions[] = {{"cluster", 1, nullptr, Cluster},  {"model", 1, nullptr, Model},
                                       {"regret", 1, nullptr, Regret},    {"nodes", 1, nullptr, Nodes},
                                       {"per-node", 1, nullptr, PerNode}, {"help", 0, nullptr, Help},
                                       {nullptr, 0, nullptr, 0}};
  std::string clusterPath, output, model = "nccl";
  double regret = 1.1;
  cost::TableHints hints;
  optind = 1;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, ":o:h", longOptions, nullptr)) != -1;) {
    std::string value = optarg ? optarg : "";
    char *end = nullptr;
    switch (option) {
    case Cluster:
      clusterPath = value;
      break;
    case 'o':
      output = value;
      break;
    case Model:
      model = value;
      if (model != "nccl" && model != "messages")
        return fail("--model: expected nccl or messages, got '" + model + "'");
      break;
    case Regret:
      regret = strtod(value.c_str(), &end);
      if (value.empty() || *end || !(regret >= 1 && regret <= 100))
        return fail("--regret: expected a number from 1 to 100, got '" + value + "'");
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
  cost::Result<cost::ProbeResult> probe =
      cost::probeJob(*table, *cluster, model == "nccl" ? cost::CalibratedModel::Nccl : cost::CalibratedModel::Messages);
  if (!probe)
    return fail(probe.error().text());
  if (!output.empty()) {
    char resolved[PATH_MAX];
    std::string base = realpath(clusterPath.c_str(), resolved) ? resolved : clusterPath;
    std::string name = output.substr(output.rfind('/') + 1);
    std::string error =
        trace::writeAtomically(output, cost::toYaml(*probe, *table, base, name.substr(0, name.rfind('.'))));
    if (!error.empty())
      return fail(error);
  }
  fputs(cost::toText(*probe, regret).c_str(), stdout);
  return 0;
}

} // namespace braid::bench
