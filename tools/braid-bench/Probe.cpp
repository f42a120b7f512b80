//===- Probe.cpp - braid-bench probe: a job's latency and bandwidth from a few measurements ---------------------------===//
#include "braid/cost_models/Probe.h"
#include "../braid-doctor/RunCounters.h"
#include "../braid-run/Ranks.h"
#include "../command/ClusterInputs.h"
#include "ProbeRank.h"
#include "Subcommands.h"
#include "TableOptions.h"
#include <set>

namespace braid::bench {

using namespace command;

static const char *const usage = R"(usage: braid-bench probe TABLE --cluster PROFILE [options]
       braid-bench probe --measure -n N --cluster PROFILE [options]
       braid-launch -n N -- braid-bench probe --measure --cluster PROFILE [options]

Re-bases a cluster file to a job: its latency and its bandwidth each by a factor. Two sizes are enough, one short and one long.
--measure takes them itself in seconds, with Braid's runtime on the ranks of the job; else TABLE has them:

  braid-bench measure --sizes 1KiB,16MiB --collective all_reduce --seconds 2 --csv TABLE        (Braid's runtime)
  all_reduce_perf -b 1K -e 16M -f 16384 -g 8 > TABLE                                             (NCCL)

A table that can't be trusted is refused as by braid-bench fit, with the line and the reason.
Then says which choices of an algorithm stay within a regret, whatever the two measurements leave open.

  --cluster PROFILE   cluster file of the machine, for nccl and messages calibrated by braid-bench fit (else the published
                      constants are re-based); required
  --model NAME        what is re-based: braid, links and reduction of the file, from which prices of engine braid come; nccl or
                      messages, the constants of a fit; default: braid with --measure, else nccl
  --placement WHERE   braid: host:gpu,host:gpu,... one per rank; default: packed, the first devices of the file
  --regret R          what a choice may cost over the best, default 1.1
  -o OUT.yaml         the job's cluster file: takes over PROFILE with what is re-based; default: none
  --accept-inversions times that fall steeply as messages grow are the job's, not the table's; default: refused
  --nodes N, --per-node N, --collective NAME    what the table does not say (default: what it
                      says); an error where it says otherwise

With --measure, besides:
  -n N                ranks to start on this host; absent: this is one rank of a launcher's job
  --seconds S         about, in all (default 5, at most 60)
  --csv FILE          what was measured; default: none
  --transport NAME, --profile FILE, --seed N, --bind, --deadline S, --runtime FILE    as for braid-bench measure,
                      with its defaults
)";

static int fail(const std::string &message) {
  fprintf(stderr, "braid-bench probe: error: %s\n", message.c_str());
  return 1;
}

namespace {
/// What is asked of the probe beside how to measure.
struct Asked {
  TableOptions table;
  bool acceptInversions = false;
  std::string model, placement;
  double regret = 1.1;
};
} // namespace

/// `given`: the text of --placement; "": the first devices.
static cost::Result<cost::Placement> placed(const std::string &given, int ranks, const cost::Cluster &cluster) {
  if (!given.empty() && given != "packed")
    return cost::readPlacement(given, ranks, cluster);
  if (ranks > cluster.ranks())
    return cost::Error{"expected at most the " + std::to_string(cluster.ranks()) + " devices of " + cluster.name +
                           ", got " + std::to_string(ranks) + " ranks",
                       ""};
  cost::Placement placement;
  for (int rank = 0; rank < ranks; ++rank)
    placement.deviceOf.push_back(rank);
  return placement;
}

static cost::Result<cost::ProbeResult> probed(const Asked &asked, const cost::Cluster &cluster,
                                              const cost::MeasuredTable &table) {
  if (asked.model != "braid")
    return cost::probeFit(table, cluster,
                          asked.model == "messages" ? cost::CalibratedModel::Messages : cost::CalibratedModel::Nccl);
  cost::Result<cost::Placement> placement =
      placed(asked.placement, table.rows.empty() ? 0 : table.rows.front().ranks(), cluster);
  if (!placement)
    return placement.error();
  return cost::probeEngine(table, cluster, *placement);
}

/// Re-bases, writes, prints below `head`.
static int report(const Asked &asked, const cost::Cluster &cluster, cost::MeasuredTable table,
                  const std::string &head = "") {
  cost::TrustOptions trust;
  trust.probe = true;
  trust.acceptInversions = asked.acceptInversions;
  trust.placed = asked.model == "braid";
  if (std::optional<cost::Error> distrust = cost::findDistrust(table, cluster, trust))
    return fail(distrust->text());
  cost::Result<cost::ProbeResult> probe = probed(asked, cluster, table);
  if (!probe)
    return fail(probe.error().text());
  std::string error;
  if (const std::string &output = asked.table.output; !output.empty())
    error = command::writeFile(output, cost::toYaml(*probe, absolutePath(asked.table.cluster), nameOfFile(output)));
  if (!error.empty())
    return fail(error);
  fputs((head + cost::toText(*probe, asked.regret)).c_str(), stdout);
  return 0;
}

/// What is wrong with the ranks for --placement, the same on all ranks; or "".
static std::string misplaced(const Ranks &ranks, const cost::Result<cost::Placement> &placement,
                             const cost::Cluster &cluster, bool emulated) {
  if (ranks.ranks < 2)
    return "-n: expected at least 2 ranks, or a launcher that started them (braid-launch, mpirun, ...), got 1";
  if (!placement)
    return "--placement: " + placement.error().text();
  std::set<int> hosts;
  for (int rank = 0; rank < ranks.ranks; ++rank)
    hosts.insert(placement->hostOf(rank, cluster));
  if (!emulated && int(hosts.size()) != ranks.hosts)
    return std::to_string(ranks.ranks) + " ranks: expected them on as many hosts of " + cluster.name +
           " as they run on, " + std::to_string(ranks.hosts) + ", got " + std::to_string(hosts.size()) + " (" +
           (ranks.hosts == 1 && cluster.devicesIn(0) < ranks.ranks
                ? "its first host has " + std::to_string(cluster.devicesIn(0)) + " devices: -n of at most as many, or "
                : "") +
           "--placement host:gpu,host:gpu,... one per rank)";
  return "";
}

/// What was measured, as a table: one host of all ranks, since --placement says where they are.
static cost::MeasuredTable tableOf(const std::vector<MeasuredRow> &rows) {
  cost::MeasuredTable table;
  table.path = "the job's first seconds";
  table.format = "braid-bench";
  for (const MeasuredRow &measured : rows) {
    cost::MeasuredRow row;
    row.perHost = measured.ranks;
    row.hostsKnown = false;
    row.line = int(table.rows.size()) + 1;
    row.algorithm = measured.algorithm;
    row.bytes = {int64_t(measured.bytes)};
    row.time = {measured.median.value};
    table.rows.push_back(row);
  }
  return table;
}

/// A rank of the job: measures with the others; the first one reports.
static int probeAsRank(const RuntimeLibrary &runtime, const MeasureOptions &options, const Asked &asked,
                       const cost::Cluster &cluster) {
  doctor::RunCounters counters(options.transport);
  try {
    Ranks ranks(runtime, options);
    double begin = ranks.wall();
    cost::Result<cost::Placement> placement = placed(asked.placement, ranks.ranks, cluster);
    bool emulated = options.transport.rfind("emulated", 0) == 0;
    std::string error = misplaced(ranks, placement, cluster, emulated);
    if (!error.empty())
      return ranks.rank == 0 ? fail(error) : 1;
    std::vector<MeasuredRow> rows = probeRows(ranks, options, cluster, *placement);
    double seconds = ranks.wall() - begin;
    counters.tell("braid-bench");
    if (ranks.rank != 0)
      return 0;
    if (!options.csv.empty())
      error = command::writeFile(options.csv, toCsv(rows));
    if (!error.empty())
      return fail(error);
    if (rows.size() < 2)
      return fail(waiting(ranks, rows.front()));
    char head[64];
    snprintf(head, sizeof head, " on %d ranks, measured in %.1f s\n\n", ranks.ranks, seconds);
    return report(asked, cluster, tableOf(rows), cluster.name + head);
  } catch (const Failure &why) {
    int status = fail(why.what());
    counters.tell("braid-bench");
    return status;
  }
}

int runProbe(int argc, char **argv) {
  Asked asked;
  bool measure = false;
  MeasureOptions measuring;
  measuring.seconds = 5;
  std::vector<Option> options = tableOptions(asked.table), more = rankOptions(measuring);
  options.insert(options.end(), more.begin(), more.end());
  options.insert(options.end(),
                 {wordOption("model", asked.model, {"braid", "nccl", "messages"}),
                  textOption("placement", asked.placement), numberOption("regret", asked.regret, 1, 100),
                  flagOption("accept-inversions", asked.acceptInversions), flagOption("measure", measure),
                  numberOption("seconds", measuring.seconds, 0.1, 60), textOption("csv", measuring.csv)});
  Arguments arguments = readArguments(argc, argv, options);
  if (arguments.help) {
    fputs(usage, stdout);
    return 0;
  }
  if (!arguments.error.empty())
    return fail(arguments.error);
  if (arguments.words.size() != (measure ? 0 : 1))
    return fail(measure ? "table: expected none with --measure, got '" + arguments.words[0] + "'"
                        : "table: expected one file, or --measure, got " + std::to_string(arguments.words.size()));
  if (asked.table.cluster.empty())
    return fail("--cluster: expected the cluster file of the machine, got none");
  if (measure && !asked.model.empty() && asked.model != "braid")
    return fail("--model: expected braid with --measure, which runs Braid's collectives, got '" + asked.model + "'");
  if (asked.model.empty())
    asked.model = measure ? "braid" : "nccl";
  if (std::string error = command::checkOutputs(
          {{"-o", asked.table.output}, {"--csv", measuring.csv}},
          command::clusterInputs("--cluster", asked.table.cluster, {{"the table", measure ? "" : arguments.words[0]}}));
      !error.empty())
    return fail(error);
  cost::Result<cost::Cluster> cluster = cost::readCluster(asked.table.cluster);
  if (!cluster)
    return fail(cluster.error().text());
  if (!measure) {
    cost::Result<cost::MeasuredTable> table = cost::readMeasured(arguments.words[0], asked.table.hints);
    return table ? report(asked, *cluster, *table) : fail(table.error().text());
  }
  RuntimeLibrary runtime;
  if (std::string error = runtime.load(measuring.runtime); !error.empty())
    return fail("runtime: " + error);
  if (measuring.ranks == 0)
    return probeAsRank(runtime, measuring, asked, *cluster);
  return run::runRanks(measuring.ranks, /*grace=*/2,
                       [&](int) { return probeAsRank(runtime, measuring, asked, *cluster); });
}

} // namespace braid::bench
