//===- Main.cpp - the conformance suite ---------------------------------------------------------------------------------===//
//
//   conformance [--seed N]        a covering array: all pairs of values of all dimensions (Case.h)
//   conformance --full            every collective x algorithm x transport x ranks x size, the rest drawn; every root
//   conformance --exhaustive      every combination of all dimensions
//   conformance --plant WHAT      a mistake for sanitizers (Plant.h)
//   conformance --processes       a slice on ranks that are processes, by the same covering array
//   conformance --control         broken algorithms, each of which the suite must reject
//   conformance --steady N        N small collectives on two processes: memory, descriptors and time must not grow; with
//                                 --control a leak is planted, which must be seen
//   conformance --launched ENGINE the covering array on the processes of a launcher (mpirun, ...), by an engine
//   conformance --islands LAYOUT  the covering array on communicators of islands ("braid:0-2;braid:3-8"), each its own engine's
//   options: --profile FILE       of the emulated fabric (braid-sim emit-profile), for emulated+ transports; % in the name
//                                 stands for the number of ranks
//            --transports a,b     default: all of this build, and with a profile emulated+shm
//            --ranks A-B          default: 1-9
//            --memory KIND        host, pinned or device: where operands and results are
//            --engine NAME        who runs the operations: those cases that it has, by its own algorithms
//            --every K            each K-th case    --shard I/N    the I-th of N equal parts, from 0    --from K    go on there
//
// Each case is checked against a serial reference with guard bytes; results that must be equal on all ranks are compared
// byte for byte; rooted operations run with every root (large ones with one). The last line is the figure.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Transports.h"
#include "test/conformance/Check.h"
#include "test/conformance/Launched.h"
#include "test/conformance/Plant.h"
#include "test/conformance/Processes.h"
#include "test/conformance/Ranks.h"
#include "test/conformance/Steady.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

using namespace braid;
using namespace braid::test;

