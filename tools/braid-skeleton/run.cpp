//===- run.cpp - braid-run-skeleton: executes a skeleton on the emulated fabric ---------------------------------===//
//
//   braid-run-skeleton x.skel.json --profile fabric.json [--clock virtual|wall] [--schedule POLICY] [--seed N]
//                      [--first-job J] [--jobs N] [--steps N] [--json FILE]
//
// Every rank executes the skeleton's compute as sleeps and its collectives as messages of their real sizes on the emulated
// fabric. On the virtual clock the ranks are fibers of one thread, on the wall clock they are threads. The time of a step is
// that of its slowest rank; all ranks begin it at one time. `--jobs 1000 --steps 1` is a thousand jobs with all draws fresh.
//===------------------------------------------------------------------------------------------------------------===//
#include "tools/braid-skeleton/RankRunner.h"
#include "transports/emulated/Emulated.h"
#include "transports/emulated/Fibers.h"
#include "transports/emulated/InProcess.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace braid;
using namespace braid::skeleton;
using namespace braid::runtime;

namespace {

struct Arguments {
  std::string skeleton, profile, schedule, json;
  EmulationOptions emulation;
  uint64_t firstJob = 0;
  int jobs = 1, steps = 1000;
};

std::string parse(int argc, char **argv, Arguments &a) {
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i];
    if (option.rfind("--", 0) != 0) {
      if (!a.skeleton.empty())
        return "expected one skeleton, got also " + option;
      a.skeleton = option;
      continue;
    }
    size_t equals = option.find('=');
    std::string value = equals != std::string::npos ? option.substr(equals + 1) : i + 1 < argc ? argv[++i] : "";
    option = option.substr(0, equals);
    if (value.empty())
      return option + ": expected a value, got none";
    char *end = nullptr;
    unsigned long long number = std::strtoull(value.c_str(), &end, 10);
    bool numeric = *end == 0;
    if (option == "--profile")
      a.profile = value;
    else if (option == "--schedule")
      a.schedule = value;
    else if (option == "--json")
      a.json = value;
    else if (option == "--clock" && (value == "virtual" || value == "wall"))
      a.emulation.time = value == "wall" ? EmulatedTime::Wall : EmulatedTime::Virtual;
    else if (option == "--seed" && numeric)
      a.emulation.seed = number;
    else if (option == "--first-job" && numeric)
      a.firstJob = number;
    else if (option == "--jobs" && numeric && number > 0)
      a.jobs = int(number);
    else if (option == "--steps" && numeric && number > 0)
      a.steps = int(number);
    else
      return "expected an option of braid-run-skeleton with its value, got " + option + " " + value;
  }
  return a.skeleton.empty() || a.profile.empty() ? "expected a skeleton and --profile FILE" : "";
}

/// Times of all steps, jobs one after another; an error in `error`.
std::vector<double> execute(const SkeletonSchedule &schedule, const EmulatedProfile &profile,
                            const Arguments &arguments, std::string &error) {
  EmulationOptions options = arguments.emulation;
  bool fibers = options.time == EmulatedTime::Virtual;
  Fibers turns(profile.ranks);
  auto emulation = Emulation::inProcess(profile, options, fibers ? static_cast<Parker &>(turns) : futexParker());
  std::vector<std::unique_ptr<Transport>> inner = inProcessTransports(profile.ranks, RankRunner::lanesNeeded(schedule));
  std::vector<std::vector<double>> times(size_t(profile.ranks));
  std::vector<std::string> errors(size_t(profile.ranks));
  auto body = [&](int rank) {
    EmulatedTransport transport(emulation, std::move(inner[size_t(rank)]), rank);
    if (rank == 0)
      std::printf("%s\n", transport.description().c_str());
    RankRunner runner(schedule, rank, profile.ranks, transport);
    for (int job = 0; job < arguments.jobs; ++job)
      for (int step = 0; step < arguments.steps; ++step) {
        transport.setJob(arguments.firstJob + uint64_t(job));
        transport.clock()->align();
        double begin = transport.clock()->now();
        if (!runner.step(uint64_t(step))) {
          errors[size_t(rank)] = transport.fault().what;
          return;
        }
        times[size_t(rank)].push_back(transport.clock()->now() - begin);
      }
    transport.clock()->align(); // peers may still look at this rank's messages
  };
  if (fibers) {
    turns.run(body);
  } else {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < profile.ranks; ++rank)
      threads.emplace_back(body, rank);
    for (std::thread &thread : threads)
      thread.join();
  }
  std::vector<double> slowest = times[0];
  for (size_t rank = 0; rank < times.size(); ++rank) {
    if (!errors[rank].empty() || times[rank].size() != slowest.size()) {
      error = "rank " + std::to_string(rank) + ": " + (errors[rank].empty() ? "did not finish" : errors[rank]);
      return {};
    }
    for (size_t i = 0; i < slowest.size(); ++i)
      slowest[i] = std::max(slowest[i], times[rank][i]);
  }
  return slowest;
}

double quantileOf(std::vector<double> times, double q) {
  std::sort(times.begin(), times.end());
  return times[size_t(q * double(times.size() - 1) + 0.5)];
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  Skeleton skeleton;
  EmulatedProfile profile;
  std::string error = parse(argc, argv, arguments);
  if (error.empty())
    error = Skeleton::read(arguments.skeleton, skeleton);
  if (error.empty())
    error = EmulatedProfile::read(arguments.profile, profile);
  if (error.empty() && skeleton.ranks != profile.ranks)
    error = "expected a profile of " + std::to_string(skeleton.ranks) + " ranks, those of the skeleton, got one of " +
            std::to_string(profile.ranks);
  std::string out = "{\"runs\": [";
  for (const SkeletonSchedule &schedule : skeleton.schedules) {
    if (!error.empty() || (!arguments.schedule.empty() && arguments.schedule != schedule.policy))
      continue;
    std::vector<double> times = execute(schedule, profile, arguments, error);
    if (times.empty())
      break;
    std::printf("%s: %zu steps, p50 %.4g us, p95 %.4g us, p99 %.4g us\n", schedule.policy.c_str(), times.size(),
                quantileOf(times, 0.5) * 1e6, quantileOf(times, 0.95) * 1e6, quantileOf(times, 0.99) * 1e6);
    std::fflush(stdout);
    out += (out.back() == '[' ? "" : ", ") + std::string("{\"policy\": \"") + schedule.policy + "\", \"steps_s\": [";
    for (double time : times) {
      char text[40];
      std::snprintf(text, sizeof text, "%s%.12g", out.back() == '[' ? "" : ", ", time);
      out += text;
    }
    out += "]}";
  }
  if (error.empty() && out.back() == '[')
    error = "--schedule: expected one of the skeleton's, got " + arguments.schedule;
  if (error.empty() && !arguments.json.empty()) {
    std::FILE *file = std::fopen(arguments.json.c_str(), "w");
    out += "]}\n";
    if (!file || std::fwrite(out.data(), 1, out.size(), file) != out.size())
      error = arguments.json + ": " + std::strerror(errno);
    if (file && std::fclose(file) != 0 && error.empty())
      error = arguments.json + ": " + std::strerror(errno);
  }
  if (error.empty())
    return 0;
  std::fprintf(stderr, "error: %s\n", error.c_str());
  return 1;
}
