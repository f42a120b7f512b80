//===- Draws.h - random numbers that are functions of their place -----------------------------------------------===//
//
// A draw hashes the fields of its place (seed, job, step, operation, node or link, message, purpose): who asks first, on which
// thread, in which process does not matter. The cost model's fabrics and the runtime's emulated fabric draw from the same
// formulas, which are all that the two share.
//
// Plain numbers, all times in seconds.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_DRAWS_DRAWS_H
#define BRAID_RUNTIME_DRAWS_DRAWS_H

#include <cstdint>

namespace braid::draws {

/// The place of a draw. Two draws at the same place are equal; the order in which they are asked for does not matter.
struct Place {
  uint64_t seed = 1;
  uint64_t job = 0;
  uint64_t step = 0;
  uint64_t operation = 0;
  uint64_t where = 0; ///< node or link
  uint64_t message = 0;
  uint64_t purpose = 0; ///< which quantity is drawn there
};

/// One number per quantity that is drawn at a place, so that two quantities at one place are independent.
namespace purpose {
enum : uint64_t {
  jobLatency = 1,
  jobCollision,
  share,
  spike,
  pause,
  bulk,
  serialBulk,
  operationLatency,
  operationBandwidth,
  flowBandwidth,
  slowFlow,
  slowestFlow,
  computeJob,
  computeStep
};
} // namespace purpose

/// One round of the hash: for many draws that differ in one number from a place.
uint64_t mix(uint64_t hash, uint64_t field);
/// 64 hashed bits of the place.
uint64_t bits(const Place &place);
/// Uniform in (0, 1).
double uniform(const Place &place);
/// Standard normal.
double normal(const Place &place);
/// Lognormal with this sigma of the logarithm and mean 1.
double lognormalWithMeanOne(double sigma, const Place &place);

/// The noise of one class of links; what each field means is said in cost_models/Fabric.h.
struct Noise {
  double latencyRebaseSigma = 0;
  double latencySigma = 0, bandwidthSigma = 0;
  double flowSigma = 0, slowFlows = 0, slowFlowBandwidth = 0.5;
  bool flowsPerJob = false;
  int collisionUplinks = 0, collisionFlowsPerNic = 1;
  double spikeProbability = 0, spikeMinimum = 0, spikeIndex = 2;
  double pauseProbability = 0, pauseShortest = 0, pauseLongest = 0;
  double bulkMean = 0, bulkSigma = 0.5;
  double correlation = 0;
};

/// Factor on latency for a whole job.
double jobLatencyFactor(const Noise &noise, uint64_t seed, uint64_t job);
/// The largest of the spikes and pauses of `nodes` nodes in one operation (zero mostly); with `place.where` set and one node,
/// that node's own.
double operationSpike(const Noise &noise, int nodes, const Place &place);
/// Factor on all latencies of one operation, mean 1.
double latencyFactor(const Noise &noise, const Place &place);
/// Factor on bytes / bandwidth of all messages of one operation, mean 1.
double operationTransferFactor(const Noise &noise, const Place &place);
/// Factor on bytes / bandwidth of the messages of one flow, `place.where`: the mean over its queue pairs, each of which draws its
/// own bandwidth.
double flowTransferFactor(const Noise &noise, const Place &place);
/// Factor on bytes / bandwidth of a message of the flow `place.where`: its operation's and its flow's.
double transferFactor(const Noise &noise, const Place &place);
/// Where an operation's flows draw their bandwidths: once per job, or in the operation that this one shares its draws with.
Place placeOfFlows(const Noise &noise, const Place &place);
/// Excess of one message over its base latency.
double messageExcess(const Noise &noise, double baseLatency, const Place &place);
/// Factor on the time that the device `place.where` computes, mean 1: of its job, times of its step; the same for all operations of it.
double computeFactor(double perJob, double perStep, const Place &place);
/// The uplink of `uplinks` that one part of a flow is hashed to, for as long as the job lives.
int uplink(int uplinks, uint64_t flow, uint64_t part, uint64_t seed, uint64_t job);

} // namespace braid::draws

#endif