namespace {

struct Settings {
  uint64_t seed = 1;
  bool full = false, exhaustive = false, processes = false, control = false, verbose = false;
  std::vector<std::string> transports; ///< empty: all
  int fewest = 1, most = 9, every = 1, shard = 0, shards = 1;
  long steady = 0, from = 0;
  std::string plant, launched;
  braid_memory memory = BRAID_MEMORY_HOST;
};

std::string islands; ///< of all communicators; empty: none
std::string profile; ///< of the emulated fabric; % stands for the number of ranks
std::string engine;  ///< of all communicators; empty: braid

runtime::CommunicatorOptions optionsFor(const std::string &transport, int ranks) {
  runtime::CommunicatorOptions options;
  options.transport = transport;
  if (transport.compare(0, 8, "emulated") == 0) {
    options.profile = profile;
    if (size_t at = profile.find('%'); at != std::string::npos)
      options.profile.replace(at, 1, std::to_string(ranks));
  }
  options.deadline = 60;
  options.engine = engine;
  options.islands = islands;
  return options;
}

std::string judge(const Case &one, const std::vector<Verdict> &verdicts) {
  std::string first; // the cause, if there is one: others only tell that a rank gave up
  for (size_t rank = 0; rank < verdicts.size(); ++rank)
    if (const std::string &problem = verdicts[rank].problem;
        !problem.empty() && (first.empty() || problem.find("gave up") == std::string::npos))
      first = "rank " + std::to_string(rank) + ": " + problem;
  if (!first.empty())
    return first;
  for (size_t rank = 1; rank < std::min(size_t(one.ranks), verdicts.size()) && sameOnAll(one); ++rank)
    if (verdicts[rank].result != verdicts[0].result)
      return "expected the same bytes on all ranks, got others on rank " + std::to_string(rank);
  return {};
}

/// Runs cases on threads, keeping the communicators of one transport and number of ranks.
class Runner {
public:
  /// Empty, or what is wrong.
  std::string run(const Case &one) {
    std::vector<Data> data;
    data.emplace_back(one, 0);
    data.emplace_back(one, 1);
    int all = one.ranks + one.helpers;
    std::string place = one.transport + std::to_string(all);
    if (!ranks || place != at) {
      ranks.reset();
      ranks = std::make_unique<Ranks>(all, optionsFor(one.transport, all));
      at = place;
    }
    if (!ranks->failed().empty()) {
      std::string problem = ranks->failed();
      ranks.reset();
      return problem;
    }
    std::vector<Verdict> verdicts(static_cast<size_t>(all));
    ranks->run([&](int rank, braid_comm *comm) -> std::string {
      verdicts[size_t(rank)] = runCase(one, data, comm);
      if (!verdicts[size_t(rank)].problem.empty())
        braid_comm_abort(comm, "the case failed"); // so that nobody waits
      return {};
    });
    std::string problem = judge(one, verdicts);
    if (!problem.empty())
      ranks.reset();
    return problem;
  }

private:
  std::unique_ptr<Ranks> ranks;
  std::string at;
};

std::string runOnProcesses(const Case &one) {
  std::vector<Data> data;
  data.emplace_back(one, 0);
  std::vector<uint64_t> results;
  std::string problem = runProcesses(
      one.ranks + one.helpers, optionsFor(one.transport, one.ranks + one.helpers),
      [&](int, braid_comm *comm, uint64_t &result) {
        Verdict verdict = runCase(one, data, comm);
        if (!verdict.problem.empty())
          braid_comm_abort(comm, "the case failed");
        result = verdict.result;
        return verdict.problem;
      },
      results);
  std::vector<Verdict> verdicts;
  for (uint64_t result : results)
    verdicts.push_back({"", result});
  return problem.empty() ? judge(one, verdicts) : problem;
}

/// Whether an engine has the case; what it has not is refused by the runtime, which other tests look at.
bool serves(const Case &one) {
  if (engine != "nccl" || !one.reduces())
    return true;
  if (one.type == BRAID_I16 || one.type == BRAID_U16)
    return false;
  return one.reduction < BRAID_AND || (one.type == BRAID_BOOL && one.reduction != BRAID_XOR);
}

/// The case with each root that is to be run.
std::vector<Case> withRoots(const Case &one, bool large) {
  if (!one.rooted() || (one.count > 20000 && !large))
    return {one};
  std::vector<Case> all;
  for (int root = 0; root < one.ranks; ++root) {
    all.push_back(one);
    all.back().root = root;
  }
  return all;
}

// Broken algorithms for --control. Each is the naive exchange with one mistake.

algorithms::StepProgram naive(algorithms::Collective collective, int ranks, int rank,
                              const algorithms::StepOptions &options) {
  return algorithms::find("naive_exchange")->program(collective, ranks, rank, options);
}

/// Each rank adds from itself on around: every sum is right, but in an order of its own.
algorithms::StepProgram ownOrder(algorithms::Collective collective, int ranks, int rank,
                                 const algorithms::StepOptions &options) {
  algorithms::StepProgram program = naive(collective, ranks, rank, options), changed = program;
  changed.steps.clear();
  for (const algorithms::Step &step : program.steps)
    if (step.action == algorithms::Action::Send)
      changed.steps.push_back(step);
  for (int d = 1; d < ranks; ++d)
    for (int c = 0; c < program.channels; ++c)
      changed.steps.push_back({algorithms::Action::ReceiveReduce, (rank + d) % ranks, c, 1, c});
  return changed;
}

/// The last rank's contribution is received, and overwrites instead of being added.
algorithms::StepProgram overwrites(algorithms::Collective collective, int ranks, int rank,
                                   const algorithms::StepOptions &options) {
  algorithms::StepProgram program = naive(collective, ranks, rank, options);
  for (algorithms::Step &step : program.steps)
    if (step.action == algorithms::Action::ReceiveReduce && step.peer == ranks - 1)
      step.action = algorithms::Action::Receive;
  return program;
}

/// The blocks of the first two others change places.
algorithms::StepProgram swaps(algorithms::Collective collective, int ranks, int rank,
                              const algorithms::StepOptions &options) {
  algorithms::StepProgram program = naive(collective, ranks, rank, options);
  std::vector<algorithms::Step *> taken;
  for (algorithms::Step &step : program.steps)
    if (step.action == algorithms::Action::Receive)
      taken.push_back(&step);
  if (taken.size() >= 2)
    std::swap(taken[0]->chunk, taken[1]->chunk);
  return program;
}

int control() {
  struct Broken {
    const char *name;
    decltype(&naive) program;
    braid_collective collective;
    bool exact;
    bool ragged = false;
  };
  const Broken all[] = {{"broken_order", ownOrder, BRAID_ALL_REDUCE, false},
                        {"broken_sum", overwrites, BRAID_ALL_REDUCE, true},
                        {"broken_blocks", swaps, BRAID_ALL_GATHER, true},
                        {"broken_sizes", swaps, BRAID_ALL_TO_ALL, true, true}};
  int accepted = 0;
  for (const Broken &broken : all) {
    algorithms::Algorithm algorithm = *algorithms::find("naive_exchange");
    algorithm.name = broken.name;
    algorithm.program = broken.program;
    algorithms::add(algorithm);
    Runner runner;
    Case one;
    one.collective = broken.collective;
    one.transport = "shm";
    one.ranks = 4;
    one.count = 16384;
    one.exact = broken.exact;
    one.ragged = broken.ragged;
    one.algorithm = "naive_exchange";
    std::string right = runner.run(one);
    one.algorithm = broken.name;
    std::string problem = runner.run(one);
    accepted += problem.empty() || !right.empty();
    std::printf("%s: %s\n", broken.name, problem.empty() ? "ACCEPTED" : ("rejected: " + problem).c_str());
    if (!right.empty())
      std::printf("naive_exchange itself: %s\n", right.c_str());
  }
  std::printf("control: %d of %d broken algorithms rejected\n", int(std::size(all)) - accepted, int(std::size(all)));
  return accepted ? 1 : 0;
}

bool read(int argc, char **argv, Settings &settings) {
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--full")
      settings.full = true;
    else if (word == "--exhaustive")
      settings.exhaustive = true;
    else if (word == "--processes")
      settings.processes = true;
    else if (word == "--control")
      settings.control = true;
    else if (word == "--verbose")
      settings.verbose = true;
    else if (value.empty())
      return false;
    else if (++i, word == "--seed")
      settings.seed = std::stoull(value);
    else if (word == "--memory") {
      const char *kinds[] = {"host", "pinned", "device"};
      auto kind = std::find(std::begin(kinds), std::end(kinds), value);
      if (kind == std::end(kinds))
        return false;
      settings.memory = braid_memory(kind - std::begin(kinds));
    } else if (word == "--every")
      settings.every = std::max(1, std::atoi(value.c_str()));
    else if (word == "--from")
      settings.from = std::atol(value.c_str());
    else if (word == "--plant")
      settings.plant = value;
    else if (word == "--engine")
      engine = value;
    else if (word == "--islands")
      islands = value;
    else if (word == "--launched")
      settings.launched = value;
    else if (word == "--profile")
      profile = value;
    else if (word == "--steady")
      settings.steady = std::atol(value.c_str());
    else if (word == "--ranks") {
      if (std::sscanf(value.c_str(), "%d-%d", &settings.fewest, &settings.most) != 2)
        return false;
    } else if (word == "--shard") {
      if (std::sscanf(value.c_str(), "%d/%d", &settings.shard, &settings.shards) != 2 || settings.shard < 0 ||
          settings.shard >= settings.shards)
        return false;
    } else if (word == "--transports") {
      for (size_t at = 0; at <= value.size();) {
        size_t end = std::min(value.find(',', at), value.size());
        settings.transports.push_back(value.substr(at, end - at));
        at = end + 1;
      }
    } else
      return false;
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  Settings settings;
  if (!read(argc, argv, settings)) {
    std::fprintf(stderr,
                 "usage: conformance [--seed N] [--full | --exhaustive] [--processes] [--control] [--verbose]\n"
                 "                   [--transports a,b] [--profile FILE] [--ranks A-B] [--every K] [--shard I/N]\n"
                 "                   [--from K] [--steady N] [--plant race|bounds]\n"
                 "                   [--memory host|pinned|device] [--engine NAME]\n"
                 "                   [--launched ENGINE] [--islands LAYOUT]\n");
    return 2;
  }
  std::unique_ptr<Launched> launched;
  if (!settings.launched.empty()) {
    launched = std::make_unique<Launched>(settings.launched);
    if (!launched->failed().empty()) {
      std::fprintf(stderr, "%s\n", launched->failed().c_str());
      std::_Exit(1);
    }
    settings.transports = {settings.launched};
    settings.most = std::min(settings.most, launched->ranks());
  }
  if (settings.transports.empty()) {
    for (const runtime::TransportEntry &each : runtime::transports())
      if (each.carriesData && (!each.isHere || each.isHere()) &&
          (each.processes || (!settings.processes && !settings.steady)))
        settings.transports.push_back(each.name);
    if (!profile.empty())
      settings.transports.push_back("emulated+shm");
  }
  if (settings.steady) {
    bool fine = true;
    for (const std::string &transport : settings.transports)
      fine &= steady(settings.steady, transport, settings.control) != settings.control;
    return fine ? 0 : 1;
  }
  if (settings.control)
    return control();
  if (!settings.plant.empty()) {
    std::string problem = plant(settings.plant);
    std::fprintf(stderr, "%s\n", problem.empty() ? "nobody has seen the mistake" : problem.c_str());
    return 0;
  }
  auto begin = std::chrono::steady_clock::now();
  Space space(settings.transports, settings.fewest, settings.most, launched || !islands.empty() || !engine.empty());
  int64_t cases = 0, runs = 0, failures = 0;
  Runner runner;
  std::map<std::string, int64_t> perTransport;
  auto reported = begin;
  auto handle = [&](const Case &one) {
    if (!serves(one))
      return;
    int64_t number = cases++;
    if (number < settings.from || number % settings.every ||
        number / settings.every % settings.shards != settings.shard)
      return;
    if (auto now = std::chrono::steady_clock::now(); now - reported > std::chrono::seconds(30)) {
      reported = now; // where to go on
      std::fprintf(stderr, "case %lld, %lld runs, %lld failures\n", (long long)number, (long long)runs,
                   (long long)failures);
    }
    for (Case each : withRoots(one, settings.full)) {
      each.memory = settings.memory;
      each.tags = engine != "nccl"; // which has none
      ++runs;
      ++perTransport[each.transport];
      if (settings.verbose) {
        std::printf("%s\n", each.text().c_str());
        std::fflush(stdout);
      }
      std::string problem = launched             ? judge(each, launched->run(each))
                            : settings.processes ? runOnProcesses(each)
                                                 : runner.run(each);
      if (problem.empty())
        continue;
      ++failures;
      if (!launched || launched->rank() == 0)
        std::printf("FAILS: %s\n       %s\n", each.text().c_str(), problem.c_str());
      std::fflush(stdout);
    }
  };
  if (settings.exhaustive) {
    space.each(handle);
  } else if (settings.full) {
    for (const Case &one : space.product(settings.seed))
      handle(one);
  } else {
    std::vector<Case> all = space.allPairs(settings.seed);
    std::multimap<std::pair<std::string, int>, const Case *> sorted; // one communicator for many cases
    for (const Case &one : all)
      sorted.insert({{one.transport, one.ranks + one.helpers}, &one});
    for (auto &[place, one] : sorted)
      handle(*one);
  }
  if (launched && launched->rank() > 0)
    return failures ? 1 : 0;
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::string carriers;
  for (auto &[name, count] : perTransport)
    carriers += (carriers.empty() ? "" : ", ") + name + " " + std::to_string(count);
  std::printf("%lld runs (%s) of %lld cases, %s%s, seed %llu: %lld failures, %.0f s\n", (long long)runs,
              carriers.c_str(), (long long)cases,
              settings.exhaustive ? "all dimensions"
              : settings.full     ? "the full product"
                                  : "all pairs",
              launched             ? " on launched ranks"
              : settings.processes ? " on processes"
                                   : "",
              (unsigned long long)settings.seed, (long long)failures, seconds);
  return failures ? 1 : 0;
}
