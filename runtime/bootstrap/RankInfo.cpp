//===- RankInfo.cpp - who this process is, from the environment of its launcher ------------------------------------===//
#include "bootstrap/RankInfo.h"
#include "bootstrap/Hmac.h"
#include <cstdlib>

namespace braid::runtime {
namespace {

constexpr int maximumRanks = 1 << 20;           // more is a mistyped number
constexpr size_t minimumSecret = 16;            // bytes
constexpr int candidatePorts = 8;               // a few, so that a port in use does not stop the job
constexpr int firstPort = 20000, ports = 12000; // below 32768, where the kernel takes ports of clients from

struct Launcher {
  const char *name, *rank, *ranks, *localRank, *localRanks;
  bool sizeAloneIsNothing; ///< salloc sets SLURM_NTASKS for the shell too, which is no task
};

constexpr Launcher launchers[] = {
    {"braid", "BRAID_RANK", "BRAID_RANKS", "BRAID_LOCAL_RANK", "BRAID_LOCAL_RANKS", false},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", false},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", false},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", false},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr, true},
};

Outcome invalid(const std::string &what) { return {BRAID_INVALID, what}; }

/// An integer in [0, limit]; the whole text must be digits.
Outcome readNumber(const char *name, const char *text, int limit, int &value) {
  std::string digits = text;
  bool good = !digits.empty() && digits.size() <= 9;
  for (char c : digits)
    good = good && c >= '0' && c <= '9';
  if (!good || std::atoi(text) > limit)
    return invalid(std::string(name) + ": expected a number from 0 to " + std::to_string(limit) + ", got \"" + digits +
                   "\"");
  value = std::atoi(text);
  return {};
}

Outcome readLauncher(const Launcher &launcher, const Environment &environment, RankInfo &info) {
  const char *rank = environment(launcher.rank), *ranks = environment(launcher.ranks);
  if (!rank || !ranks)
    return invalid(std::string(rank ? launcher.rank : launcher.ranks) + " is set, but " +
                   (rank ? launcher.ranks : launcher.rank) + " is not (" + launcher.name +
                   "): expected both or neither");
  if (Outcome done = readNumber(launcher.rank, rank, maximumRanks - 1, info.rank); !done)
    return done;
  if (Outcome done = readNumber(launcher.ranks, ranks, maximumRanks, info.ranks); !done)
    return done;
  if (info.rank >= info.ranks)
    return invalid(std::string(launcher.rank) + ": expected less than " + launcher.ranks + " = " +
                   std::to_string(info.ranks) + ", got " + std::to_string(info.rank));
  const char *localRank = environment(launcher.localRank);
  const char *localRanks = launcher.localRanks ? environment(launcher.localRanks) : nullptr;
  if (localRank)
    if (Outcome done = readNumber(launcher.localRank, localRank, info.ranks - 1, info.localRank); !done)
      return done;
  if (localRanks)
    if (Outcome done = readNumber(launcher.localRanks, localRanks, info.ranks, info.localRanks); !done)
      return done;
  if (localRank && localRanks && info.localRank >= info.localRanks)
    return invalid(std::string(launcher.localRank) + ": expected less than " + launcher.localRanks + " = " +
                   std::to_string(info.localRanks) + ", got " + std::to_string(info.localRank));
  if (localRank && info.localRank > info.rank)
    return invalid(std::string(launcher.localRank) + ": expected at most " + launcher.rank + " = " +
                   std::to_string(info.rank) + ", got " + std::to_string(info.localRank));
  info.source = launcher.name;
  return {};
}

/// A launcher that starts some of the job's ranks, from this one on: the job is larger than what it counts.
Outcome readFirstRank(const Environment &environment, RankInfo &info) {
  const char *first = environment("BRAID_FIRST_RANK"), *ranks = environment("BRAID_RANKS");
  int before = 0, all = 0;
  if (!ranks)
    return invalid(
        "BRAID_FIRST_RANK is set, but BRAID_RANKS, the ranks of the whole job, is not: expected both or neither");
  if (Outcome done = readNumber("BRAID_FIRST_RANK", first, maximumRanks - 1, before); !done)
    return done;
  if (Outcome done = readNumber("BRAID_RANKS", ranks, maximumRanks, all); !done)
    return done;
  if (before + info.ranks > all)
    return invalid("BRAID_RANKS: expected at least " + std::to_string(before + info.ranks) + ", for " +
                   std::to_string(info.ranks) + " ranks of " + info.source + " from rank " + std::to_string(before) +
                   " on, got " + std::to_string(all));
  info.rank += before;
  if (info.localRanks <= 0)
    info.localRanks = info.ranks;
  info.ranks = all;
  return {};
}

std::string first(const Environment &environment, std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (const char *value = environment(name); value && *value)
      return value;
  return {};
}

} // namespace

