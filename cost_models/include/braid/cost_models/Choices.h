//===- Choices.h - which way is best for which sizes, and how other systems are told ----------------------------===//
//
// The engine's candidates in the order of their prices without noise, as ranges of sizes: what NCCL's tuner and Open MPI's rules are
// made of.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_CHOICES_H
#define BRAID_COST_MODELS_CHOICES_H

#include "braid/cost_models/Price.h"
#include <functional>

namespace braid::cost {

/// Candidates, the best first; they belong to the pricer.
using Ranking = std::vector<const Candidate *>;

/// A longest run of sizes for which one ranking holds.
struct ChoiceRange {
  int64_t from = 0, at = 0, to = 0; ///< bytes: the first, the geometric middle, the last
  Ranking first, middle, last;      ///< priced there: the same order
};

/// Ranges from 1 to `most`, found by bisection between neighbours of a grid (`perOctave`) that differ: to the last byte, or until
/// the bounds are within the ratio `resolution` of each other. `identity` names what a range shares.
std::vector<ChoiceRange> choiceRanges(int64_t most, const std::function<Ranking(int64_t)> &rank,
                                      const std::function<std::string(const Ranking &, int64_t)> &identity,
                                      double resolution = 1, int perOctave = 8);

/// A communicator as NCCL describes it.
struct CommunicatorShape {
  int ranks = 0, nodes = 0;
};

/// The cluster as a whole, each host by itself, and one device of each host: what data, tensor and sharded parallelism make.
std::vector<CommunicatorShape> usualShapes(const Cluster &cluster);

/// As many communicators of this shape as the cluster holds, all at once; ranks are the cluster's devices.
Result<std::shared_ptr<const RankGroups>> groupsOf(const CommunicatorShape &shape, const Cluster &cluster);

struct TunerRequest {
  std::vector<CommunicatorShape> shapes; ///< empty: the usual ones
  Bytes most{int64_t(1) << 34}; ///< the largest size that has choices: the larger of what a rank sends and receives
  bool constants = false;       ///< NCCL's constants, as calibrated, instead of choices
  bool overrule = false;        ///< also where NCCL would take an algorithm that has no price (NVLS, CollNet, PAT)
};

/// The file of NCCL's tuner plugin (JSON); runtime/engines/nccl/tuner describes it.
Result<std::string> emitNcclTuner(const Cluster &cluster, const TunerRequest &request);

/// Rules of Open MPI's component coll/tuned for communicators of so many ranks, up to messages of `most`.
Result<std::string> emitOpenMpiRules(const Cluster &cluster, int ranks, Bytes most);

/// A file for NCCL_CONF_FILE, or a shell's `set -a`: the variables that have an effect in the model, each with what it gains.
/// `tunerFile`: of emitNcclTuner, "": none; `plugin`: its library, as NCCL finds it.
Result<std::string> emitNcclEnvironment(const Cluster &cluster, const std::string &tunerFile,
                                        const std::string &plugin);

} // namespace braid::cost

#endif
