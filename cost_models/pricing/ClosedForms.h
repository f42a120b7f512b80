//===- ClosedForms.h - what playing a step program takes, without playing it ------------------------------------===//
//
// For speed where ranks are many: the cost is that of a few ranks' steps. Neighbours on rings and chains have formulas (Rings.cpp,
// Chains.cpp); the other algorithms are played on one rank of each kind (Kinds.h). Everything is tested against the played
// programs (test/bars/cost/closed_forms); what has no closed form has to be played.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_CLOSEDFORMS_H
#define BRAID_COST_MODELS_PRICING_CLOSEDFORMS_H

#include "braid/cost_models/Price.h"
#include "braid/cost_models/Topology.h"

namespace braid::cost {

/// setting: larger groups are priced by closed forms, where there are.
constexpr int mostPlayedRanks = 128;
/// setting: larger ones are never played in full, but priced by estimates where there are no other forms (FairShare.cpp).
constexpr int mostRanksOfPlays = 1024;

struct UniformMachine {
  Seconds alpha;            ///< of a message from rank to rank
  BytesPerSecond bandwidth; ///< of each rank's link, each direction
  BytesPerSecond reduction;
};

/// Ring all_reduce, reduce_scatter, all_gather: steps x (alpha + block / bandwidth) + block / reduction in each that
/// reduces.
Seconds ringTime(CollectiveKind kind, int ranks, Bytes operand, const UniformMachine &machine);
/// Double binary tree all_reduce in `segments` for each tree. A rank sends up to four halves of the buffer's segment
/// per turn.
Seconds doubleTreeTime(int ranks, Bytes operand, int segments, const UniformMachine &machine);

/// One group whose rank i is on device `first` + i of a machine of equal hosts.
class ClosedForm {
public:
  virtual ~ClosedForm() = default;
  /// Null: there is none, the program has to be played. Keeps a reference to the topology.
  static std::unique_ptr<ClosedForm> make(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                          const algorithms::StepOptions &options, const Topology &topology, int first);
  /// `links`: of the topology, with changes or without.
  virtual std::optional<Seconds> time(Bytes operand, const std::vector<Topology::Link> &links,
                                      BytesPerSecond reduction) const = 0;
  /// Within 2 % of the played program. Else an estimate, of more than 128 ranks only; README.md says of what, and how near they are.
  virtual bool exact() const { return true; }
  virtual int players() const = 0; ///< ranks whose steps count
  virtual std::string how() const = 0;
};

/// What ClosedForm::make is asked.
struct FormQuestion {
  const algorithms::Algorithm &algorithm;
  CollectiveKind kind;
  int ranks;
  const algorithms::StepOptions &options; ///< with the hosts of the ranks
  const Topology &topology;
  int first;

  /// The way from a rank to another.
  Topology::Path way(int from, int to) const { return topology.path(first + from, first + to); }
};

} // namespace braid::cost

#endif
