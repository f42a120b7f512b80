//===- RankInfo.h - who this process is, from the environment of its launcher --------------------------------------===//
//
// Looked for in this order; the first launcher whose variables are there decides, the others are not looked at (torchrun
// inside a Slurm step is torchrun):
//
//   BRAID_RANK BRAID_RANKS                               braid-launch, or by hand
//   RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE          torchrun
//   OMPI_COMM_WORLD_{RANK,SIZE,LOCAL_RANK,LOCAL_SIZE}    Open MPI's mpirun
//   PMI_RANK PMI_SIZE                                    MPICH and other PMI launchers
//   SLURM_PROCID SLURM_NTASKS SLURM_LOCALID              srun
//   none of them                                         one process
//
// What a launcher says of local ranks is a hint for messages only: local ranks come from exchanged host identities.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_RANKINFO_H
#define BRAID_RUNTIME_BOOTSTRAP_RANKINFO_H

#include "bootstrap/Deadline.h"
#include <functional>
#include <string>
#include <vector>

namespace braid::runtime {

struct RankInfo {
  int rank = 0, ranks = 1;
  int localRank = -1, localRanks = -1; ///< the launcher's words; -1: it does not say
  std::string source;                  ///< "braid", "torchrun", "Open MPI", "PMI", "Slurm", "single"
  std::string job;                     ///< tells jobs on one host apart; may be empty
  std::string secret;                  ///< BRAID_JOB_SECRET
  /// "host:port", most wanted first. Rank 0 takes the first that is free and the others find it by its proof of the secret.
  std::vector<std::string> rendezvous;
  bool launcherServes = false; ///< the store is the launcher's, not rank 0's

  /// "rank 2 of 8 (torchrun, local 2 of 4, store 10.0.0.1:29400)".
  std::string text() const;
};

using Environment = std::function<const char *(const char *)>;
Environment processEnvironment();

/// Reads ranks, rendezvous and secret. `rendezvous` ("host:port"), if not empty, replaces what the environment says.
Outcome readRankInfo(RankInfo &info, const std::string &rendezvous = {},
                     const Environment &environment = processEnvironment());

/// The rest, for a rank and a number of ranks given by the program. `info.rank` and `info.ranks` are set.
Outcome readRendezvous(RankInfo &info, const std::string &rendezvous = {},
                       const Environment &environment = processEnvironment());

} // namespace braid::runtime

#endif
