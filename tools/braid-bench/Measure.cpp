//===- Measure.cpp - braid-bench measure: times of the runtime's collectives ------------------------------------------===//
//
//   braid-bench measure -n 2 --collective all_reduce,all_gather --sizes 8..64MiB --csv times.csv
//   braid-launch -n 4 -- braid-bench measure --algorithm all
//
// Rank 0 prints a row as soon as it has been measured; files are written whole at the end.
//===------------------------------------------------------------------------------------------------------------------===//
#include "../braid-doctor/RunCounters.h"
#include "../braid-run/Ranks.h"
#include "../command/Command.h"
#include "MeasureCell.h"
#include "Subcommands.h"
#include "braid/runtime/algorithms/StepProgram.h"
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

namespace braid::bench {

static int failure(const std::string &message, int status = 1) {
  fprintf(stderr, "braid-bench: error: %s\n", message.c_str());
  return status;
}

static bool serves(const algorithms::Algorithm &algorithm, Kind kind, int ranks) {
  for (int collective = 0; collective <= int(algorithms::Collective::Barrier); ++collective)
    if (std::string(algorithms::name(algorithms::Collective(collective))) == kindNames[int(kind)])
      return algorithm.serves(algorithms::Collective(collective), ranks);
  return false;
}

/// The algorithms to measure for a collective: those asked for, or all that serve it.
static std::vector<std::string> algorithmsOf(const MeasureOptions &options, Kind kind, int ranks) {
  if (!options.allAlgorithms)
    return options.algorithms;
  std::vector<std::string> names;
  for (const algorithms::Algorithm &algorithm : algorithms::registry())
    if (algorithm.needs == algorithms::Needs::Nothing && serves(algorithm, kind, ranks))
      names.push_back(algorithm.name);
  return names;
}

/// What can't work is said once, before ranks are started and time is spent. Returns an error or "".
static std::string checkBeforeStart(const MeasureOptions &options) {
  for (Kind kind : options.kinds)
    for (const std::string &name : options.algorithms)
      if (const algorithms::Algorithm *algorithm = algorithms::find(name.substr(0, name.find('(')));
          algorithm && options.ranks > 0 && !serves(*algorithm, kind, options.ranks))
        return "--algorithm: " + name + " can't do " + kindNames[int(kind)] + " on " + std::to_string(options.ranks) +
               " ranks; --algorithm all takes those that can";
  return command::checkOutputs({{"--csv", options.csv}, {"--json", options.json}});
}

static std::string writeFiles(const MeasureOptions &options, const std::vector<MeasuredRow> &rows,
                              const std::string &counters) {
  std::string error;
  if (!options.csv.empty())
    error = command::writeFile(options.csv, toCsv(rows));
  if (error.empty() && !options.json.empty())
    error = command::writeFile(options.json, toJson(rows, counters));
  return error;
}

/// What will be done and how far it is, on standard error: the rows alone do not say when there will be no more of them.
class Progress {
public:
  Progress(const MeasureOptions &options, int ranks) : began(Clock::now()), said(began) {
    for (Kind kind : options.kinds)
      cells += options.sizes.size() * algorithmsOf(options, kind, ranks).size();
    auto several = [](size_t count, const std::string &what) {
      return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
    };
    fprintf(stderr, "braid-bench: %s (%s, %s) on %s, %g s each: about %.0f s\n", several(cells, "measurement").c_str(),
            several(options.kinds.size(), "collective").c_str(), several(options.sizes.size(), "size").c_str(),
            several(size_t(ranks), "rank").c_str(), options.seconds, std::ceil(double(cells) * options.seconds));
  }
  /// After each, those that were left out too.
  void measured() {
    ++done;
    Clock::time_point now = Clock::now();
    if (done == cells || now - said < std::chrono::seconds(5))
      return;
    said = now;
    double past = std::chrono::duration<double>(now - began).count();
    fprintf(stderr, "braid-bench: %zu of %zu measured in %.0f s, about %.0f s left\n", done, cells, past,
            past / double(done) * double(cells - done));
  }

private:
  using Clock = std::chrono::steady_clock;
  size_t cells = 0, done = 0;
  Clock::time_point began, said;
};

static int measureAsRank(const RuntimeLibrary &runtime, const MeasureOptions &options) {
  doctor::RunCounters counters(options.transport);
  try {
    Ranks ranks(runtime, options);
    if (ranks.ranks == 1 && options.ranks == 0)
      return failure("-n: expected the ranks to start, or a launcher that started this one (braid-launch, mpirun, ...)",
                     2);
    bool lead = ranks.rank == 0;
    std::vector<MeasuredRow> rows;
    std::string unwritten;
    std::optional<Progress> progress;
    if (lead)
      progress.emplace(options, ranks.ranks);
    if (lead)
      fputs(tableHead().c_str(), stdout);
    for (Kind kind : options.kinds)
      for (size_t bytes : options.sizes)
        for (const std::string &algorithm : algorithmsOf(options, kind, ranks.ranks)) {
          bool supported = true;
          MeasuredRow row = measureCell(ranks, options, kind, bytes, algorithm, supported);
          if (progress)
            progress->measured();
          if (!supported || (!rows.empty() && rows.back().kind == row.kind && rows.back().bytes == row.bytes &&
                             rows.back().algorithm == row.algorithm))
            continue; // two sizes that round to one number of elements
          rows.push_back(row);
          if (lead) {
            fputs(tableRow(row).c_str(), stdout);
            if (fflush(stdout) != 0 && unwritten.empty())
              unwritten = std::string("standard output: ") + strerror(errno);
          }
        }
    counters.tell("braid-bench");
    std::string counted = ranks.joined(counters.json());
    std::string error = lead ? writeFiles(options, rows, counted) : "";
    if (error.empty())
      error = unwritten;
    return error.empty() ? 0 : failure(error);
  } catch (const Failure &why) {
    int status = failure(why.what());
    counters.tell("braid-bench");
    return status;
  }
}

int runMeasure(int argc, char **argv) {
  MeasureOptions options;
  bool help = false;
  std::string error = parseMeasureOptions(argc, argv, options, help);
  if (help) {
    fputs(measureUsage, stdout);
    return 0;
  }
  if (error.empty())
    error = checkBeforeStart(options);
  if (!error.empty())
    return failure(error, 2);
  RuntimeLibrary runtime;
  if (error = runtime.load(options.runtime); !error.empty())
    return failure("runtime: " + error, 2);
  if (options.ranks == 0)
    return measureAsRank(runtime, options);
  return run::runRanks(options.ranks, /*grace=*/2, [&](int) { return measureAsRank(runtime, options); });
}

} // namespace braid::bench
