//===- ClosedForms.h - what playing a step program takes, without playing it ------------------------------------===//
//
// For speed where ranks are many: the cost is that of a few ranks' steps. Most algorithms are played on one rank of each kind
// (Kinds.h). Pipelines of many different ranks, chains and double trees, have formulas. Everything is tested against the played
// programs (test/bars/cost/closed_forms); what has no closed form has to be played.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_CLOSEDFORMS_H
#define BRAID_COST_MODELS_PRICING_CLOSEDFORMS_H

#include "braid/cost_models/Price.h"
#include "braid/cost_models/Topology.h"

namespace braid::cost {

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
  /// Within 2 % of the played program; else near it (double trees, a chain there and back: their ranks get in each other's way).
  virtual bool exact() const = 0;
  virtual int players() const = 0; ///< ranks whose steps count
  virtual std::string how() const = 0;
};

} // namespace braid::cost

#endif
