//===- PricerState.h - what a pricer holds ----------------------------------------------------------------------===//
//
// Prices (Pricer.cpp) and draws (PricerDraws.cpp) of one job.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_PRICERSTATE_H
#define BRAID_COST_MODELS_PRICING_PRICERSTATE_H

#include "pricing/ComputeFactors.h"
#include "pricing/Engine.h"
#include "pricing/FlowNoise.h"
#include "pricing/StepDraws.h"
#include <map>
#include <mutex>
#include <tuple>

namespace braid::cost {

struct Pricer::State {
  Cluster cluster;
  Placement placement;
  Engine engine;
  BucketForm form;
  std::unique_ptr<EngineModel> model;
  std::unique_ptr<ComputeFactors> computeFactors;
  draws::Noise noises[2];                                                      ///< of both fabrics
  std::shared_ptr<const RankGroups> everyone = std::make_shared<RankGroups>(); ///< for a collective without groups
  uint64_t id = 0; ///< of this pricer in the process, for what threads keep of its draws

  // Equal questions have equal answers. Groups and counts are told apart by their address, which `shared_ptr` keeps from being
  // reused.
  using Key = std::tuple<CollectiveKind, int64_t, int, std::string, std::shared_ptr<const RankGroups>,
                         std::shared_ptr<const std::vector<int64_t>>>;
  std::mutex mutex;
  std::map<Key, std::unique_ptr<const std::vector<Candidate>>> prices;
  std::map<std::pair<const Candidate *, Fabric>, Seconds> means;
  std::map<std::tuple<Fabric, double, double, double>, std::unique_ptr<const FlowFactor>> flowFactors;

  Key keyOf(const CollectiveSpec &spec) const {
    // A single tensor is copied only to be padded.
    bool padded = engine == Engine::Nccl && form == BucketForm::Copies && spec.kind == CollectiveKind::AllReduce;
    int tensors = padded ? spec.tensors : std::max(1, spec.tensors);
    return {spec.kind, spec.bytes.value, tensors, spec.elementType, spec.groups, spec.counts};
  }
  const FabricProfile &profile(Fabric fabric) const {
    return fabric == Fabric::Intra ? cluster.intra.profile : cluster.inter.profile;
  }
  const draws::Noise &noise(Fabric fabric) const { return noises[fabric == Fabric::Inter]; }

  // Prices.
  std::vector<Candidate> price(const CollectiveSpec &spec) const;
  int groupSize(const CollectiveSpec &spec) const {
    return std::max(1, spec.groups->groups.empty() ? int(placement.deviceOf.size()) : spec.groups->size());
  }
  bool needsCopies(const Candidate &c, const CollectiveSpec &spec) const;
  void addCopies(Candidate &c, const CollectiveSpec &spec) const;
  void explainNoise(std::vector<Candidate> &all, const CollectiveSpec &spec) const;

  // Draws.
  /// What all draws of a candidate have in common.
  struct Prepared {
    const Candidate *candidate = nullptr;
    Fabric fabric = Fabric::Intra;
    bool varies = false;   ///< else every draw is the time without noise
    bool numbers = false;  ///< of the operation are asked for
    bool late = false;     ///< by the noise of its messages, where that is no Delay
    bool rebased = false;  ///< on the job's latency
    bool factored = false; ///< latency or transfer by a factor of the operation's own
    bool collides = false;
    double perMessage = 0;               ///< mean of what it is late, in units of the latency
    double serial = 0, halfVariance = 0; ///< sigma of that, and half its square
    double noSpike = -1, noPause = -1;   ///< the operation's numbers up to which there is certainly none
    // Of the job that it was drawn for last:
    uint64_t seed = 0, job = ~uint64_t(0);
    double fraction = 1; ///< of the line rate, where flows collide
  };
  Prepared prepare(const Candidate &c, Fabric fabric) const;
  /// All of a draw but its delay and its spike, which groups have of their own.
  struct Drawn {
    Seconds time;
    double latency = 1; ///< factor on latencies
    StepDraws::Numbers numbers{0, 0, 0};
  };
  Drawn drawCommon(Prepared &p, StepDraws &kept, StepDraws::Row &row, const DrawPlace &place);
  Seconds draw(Prepared &p, StepDraws &kept, StepDraws::Row &row, const DrawPlace &place);
  double jobCollision(const Candidate &c, Fabric fabric, uint64_t seed, uint64_t job) const;
  double transferDraw(const Candidate &c, Fabric fabric, const DrawPlace &place);
  Seconds spikeOf(const std::vector<int> &group, Fabric fabric, const DrawPlace &place) const;
};

} // namespace braid::cost

#endif
