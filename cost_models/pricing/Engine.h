//===- Engine.h - what the pricer asks of an engine -------------------------------------------------------------===//
//
// An engine knows which algorithms may run a collective and what each costs without copies and without noise. Pricer
// adds the form of the bucket, sorts, caches and draws.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_ENGINE_H
#define BRAID_COST_MODELS_PRICING_ENGINE_H

#include "GroupShape.h"

namespace braid::cost {

class EngineModel {
public:
  virtual ~EngineModel() = default;
  /// At least one. `operations` of them in one group call. Thread-safe.
  virtual std::vector<Candidate> candidates(const CollectiveSpec &spec, int operations) = 0;
  virtual std::vector<std::string> notModelled() const = 0;
};

std::unique_ptr<EngineModel> makeNcclEngine(const Cluster &cluster, const Placement &placement);
std::unique_ptr<EngineModel> makeBraidEngine(const Cluster &cluster, const Placement &placement);

/// Nothing to do: every group is one rank, or no pair joins two.
Candidate nothingToDo();

/// What the flows over leaf switches' uplinks do: collisions are drawn from them, and where more leave a leaf than it
/// has uplinks the transfer takes longer without any noise. Nothing where the cluster has no contention.
void addUplinks(Candidate &candidate, const UplinkFlows &flows, const Cluster &cluster);

} // namespace braid::cost

#endif