Environment processEnvironment() {
  return [](const char *name) -> const char * { return std::getenv(name); };
}

std::string RankInfo::text() const {
  std::string text = "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " (" + source;
  if (localRank >= 0)
    text += ", local " + std::to_string(localRank) + (localRanks > 0 ? " of " + std::to_string(localRanks) : "");
  if (!rendezvous.empty())
    text += ", store " + rendezvous.front();
  return text + ")";
}

Outcome readRendezvous(RankInfo &info, const std::string &rendezvous, const Environment &environment) {
  if (info.source.empty())
    info.source = "given";
  info.job = first(environment, {"BRAID_JOB", "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
                                 "PMI_JOBID", "SLURM_JOB_ID"});
  if (info.ranks == 1)
    return {}; // nobody to meet
  info.secret = first(environment, {"BRAID_JOB_SECRET"});
  if (info.secret.size() < minimumSecret)
    return invalid("BRAID_JOB_SECRET: expected a secret of at least " + std::to_string(minimumSecret) +
                   " bytes, the same on all ranks (export BRAID_JOB_SECRET=$(cat /proc/sys/kernel/random/uuid)), got " +
                   (info.secret.empty() ? std::string("none") : std::to_string(info.secret.size()) + " bytes"));
  std::string serves = first(environment, {"BRAID_STORE"});
  if (!serves.empty() && serves != "launcher" && serves != "rank0")
    return invalid("BRAID_STORE: expected launcher or rank0, got \"" + serves + "\"");
  info.launcherServes = serves == "launcher" && rendezvous.empty();
  std::string given = rendezvous.empty() ? first(environment, {"BRAID_RENDEZVOUS"}) : rendezvous;
  if (!given.empty()) {
    info.rendezvous = {given};
    return {};
  }
  std::string master = first(environment, {"MASTER_ADDR"}); // its port is the launcher's own store's
  if (master.empty() && info.localRanks > 0 && info.localRanks < info.ranks)
    return invalid("BRAID_RENDEZVOUS: expected host:port of rank 0, since only " + std::to_string(info.localRanks) +
                   " of " + std::to_string(info.ranks) + " ranks run on this host, got none");
  if (master.empty() && info.source == "Slurm")
    if (std::string nodes = first(environment, {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"});
        !nodes.empty() && nodes != "1")
      return invalid("BRAID_RENDEZVOUS: expected host:port of rank 0, since the step has " + nodes +
                     " nodes, got none; its first: BRAID_RENDEZVOUS=$(scontrol show hostnames $SLURM_JOB_NODELIST | "
                     "head -n 1):29400");
  if (master.empty())
    master = "127.0.0.1";
  if (master.find(':') != std::string::npos && master.front() != '[')
    master = "[" + master + "]"; // an IPv6 address
  for (int i = 0; i != candidatePorts; ++i) {
    Digest digest = hmacSha256(info.secret, "port " + std::to_string(i) + " " + info.job + " " +
                                                first(environment, {"MASTER_PORT"}));
    int port = firstPort + (digest[0] << 8 | digest[1]) % ports;
    info.rendezvous.push_back(master + ":" + std::to_string(port));
  }
  return {};
}

Outcome readRankInfo(RankInfo &info, const std::string &rendezvous, const Environment &environment) {
  info = RankInfo();
  bool some = environment("BRAID_FIRST_RANK") && !environment("BRAID_RANK");
  for (const Launcher &launcher : launchers) {
    if (some && std::string(launcher.name) == "braid")
      continue;
    const char *rank = environment(launcher.rank), *ranks = environment(launcher.ranks);
    if (!rank && (!ranks || launcher.sizeAloneIsNothing))
      continue;
    // A step of fewer tasks than the job has its own count.
    Environment narrowed = environment;
    if (std::string(launcher.name) == "Slurm")
      narrowed = [&environment](const char *name) -> const char * {
        const char *step = std::string(name) == "SLURM_NTASKS" ? environment("SLURM_STEP_NUM_TASKS") : nullptr;
        return step ? step : environment(name);
      };
    if (Outcome done = readLauncher(launcher, narrowed, info); !done)
      return done;
    if (Outcome done = some ? readFirstRank(environment, info) : Outcome(); !done)
      return done;
    return readRendezvous(info, rendezvous, environment);
  }
  info.source = "single";
  return readRendezvous(info, rendezvous, environment);
}

} // namespace braid::runtime
