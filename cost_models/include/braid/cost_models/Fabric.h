//===- Fabric.h - a fabric is a distribution --------------------------------------------------------------------===//
//
// InfiniBand and RoCE differ in data, not in code. A profile has three kinds of draws:
//   job                 once per job: how far this job's latency sits from the last one's, which flows collide
//   operation           factors on all latencies and on all transfers of a collective; and the bandwidth of each flow in it, a
//                       flow being what goes from one device to another (or once per job, if the profile says so)
//   node and operation  a rare spike, and for RoCE a pause (measured: a ring sends 16 to 256 times more messages than a
//                       tree and has only 1 to 3.4 times more spikes, so never per message)
//   message             the bulk: alpha0 + LogNormal with mean theta * alpha0
// Every draw is a function of (seed, job, step, operation, node or link, message number), never of the order of
// arrival.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_FABRIC_H
#define BRAID_COST_MODELS_FABRIC_H

#include "braid/cost_models/Units.h"
#include "braid/runtime/draws/Draws.h"
#include <string>

namespace braid::cost {

struct FabricProfile {
  std::string name; ///< "infiniband", "roce", "nvlink", ...; picks defaults, no more

  // job
  double latencyRebaseSigma = 0; ///< sigma of ln(factor on latency), drawn once per job
  /// Equal-cost uplinks that the flows of a leaf are hashed over; 0: no collisions. A default profile may leave it to the
  /// topology, whose reader puts the number here.
  int collisionUplinks = 0;
  static constexpr int uplinksOfTopology = -1; // setting: stands for it
  /// Queue pairs with distinct source ports per connection (more entropy, fewer collisions): queue_pairs of a cluster
  /// file, 1 where distinct_source_ports is off. With adaptive_routing no flow is bound to an uplink: collisionUplinks 0.
  int collisionFlowsPerNic = 1;
  int mostFlowsPerNic = 0;      ///< queue pairs that a plan may ask for instead (most_queue_pairs); 0: none but those
  Seconds flowCost{};           ///< of each more of them and each message (queue_pair_cost)
  bool adaptiveRouting = false; ///< packets take all equal ways, whatever flow they are of

  // operation, and flow
  double latencySigma = 0;        ///< sigma of ln(factor on the latencies of an operation), mean 1
  double bandwidthSigma = 0;      ///< sigma of ln(factor on its bytes / bandwidth), mean 1
  double flowSigma = 0;           ///< the same of each flow of its own
  double slowFlows = 0;           ///< probability that a flow is slow
  double slowFlowBandwidth = 0.5; ///< what such a flow gets, in units of the bandwidth
  bool flowsPerJob = false;       ///< the flows' draws last for the job, not for an operation

  // node and operation
  double spikeProbability = 0;             ///< per node and operation
  Seconds spikeMinimum{};                  ///< Pareto scale
  double spikeIndex = 2;                   ///< Pareto index
  double pauseProbability = 0;             ///< per node and operation (PFC)
  Seconds pauseShortest{}, pauseLongest{}; ///< log-uniform between the two

  // message
  double bulkMean = 0;    ///< mean of the lognormal excess, in units of the base latency
  double bulkSigma = 0.5; ///< sigma of ln(excess)

  double correlation = 0;       ///< how much noise consecutive collectives share (the messages' excepted), 0 to 1
  double defaultQuantile = 0.5; ///< the quantile planned for when nobody asks for one

  bool deterministic() const {
    return latencyRebaseSigma == 0 && collisionUplinks == 0 && spikeProbability == 0 && pauseProbability == 0 &&
           bulkMean == 0 && latencySigma == 0 && !transfersVary();
  }
  /// Whether bytes / bandwidth is drawn.
  bool transfersVary() const { return bandwidthSigma != 0 || flowsVary(); }
  bool flowsVary() const { return flowSigma != 0 || slowFlows != 0; }
  /// The numbers that draws need, in seconds.
  draws::Noise noise() const;
};

/// The place of a draw, and uniform and normal numbers there.
using DrawPlace = draws::Place;
using draws::normal;
using draws::uniform;

/// Factor on latency for a whole job, >= 0.
double drawJobLatencyFactor(const FabricProfile &profile, uint64_t seed, uint64_t job);
/// Fraction in (0, 1] of the line rate that the slowest of `flows` synchronised flows gets in this job (balls into bins
/// over `collisionUplinks` x `collisionFlowsPerNic`).
double drawJobCollision(const FabricProfile &profile, int flows, uint64_t seed, uint64_t job);
/// What the links up of a leaf carry, in flows of line rate: all together, and each of those that flows are hashed over.
struct HashedUplinks {
  double lines, rate;
};
/// The same where each leaf switch hashes at most `flowsPerLeaf` of the flows over its uplinks (0: as many as uplinks), as a
/// fraction of what the flow would get if the uplinks were shared evenly, which prices without noise count.
double drawJobCollision(const FabricProfile &profile, int flows, int flowsPerLeaf, const HashedUplinks &up,
                        uint64_t seed, uint64_t job);
/// Extra time of one operation over `nodes` nodes: the largest of the nodes' spikes and pauses (zero mostly).
Seconds drawOperationSpike(const FabricProfile &profile, int nodes, const DrawPlace &place);
/// P(that extra time <= `extra`).
double operationSpikeCdf(const FabricProfile &profile, int nodes, Seconds extra);
/// Excess of one message over the base latency.
Seconds drawMessageExcess(const FabricProfile &profile, Seconds baseLatency, const DrawPlace &place);

} // namespace braid::cost

#endif
