//===- Schedule.h - the plain scheduling problem and its solutions ----------------------------------------------===//
//
// passes/analysis builds a Program from IR; nothing here knows MLIR. A Program is a list of blocks (function and loop
// bodies), each a list of tasks in program order. A Schedule gives, for each block, the buckets (which collectives are
// one launch, by which candidate) and one total order of compute tasks, starts and waits. That order is what the IR
// will say, what the simulator plays and what the verifier checks.
//
// Execution model (XLA's and NCCL's: one compute stream; an asynchronous collective waits for what the compute stream
// had been given before it): compute tasks run in order; a start puts its bucket in the queue of its fabric's channel,
// where it begins when the compute stream has reached the start and the channel has a free lane; a wait blocks the
// compute stream.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SCHEDULE_H
#define BRAID_COST_MODELS_SCHEDULE_H

#include "braid/cost_models/Price.h"
#include <functional>
#include <string>
#include <vector>

namespace braid::cost {

struct Task {
  enum Kind {
    Compute,    ///< one kernel (a fused group of ops, a matmul, ...)
    Collective, ///< may be bucketed with others of the same key and run asynchronously
    Nested,     ///< a loop, a branch or a call that contains collectives: runs `block` `trips` times, nothing in flight
    Barrier,    ///< op of unknown effects: everything before it stays before, everything after stays after
  } kind = Compute;
  std::string name;          ///< for reports: op name and location
  Seconds duration;          ///< Compute
  std::vector<int> operands; ///< tasks of this block whose results it reads, sorted, unique
  Bytes result;              ///< bytes that live from this task to its last reader (0 for in-place or aliasing results)
  bool escapes = false;      ///< its result lives to the end of the block
  // Collective
  CollectiveSpec spec;
  int key = -1;             ///< only equal keys may share a bucket; -1: never bucketed
  bool asynchronous = true; ///< false: must stay synchronous where it is
  /// also keeps its place among the other ordered and Nested tasks (shares ranks on unordered channels)
  bool ordered = false;
  // Nested
  int block = -1;
  double trips = 1;
};

/// A value that a loop hands from one trip to the next.
struct Carried {
  int from = -1;            ///< the task that makes it; -1: none
  int passes = -1;          ///< the carried value that it was in the trip before; -1: none
  std::vector<int> readers; ///< tasks of the next trip that read it
  // In the block around the loop:
  int init = -1;               ///< the task that makes what it is in the first trip; -1: none
  std::vector<int> users = {}; ///< tasks that read what the last trip hands on
};

struct Block {
  std::string name;
  std::vector<Task> tasks; ///< program order; operands come earlier
  Bytes live; ///< bytes that live through the whole block and that no caller counts (arguments of the entry)
  /// Of a loop whose trips may overlap, as some collective of it can complete in the next trip: what it hands on. Else empty.
  std::vector<Carried> carried = {};
};

struct Program {
  std::vector<Block> blocks; ///< callees before callers; the last one is the entry
  int ranks = 0;
};

struct Bucket {
  std::vector<int> tasks; ///< members, in program order; collectives of one key
  int candidate = 0;      ///< index into Pricer::candidates of the merged spec
};

struct Event {
  /// Run: index is a task (Compute, Nested, Barrier); Start, Wait: index is a bucket.
  enum Kind { Run, Start, Wait } kind;
  int index;
};

struct BlockSchedule {
  std::vector<Bucket> buckets;
  std::vector<Event> order;
};

struct Schedule {
  std::vector<BlockSchedule> blocks; ///< parallel to Program::blocks
};

/// How often each block runs in one step: 1 for the entry, the product of the trips around it for the others; -1: never.
std::vector<double> runs(const Program &program);

/// The merged spec of a bucket's tensors.
CollectiveSpec mergedSpec(const Block &block, const Bucket &bucket);

//===- baselines, as policies -----------------------------------------------------------------------------------===//

struct BucketRule {
  Bytes cap{};      ///< 0: no bucketing
  Bytes firstCap{}; ///< 0: as cap; else the first bucket of each key closes at it (DDP's 1 MiB)
  /// false: a bucket closes at the first collective that depends on it (XLA's combiner)
  bool scanPastDependents = false;
  int countCap = 1 << 30;
  /// Walk in the order in which the operands are produced, not in the order of the text. Gradients are reduced in the
  /// order of the parameters in many programs, which is the reverse of the order in which they are ready. DDP's rule
  /// (firstCap) implies it.
  bool byReadiness = false;
};

/// Buckets of one block by the rule; never a cycle. Each bucket's candidate is the engine's own choice (cheapest, no
/// noise). Adds to `looked` the edges and places that were looked at for it.
std::vector<Bucket> bucketize(const Block &block, const BucketRule &rule, int64_t *looked = nullptr);

struct ListOptions {
  bool overlap = true; ///< false: every collective blocks where it stands
  /// Collectives started and not yet awaited, per fabric, at any place of the order. (XLA's limit is one. The channel
  /// itself always serves one at a time, so that with two, one runs and one is queued.)
  int inFlight = 1;
  /// 0: none; else a collective whose results need more memory than it frees starts early only below it
  Bytes memoryLimit{};
  /// In: the time of one run of each earlier block; out: this block's time. Null: nested blocks are estimated.
  std::vector<Seconds> *times = nullptr;
  /// While the next task of the program waits for a collective, run later ones that need not wait. False: the program's
  /// order.
  bool fillWaits = false;
  /// Of the tasks that could run, the one with the longest path to the end of the block: weight gradients then wait
  /// behind input gradients, and fill what would be waiting later (Qi et al., Zero Bubble Pipeline Parallelism, ICLR
  /// 2024, for pipelines). Implies fillWaits; tensors may live longer.
  bool longestTail = false;
  /// What makes a collective's operand and takes no longer than its share of the collective runs as soon as it can, before
  /// anything else: a channel that is the bottleneck begins early (Johnson's rule for two machines in a row, 1954).
  bool feedChannel = false;
  /// With longestTail: while a task of longer tail waits for a collective, another runs only if it delays that task by at
  /// most this share of the wait that it fills. Else the stream stands still, and the other fills a later wait.
  double overrun = 1e300;
  /// A collective waits for a lane, and the lane becomes free in the middle of the next kernel. The compute stream
  /// waits for the lane if its own loss is at most `patience` times the lane's. 0: never.
  double patience = 0;
};

/// List scheduling with tails: the compute order of the program is kept as far as dependences through buckets allow,
/// starts go as early as their operands, the queue is ordered by longest tail, waits stand before the first reader.
BlockSchedule listSchedule(const Program &program, int block, std::vector<Bucket> buckets, const Pricer &pricer,
                           const ListOptions &options);

/// All blocks, callees first: buckets by the rule, then the list scheduler.
Schedule scheduleProgram(const Program &program, const BucketRule &rule, const Pricer &pricer,
                         const ListOptions &options);

enum class Policy { NoOverlap, PerTensor, Ddp25MiB, Xla30MiB, OneBucket, Braid };
const char *name(Policy policy); ///< "no-overlap", "per-tensor", "ddp-25mib", "xla-30mib", "one-bucket", "braid"
std::optional<Policy> parsePolicy(const std::string &name);

//===- playing a schedule ---------------------------------------------------------------------------------------===//

struct Interval {
  std::string name;
  Seconds begin, end;
  int bucket = -1; ///< >= 0: a collective in flight
  Fabric fabric = Fabric::Inter;
  int block = -1;
  Seconds exposed; ///< of a collective: how long the compute stream stood at its wait
};

struct Played {
  Seconds total;
  Seconds compute;                ///< busy time of the compute stream
  Seconds exposed;                ///< time the compute stream waited for collectives
  Seconds slowed;                 ///< of `compute`, what collectives in flight take from it (ComputeNoise::slowdown)
  std::vector<Interval> timeline; ///< filled on request; loop bodies shown once per trip up to 64 trips
};

/// Time of one bucket's execution; `operation` numbers executions within a step.
using CollectiveTime = std::function<Seconds(int block, int bucket, uint64_t operation)>;
Played play(const Program &program, const Schedule &schedule, const Pricer &pricer, const CollectiveTime &time,
            bool timeline = false);
/// Every collective at its candidate's price, and no rank slower than another; slowed by collectives in flight all the same.
Played playWithoutNoise(const Program &program, const Schedule &schedule, const Pricer &pricer, bool timeline = false);

struct Quantiles {
  Seconds p50, p95, p99;   ///< of one step, all draws fresh
  Seconds standardError;   ///< of p50
  Seconds standardError99; ///< of p99
};
enum class ObjectiveKind { Training, Serving };
struct Objective {
  /// training: mean over steps at the quantile over jobs; serving: quantile over steps
  ObjectiveKind kind = ObjectiveKind::Training;
  double quantile = 0.5;
};
struct SampleOptions {
  uint64_t seed = 1;
  int samples = 1000;        ///< fresh steps for the quantiles
  int jobs = 64, steps = 16; ///< for the training objective
  bool skewed = true;        ///< false: as if ranks' computation did not differ, to tell what that adds
};
/// Fewer, where a step of the program has so many collectives that all samples would take minutes. (The more there are,
/// the less their sum varies.)
SampleOptions affordable(const Program &program, SampleOptions asked);
/// Draws that a search with these options has not met, for what is said of its plan: a plan is the best of many on the draws that it
/// was chosen by, which flatters it.
SampleOptions unseen(SampleOptions searched);
Quantiles quantiles(const Program &, const Schedule &, const Pricer &, const SampleOptions &);
Seconds objective(const Program &, const Schedule &, const Pricer &, const Objective &, const SampleOptions &);
/// The first `steps` steps of jobs firstJob, firstJob + 1, ..., each rank by a clock of its own: slower than quantiles(), more exact.
std::vector<Seconds> stepTimes(const Program &, const Schedule &, const Pricer &, uint64_t seed, uint64_t firstJob,
                               int jobs, int steps);

/// Peak bytes of the schedule: results live from Run or Start to the last reader's event, buckets in flight keep their
/// operands.
struct Peak {
  Bytes bytes;
  int block = -1;
  int event = -1; ///< index in the order where the peak is
};
Peak peakMemory(const Program &program, const Schedule &schedule);
/// What holds the memory at the peak: the largest results first, by the name of the task that made them.
std::vector<std::pair<std::string, Bytes>> liveAtPeak(const Program &program, const Schedule &schedule,
                                                      const Peak &peak, size_t count = 5);

/// Played schedules as Chrome trace events: one process each, named; tracks "compute", "intra-host", "inter-host".
/// Returns an empty string, or an error.
std::string writeTimeline(const std::vector<std::pair<std::string, Played>> &processes, const std::string &path);

//===- proof ----------------------------------------------------------------------------------------------------===//

struct Bound {
  Seconds time;
  std::string witness; ///< "critical path through ...", "sum of compute", "inter: one message of 1.3 GiB"
};
/// The largest of: critical path at the cheapest candidate prices; sum of compute; per fabric one message of all bytes
/// of a key at its cheapest price. No schedule of this program with these candidates and no noise is faster.
Bound lowerBound(const Program &program, const Pricer &pricer);

/// Quantiles of one step with all draws fresh, and the objective, that no schedule of this program falls below when it is sampled
/// under the same draws.
struct QuantileBound {
  Seconds p50, p95, p99, objective;
};
/// `plain`: what lowerBound gives.
QuantileBound quantileBound(const Program &program, const Pricer &pricer, const Bound &plain,
                            const Objective &objective, const SampleOptions &options);

/// Checks a schedule without sharing code with the scheduler: every task once, dependences, one compute stream, buckets
/// of one key, start before wait before reader, in-flight cap, memory. Empty string, or the violated rule with the
/// tasks' names. The in-flight cap holds per fabric, which only a pricer knows: without one it is checked over both
/// together (twice the cap).
std::string verifySchedule(const Program &program, const Schedule &schedule, const ListOptions &options,
                           const Pricer *pricer = nullptr);

//===- planning -------------------------------------------------------------------------------------------------===//

struct PolicyResult {
  Policy policy;
  std::string rule; ///< of braid: which candidate won ("64 MiB, scanning past dependents")
  Schedule schedule;
  Quantiles quantiles;
  Seconds objective;
  Seconds exposed;          ///< no noise
  Seconds slowed;           ///< no noise; of the compute stream, by collectives in flight
  Seconds total;            ///< no noise
  int64_t collectives = 0;  ///< launches in the text
  double executed = 0;      ///< times trips of the loops around them
  Bytes bytes;              ///< operand bytes per rank, text
  double executedBytes = 0; ///< times trips; the same whatever is moved from trip to trip
  Seconds searched;         ///< of braid: how much of the budget the search took
  Peak peak;
};

struct PlanOptions {
  Objective objective;
  Bytes memoryLimit{}; ///< 0: none
  SampleOptions sampling;
  int inFlight = 1;
  /// false: neither baselines nor bound, the plan alone (for a variant of a program that has both)
  bool compared = true;
  /// A baseline: the plan is its schedule, not the best one.
  Policy policy = Policy::Braid;
  /// What the search may add to a greedy plan, as an amount of work that takes so long on the reference processor
  /// (schedule/Budget.h): no clock is read, so that a plan depends on program, seed and budget only. 0: the greedy plan.
  Seconds budget{10};
  /// False, with a budget of 0: of the baselines only the program as written, for who does not compare.
  bool baselines = true;
};

/// A schedule that came to the last round and lost.
struct Alternative {
  std::string rule;
  Seconds objective;
  int64_t collectives = 0;   ///< launches in the text
  bool sameLaunches = false; ///< as the plan's: the same buckets and algorithms, in another order or place
};

struct PlanResult {
  std::vector<PolicyResult> policies;    ///< every baseline, then braid last
  std::vector<Alternative> alternatives; ///< best first: the margin by which the plan won
  Bound bound;
  QuantileBound quantileBound;
  const PolicyResult &braid() const { return policies.back(); }
};

/// Tries every baseline and bucket caps of 1 to 256 MiB, scheduled and priced, as far as the budget goes, and keeps the best by the
/// objective. With a budget of 0 nothing is compared: buckets of 32 MiB in the order of readiness, list scheduled.
/// Errors: the program is above the memory limit before planning (with its peak and what holds it).
Result<PlanResult> plan(const Program &program, const Pricer &pricer, const PlanOptions &options);
/// One policy alone.
PolicyResult runPolicy(const Program &program, const Pricer &pricer, Policy policy, const PlanOptions &options);

} // namespace braid::cost

#endif
