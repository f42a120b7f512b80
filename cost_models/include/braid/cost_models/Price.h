//===- Price.h - what a collective costs on a cluster -----------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICE_H
#define BRAID_COST_MODELS_PRICE_H

#include "braid/cost_models/Cluster.h"
#include "braid/runtime/algorithms/StepProgram.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace braid::cost {

using CollectiveKind = algorithms::Collective;

/// Who will run the collectives. It decides which algorithms are candidates and how each is priced.
enum class Engine { Braid, Nccl };
constexpr const char *engineNames =
    "nccl (NCCL) or braid (Braid's runtime), the engines that there are"; ///< for errors
std::optional<Engine> parseEngine(const std::string &name);
const char *name(Engine engine);

/// How a bucket of several tensors is run, see design: priced as its consumer runs it.
enum class BucketForm {
  OneLaunch, ///< Braid: one launch over several tensors, no copies
  Copies,    ///< StableHLO consumers: pack into one buffer, one collective, unpack
  GroupCall, ///< NCCL group call: the operations pipelined
};

/// The ranks that take part, as groups of device ids (permute: the pairs). Equal objects are shared between
/// collectives.
struct RankGroups {
  std::vector<std::vector<int>> groups;   ///< empty for permute
  std::vector<std::pair<int, int>> pairs; ///< permute only: source, target
  int size() const;                       ///< of the largest group; permute: number of ranks touched
};

struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::AllReduce;
  Bytes bytes;     ///< operand bytes per rank, summed over the tensors
  int tensors = 1; ///< 0: priced as if it lay ready for every candidate, without copies to pack or pad it (for bounds)
  std::string elementType = "f32"; ///< MLIR's spelling
  std::shared_ptr<const RankGroups> groups;
  /// An all_to_all of blocks that differ in size: bytes from each rank of a group to each, row by row, the same in all groups;
  /// `bytes` is then what the rank that sends most sends. Null: all blocks are equal.
  std::shared_ptr<const std::vector<int64_t>> counts;
};

/// A price that explains itself: named terms that add up (or the largest of which counts, as `how` says).
struct PriceTerm {
  std::string name;
  Seconds time;
  std::string how; ///< the formula with its numbers, and the source of its constants
  std::vector<PriceTerm> parts;
};

class Delay;

/// The algorithm that an all_reduce has as two collectives (pricing/Composed.cpp). An engine does not choose it by itself:
/// who plans does, and who exports the plan writes both.
constexpr const char *composition = "reduce_scatter+all_gather";

/// One way to run one collective, with its price. What varies is kept apart from what does not, so that a draw is
/// cheap.
struct Candidate {
  std::string algorithm; ///< "ring", "tree", "double_binary_tree", ...
  std::string protocol;  ///< NCCL: "LL", "LL128", "Simple"; else empty
  int channels = 1;
  Seconds time; ///< no noise at all
  // Decomposition for draws: time == fixed + latency + wire.
  Seconds fixed;             ///< launch, copies, intra-host transfer: does not vary
  Seconds latency;           ///< scales with the job's latency factor; carries the messages' bulk noise
  Seconds wire;              ///< inter-host transfer: divided by the job's collision fraction
  double serialMessages = 0; ///< inter-host messages one after another, for the bulk noise
  /// kappa: mean noise per serial message in units of the bulk mean (rings average: about 2)
  double noisePerMessage = 0;
  /// How late the messages' noise makes it, instead of the two above: a closed form, or from plays; null where there is neither.
  std::shared_ptr<const Delay> delay;
  /// Where flows draw bandwidths: ranks of which the slowest counts, flows that each of them deals its bytes over (0: as many as
  /// `nodes`, and `streamsPerNic`), and rounds in which they wait for each other.
  double flowRanks = 0, flowsOfRank = 0, flowRounds = 1;
  int nodes = 1; ///< hosts the largest group touches
  /// Hosts that all groups touch together: exposure to spikes, since a step waits for the slowest group. 0: `nodes`.
  int exposedNodes = 0;
  int chunks = 1; ///< pipeline segments
  int flows = 0;  ///< flows of line rate that are hashed over leaf switches' uplinks at once; 0: none crosses them
  int flowsPerLeaf = 0;  ///< the most of them that leave one leaf; 0: as many as it has uplinks
  int streamsPerNic = 1; ///< connections that such a flow is split over (channels x neighbours): more entropy
  /// Connections and source ports of its flows, as plans spell them (Paths.h); empty: as they come.
  std::string path;
  int connections = 0; ///< that a path without ports asks for: flows are hashed so many ways; 0: as the profile says
  PriceTerm why;
};

/// See Pricer::leastFactors.
struct LeastFactors {
  double latency = 1, wire = 1;
};

/// The link class whose capacity a collective uses: inside hosts or between them. One channel of each in the simulator.
enum class Fabric { Intra, Inter };
const char *name(Fabric fabric);

/// Prices collectives of one job on one cluster. Thread-safe after construction; equal questions are answered from a
/// cache.
class Pricer {
public:
  Pricer(Cluster cluster, Placement placement, Engine engine, BucketForm form);
  ~Pricer();

  const Cluster &cluster() const;
  Engine engine() const;

  /// All candidates for the collective, cheapest (no noise) first, ties by name; compositions behind, so that the first is the
  /// engine's own choice. Never empty: what the engine cannot choose for is priced by its one algorithm.
  const std::vector<Candidate> &candidates(const CollectiveSpec &spec) const;
  /// The number of the cheapest candidate of all, no noise; and its price, which no plan is faster than.
  int cheapest(const CollectiveSpec &spec) const;
  Seconds cheapestTime(const CollectiveSpec &spec) const { return candidates(spec)[cheapest(spec)].time; }
  /// How many different questions `candidates` had to price.
  size_t priced() const;
  /// Sentences on what is not modelled ("NVLS and NVLSTree: not modelled", ...), for the report.
  std::vector<std::string> notModelled() const;
  Fabric fabric(const CollectiveSpec &spec) const;

  /// The time of one execution under the noise of (seed, job, step, operation): never of the order of questions.
  Seconds draw(const Candidate &candidate, Fabric fabric, uint64_t seed, uint64_t job, uint64_t step,
               uint64_t operation) const;
  /// The same with a clock for each rank, from when it begins to when it ends, in seconds: a group waits for itself alone. What the
  /// job and the operation draw is common to all; noise of messages is each group's own (each message's, where they are few), a
  /// spike its host's.
  void drawRanks(const Candidate &candidate, Fabric fabric, uint64_t seed, uint64_t job, uint64_t step,
                 uint64_t operation, const std::vector<std::vector<int>> &groups, std::vector<double> &clocks) const;
  /// Factor on the time that a rank computes in a step (Cluster::compute), and that of the job's slowest rank. 1 where ranks don't
  /// differ. A function of (seed, job, step): whatever is played meets the same.
  double computeFactor(int rank, uint64_t seed, uint64_t job, uint64_t step) const;
  double slowestCompute(uint64_t seed, uint64_t job, uint64_t step) const;
  /// What the draws of a (job, step) make of it at least, whichever of the first `operations` executions it is:
  /// draw() >= fixed + latency x factors.latency + wire x factors.wire for each of them.
  LeastFactors leastFactors(const Candidate &candidate, Fabric fabric, uint64_t seed, uint64_t job, uint64_t step,
                            uint64_t operations) const;
  /// Expected time (mean over all draws), by sampling with a fixed seed; cached.
  Seconds mean(const CollectiveSpec &spec, size_t candidate) const;
  /// Quantile of one execution with all draws fresh, with the standard error of the estimate: 0 where it has a closed form, which
  /// the candidate's `why` says; else it is of so many samples.
  std::pair<Seconds, Seconds> quantile(const CollectiveSpec &spec, size_t candidate, double q,
                                       int samples = 2000) const;
  /// Several quantiles of the same samples.
  std::vector<std::pair<Seconds, Seconds>> quantiles(const CollectiveSpec &spec, size_t candidate,
                                                     const std::vector<double> &q, int samples = 2000) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Time of a step program played on the cluster under the link rule: a message takes its links in order, cut-through;
/// on each it starts when the link direction is free (arrival order, ties by place in the group) and it has started on the one
/// before, and holds it bytes / bandwidth. All groups run at once and contend.
Result<Seconds> playStepPrograms(const algorithms::Algorithm &algorithm, const CollectiveSpec &spec,
                                 const algorithms::StepOptions &options, const Cluster &cluster,
                                 const Placement &placement, const DrawPlace *noise = nullptr);

} // namespace braid::cost

#endif
