//===- Pricer.cpp - prices of one job, cached -------------------------------------------------------------------===//
#include "fabrics/Draws.h"
#include "pricing/Composed.h"
#include "pricing/ComputeFactors.h"
#include "pricing/Connections.h"
#include "pricing/Engine.h"
#include "pricing/FlowNoise.h"
#include "pricing/Quantile.h"
#include "pricing/StepDraws.h"
#include "pricing/Terms.h"
#include "topology/LinksUp.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace braid::cost {

std::optional<Engine> parseEngine(const std::string &name) {
  if (name == "braid")
    return Engine::Braid;
  if (name == "nccl")
    return Engine::Nccl;
  return std::nullopt;
}

const char *name(Engine engine) { return engine == Engine::Braid ? "braid" : "nccl"; }
const char *name(Fabric fabric) { return fabric == Fabric::Intra ? "intra" : "inter"; }

int RankGroups::size() const {
  size_t largest = 0;
  for (const std::vector<int> &group : groups)
    largest = std::max(largest, size_t(std::count_if(group.begin(), group.end(), [](int rank) { return rank >= 0; })));
  if (!groups.empty())
    return int(largest);
  std::vector<int> touched;
  for (auto [source, target] : pairs) {
    touched.push_back(source);
    touched.push_back(target);
  }
  std::sort(touched.begin(), touched.end());
  return int(std::unique(touched.begin(), touched.end()) - touched.begin());
}

struct Pricer::State {
  Cluster cluster;
  Placement placement;
  Engine engine;
  BucketForm form;
  std::unique_ptr<EngineModel> model;
  std::unique_ptr<ComputeFactors> computeFactors;
  draws::Noise noises[2];                                                      ///< of both fabrics
  std::shared_ptr<const RankGroups> everyone = std::make_shared<RankGroups>(); ///< for a collective without groups
  uint64_t id = 0; ///< of this pricer in the process, for the per-thread cache of job draws

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
  std::vector<Candidate> price(const CollectiveSpec &spec) const;
  int groupSize(const CollectiveSpec &spec) const {
    return std::max(1, spec.groups->groups.empty() ? int(placement.deviceOf.size()) : spec.groups->size());
  }
  bool needsCopies(const Candidate &c, const CollectiveSpec &spec) const;
  void addCopies(Candidate &c, const CollectiveSpec &spec) const;
  void explainNoise(std::vector<Candidate> &all, const CollectiveSpec &spec) const;
  double jobDraw(Fabric fabric, int flows, int perLeaf, int streams, int connections, uint64_t seed,
                 uint64_t job) const;
  double transferDraw(const Candidate &c, Fabric fabric, const DrawPlace &place);
  Seconds spikeOf(const std::vector<int> &group, Fabric fabric, const DrawPlace &place) const;
  struct Drawn;
  Drawn drawCommon(const Candidate &c, Fabric fabric, uint64_t seed, uint64_t job, uint64_t step, uint64_t operation);
};

static std::atomic<uint64_t> pricers{0};

Pricer::Pricer(Cluster cluster, Placement placement, Engine engine, BucketForm form) : state(new State) {
  state->cluster = std::move(cluster);
  state->placement = std::move(placement);
  state->engine = engine;
  state->form = form;
  state->id = ++pricers;
  state->computeFactors = std::make_unique<ComputeFactors>(state->cluster.compute, state->placement);
  for (Fabric fabric : {Fabric::Intra, Fabric::Inter})
    state->noises[fabric == Fabric::Inter] = state->profile(fabric).noise();
  state->model = engine == Engine::Nccl ? makeNcclEngine(state->cluster, state->placement)
                                        : makeBraidEngine(state->cluster, state->placement);
}
Pricer::~Pricer() { StepDraws::forget(state->id); }

const Cluster &Pricer::cluster() const { return state->cluster; }
Engine Pricer::engine() const { return state->engine; }
std::vector<std::string> Pricer::notModelled() const {
  std::vector<std::string> sentences = state->model->notModelled();
  if (!state->cluster.contention)
    sentences.insert(sentences.begin(),
                     "contention between ranks, since the cluster file switches it off (topology.contention): a "
                     "what-if");
  return sentences;
}

//===- candidates -----------------------------------------------------------------------------------------------===//

/// Several tensors are copied into one buffer where the consumer asks for that; a single one only to be padded.
bool Pricer::State::needsCopies(const Candidate &c, const CollectiveSpec &spec) const {
  bool padded = c.algorithm == composition && spec.bytes < paddedBytes(spec, groupSize(spec));
  return form == BucketForm::Copies && (spec.tensors > 1 || (spec.tensors == 1 && padded));
}

/// Concatenation and slicing around a bucket, or around what is padded: what is sent is packed, what comes out is
/// unpacked; each copy reads and writes.
void Pricer::State::addCopies(Candidate &c, const CollectiveSpec &spec) const {
  int n = groupSize(spec);
  double in = double(spec.bytes.value), out = in;
  if (spec.kind == CollectiveKind::AllGather)
    out = in * n;
  else if (spec.kind == CollectiveKind::ReduceScatter)
    out = in / n;
  Members members = membersOf(*spec.groups, cluster, placement);
  Seconds time = Seconds{2 * (in + out) / members.memory.value} + members.launch * 2;
  addTerm(c, &Candidate::fixed, "pack and unpack", time,
          text("2 x (%s in + %s out) at the %s that kernels reach, and 2 launches of %s: %s",
               toString(Bytes{int64_t(in)}).c_str(), toString(Bytes{int64_t(out)}).c_str(),
               toString(members.memory).c_str(), toString(members.launch).c_str(),
               spec.tensors > 1 ? text("%d tensors as one buffer", spec.tensors).c_str() : "a tensor padded"));
  sumUp(c);
}

/// Where quantiles have a closed form, and where they are sampled.
void Pricer::State::explainNoise(std::vector<Candidate> &all, const CollectiveSpec &spec) const {
  for (Candidate &c : all) {
    const FabricProfile &noise = profile(c.nodes > 1 ? Fabric::Inter : Fabric::Intra);
    if (c.time.value == 0 || noise.deterministic())
      continue;
    if (engine == Engine::Braid)
      if (auto form = DelayForm::of(c, spec, cluster, placement))
        c.delay = form;
    c.why.how += hasClosedQuantiles(c, noise) ? "; quantiles by closed form" : "; quantiles sampled";
  }
}

std::vector<Candidate> Pricer::State::price(const CollectiveSpec &spec) const {
  std::vector<Candidate> all = model->candidates(spec, form == BucketForm::GroupCall ? std::max(1, spec.tensors) : 1);
  for (Candidate &c : all)
    if (needsCopies(c, spec))
      addCopies(c, spec);
  if (engine == Engine::Braid)
    for (Candidate &c : all)
      if (c.nodes > 1 && c.path.empty())
        chooseConnections(c, cluster.inter.profile, hashedUplinks(cluster));
  explainNoise(all, spec);
  std::sort(all.begin(), all.end(), [](const Candidate &a, const Candidate &b) {
    bool composedA = a.algorithm == composition, composedB = b.algorithm == composition;
    return std::tie(composedA, a.time.value, a.algorithm, a.protocol, a.channels) <
           std::tie(composedB, b.time.value, b.algorithm, b.protocol, b.channels);
  });
  return all;
}

const std::vector<Candidate> &Pricer::candidates(const CollectiveSpec &asked) const {
  CollectiveSpec spec = asked;
  if (!spec.groups)
    spec.groups = state->everyone;
  State::Key key = state->keyOf(spec);
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    auto found = state->prices.find(key);
    if (found != state->prices.end())
      return *found->second;
  }
  // Priced without the lock: two threads may do the same work, the first result stays.
  auto prices = std::make_unique<const std::vector<Candidate>>(state->price(spec));
  std::lock_guard<std::mutex> lock(state->mutex);
  return *state->prices.try_emplace(key, std::move(prices)).first->second;
}

int Pricer::cheapest(const CollectiveSpec &spec) const {
  const std::vector<Candidate> &all = candidates(spec); // of equals the first, which the engine chooses by itself
  return int(std::min_element(all.begin(), all.end(), [](auto &a, auto &b) { return a.time < b.time; }) - all.begin());
}

size_t Pricer::priced() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->prices.size();
}

Fabric Pricer::fabric(const CollectiveSpec &spec) const {
  return candidates(spec).front().nodes > 1 ? Fabric::Inter : Fabric::Intra;
}

//===- draws ----------------------------------------------------------------------------------------------------===//

/// The job's latency factor (flows 0) or collision fraction. A step asks for the same few of one job hundreds of times,
/// and a collision hashes every stream: kept in a small table per thread, where a clash costs a redraw and never a
/// wrong answer.
double Pricer::State::jobDraw(Fabric fabric, int flows, int perLeaf, int streams, int connections, uint64_t seed,
                              uint64_t job) const {
  struct Entry {
    uint64_t id = 0, seed = 0, job = 0;
    int flows = 0, perLeaf = 0, streams = 0, connections = 0;
    Fabric fabric = Fabric::Intra;
    double value = 0;
  };
  static thread_local Entry table[64];
  // setting: a hash
  Entry &entry =
      table[(uint64_t(flows) * 31 + uint64_t(streams) * 7 + (fabric == Fabric::Inter) * 3 + job * 13 + id) % 64];
  if (entry.id != id || entry.seed != seed || entry.job != job || entry.flows != flows || entry.perLeaf != perLeaf ||
      entry.streams != streams || entry.connections != connections || entry.fabric != fabric) {
    entry = {id, seed, job, flows, perLeaf, streams, connections, fabric, 1};
    if (flows == 0) {
      entry.value = drawJobLatencyFactor(profile(fabric), seed, job);
    } else {
      FabricProfile split = profile(fabric);
      split.collisionFlowsPerNic = std::min(
          /*setting: balls*/ 128, std::max(1, connections > 0 ? connections : split.collisionFlowsPerNic) * streams);
      entry.value = drawJobCollision(split, flows, perLeaf, hashedUplinks(cluster), seed, job);
    }
  }
  return entry.value;
}

/// Factor on the transfer: the operation's, and that of the slowest of the ranks' flows.
double Pricer::State::transferDraw(const Candidate &c, Fabric fabric, const DrawPlace &place) {
  const draws::Noise &noise = this->noise(fabric);
  double factor = draws::operationTransferFactor(noise, place);
  if (!profile(fabric).flowsVary())
    return factor;
  FlowSpread spread{c.flowRanks > 0 ? c.flowRanks : std::max(1, c.nodes),
                    c.flowsOfRank > 0 ? c.flowsOfRank : std::max(1, c.streamsPerNic), c.flowRounds};
  const FlowFactor *flows;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto &made = flowFactors[{fabric, spread.ranks, spread.flows, spread.rounds}];
    if (!made)
      made = std::make_unique<const FlowFactor>(noise, spread);
    flows = made.get();
  }
  DrawPlace slowest = draws::placeOfFlows(noise, place);
  slowest.purpose = purpose::slowestFlow;
  return factor * flows->at(normal(slowest));
}

/// Relative noise of `messages` serial messages together, mean 1. Single messages vary by sqrt(exp(sigma^2) - 1); the
/// sum of m of them by less, and neighbours that wait for each other by 0.7 of what independent ones would (simulated
/// rings and trees, 64 and 256 ranks, sigma 0.5 and 1: 0.6 to 0.75).
static double serialSigma(double sigma, double messages) {
  double variation = std::expm1(sigma * sigma); // squared
  if (messages > 1)
    variation *= 0.49 / messages; // source: simulated rings and trees, as above
  return std::sqrt(std::log1p(variation));
}

/// A step asks for the same few again and again: kept as those of jobs are, above.
static double serialNoise(double sigma, double messages, double drawn) {
  struct Entry {
    double sigma = -1, messages = 0, serial = 0;
  };
  static thread_local Entry table[16];
  Entry &entry = table[uint64_t(std::max(0.0, messages)) % 16]; // setting: a hash
  if (entry.sigma != sigma || entry.messages != messages)
    entry = {sigma, messages, serialSigma(sigma, messages)};
  return entry.serial == 0 ? 1 : std::exp(entry.serial * drawn - entry.serial * entry.serial / 2);
}

/// All of a draw but its delay and its spike, which groups have of their own.
struct Pricer::State::Drawn {
  Seconds time;
  double latency; ///< factor on latencies
  DrawPlace place;
  StepDraws::Numbers kept; ///< where it has no delay
};

Pricer::State::Drawn Pricer::State::drawCommon(const Candidate &c, Fabric fabric, uint64_t seed, uint64_t job,
                                               uint64_t step, uint64_t operation) {
  const FabricProfile &noise = profile(fabric);
  DrawPlace place;
  place.seed = seed;
  place.job = job;
  place.step = step;
  place.operation = operation;
  place.purpose = purpose::serialBulk;
  double latency = 1, fraction = 1, transfer = 1;
  StepDraws::Numbers kept;
  if (!c.delay && (noise.bulkMean != 0 || noise.spikeProbability > 0))
    kept = StepDraws::of(id).at(place);
  if (noise.latencyRebaseSigma != 0)
    latency = jobDraw(fabric, 0, 0, 1, 0, seed, job);
  if (noise.latencySigma != 0)
    latency *= draws::latencyFactor(this->noise(fabric), place);
  double ofMessages = latency;
  if (!c.delay && noise.bulkMean != 0 && c.latency.value > 0)
    ofMessages *= 1 + noise.bulkMean * c.noisePerMessage * serialNoise(noise.bulkSigma, c.serialMessages, kept.bulk);
  if (c.flows > 1 && noise.collisionUplinks > 0)
    fraction = jobDraw(fabric, c.flows, c.flowsPerLeaf, c.streamsPerNic, c.connections, seed, job);
  if (noise.transfersVary())
    transfer = transferDraw(c, fabric, place);
  return {c.fixed + c.latency * ofMessages + c.wire * (transfer / fraction), latency, place, kept};
}

Seconds Pricer::draw(const Candidate &c, Fabric fabric, uint64_t seed, uint64_t job, uint64_t step,
                     uint64_t operation) const {
  const FabricProfile &profile = state->profile(fabric);
  if (c.time.value == 0 || profile.deterministic())
    return c.time;
  auto [time, latency, place, kept] = state->drawCommon(c, fabric, seed, job, step, operation);
  if (c.delay)
    time += c.delay->at(normal(place)) * latency;
  const draws::Noise &noise = state->noise(fabric);
  int nodes = std::max(c.nodes, c.exposedNodes);
  // As draws::operationSpike looks at it first: mostly there is none.
  if (noise.pauseProbability <= 0 && noise.correlation <= 0 && noise.spikeProbability > 0 && !c.delay &&
      kept.spike <= 1 - nodes * noise.spikeProbability)
    return time;
  return time + Seconds{draws::operationSpike(noise, nodes, place)};
}

/// Of the ranks of one group: the largest spike of their hosts, which all groups on a host share.
Seconds Pricer::State::spikeOf(const std::vector<int> &group, Fabric fabric, const DrawPlace &place) const {
  Seconds largest;
  const draws::Noise &noise = this->noise(fabric);
  if (noise.spikeProbability <= 0 && noise.pauseProbability <= 0)
    return largest;
  int last = -1;
  for (int rank : group) {
    int host = placement.hostOf(rank, cluster);
    if (std::exchange(last, host) == host)
      continue;
    DrawPlace ofHost = place;
    ofHost.where = uint64_t(host) + 1;
    largest = std::max(largest, Seconds{draws::operationSpike(noise, 1, ofHost)});
  }
  return largest;
}

void Pricer::drawRanks(const Candidate &c, Fabric fabric, uint64_t seed, uint64_t job, uint64_t step,
                       uint64_t operation, const std::vector<std::vector<int>> &groups,
                       std::vector<double> &clocks) const {
  const FabricProfile &profile = state->profile(fabric);
  auto wait = [&](const std::vector<int> &group, double seconds) {
    double begin = 0;
    for (int rank : group)
      begin = std::max(begin, clocks[rank]);
    for (int rank : group)
      clocks[rank] = begin + seconds;
  };
  if (c.time.value == 0 || profile.deterministic()) {
    for (const std::vector<int> &group : groups)
      wait(group, c.time.value);
    return;
  }
  auto [time, latency, place, kept] = state->drawCommon(c, fabric, seed, job, step, operation);
  bool onlyMessagesVary = latency == 1 && !profile.transfersVary() && (c.flows <= 1 || profile.collisionUplinks <= 0);
  if (c.delay && onlyMessagesVary) {
    std::vector<double> played = clocks;
    for (const std::vector<int> &group : groups) {
      Seconds later = c.time - c.delay->quiet() + state->spikeOf(group, fabric, place);
      for (int rank : group)
        played[rank] += later.value;
    }
    if (c.delay->play(place, played)) {
      // A group ends no sooner than its last rank's begin and the price, also one that is faster than the slowest, or that need not
      // wait for its last: times without noise, and bounds, count each launch in full.
      for (const std::vector<int> &group : groups) {
        double begin = 0, end = 0;
        for (int rank : group) {
          begin = std::max(begin, clocks[rank]);
          end = std::max(end, played[rank]);
        }
        for (int rank : group)
          clocks[rank] = played[rank] + std::max(0.0, begin + c.time.value - end);
      }
      return;
    }
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    Seconds ofGroup = time + state->spikeOf(groups[g], fabric, place);
    if (c.delay) { // of the slowest group, that is the largest of so many: P(slowest <= x) = P(one <= x)^groups
      DrawPlace own = place;
      own.message = g + 1;
      double slowest = std::pow(uniform(own), double(groups.size()));
      ofGroup += c.delay->at(normalQuantile(std::max(slowest, 1e-6))) * latency;
    }
    wait(groups[g], ofGroup.value);
  }
}

double Pricer::computeFactor(int rank, uint64_t seed, uint64_t job, uint64_t step) const {
  return state->computeFactors->of(rank, seed, job, step);
}

double Pricer::slowestCompute(uint64_t seed, uint64_t job, uint64_t step) const {
  return state->computeFactors->slowest(seed, job, step);
}

LeastFactors Pricer::leastFactors(const Candidate &c, Fabric fabric, uint64_t seed, uint64_t job, uint64_t step,
                                  uint64_t operations) const {
  const FabricProfile &profile = state->profile(fabric);
  LeastFactors least;
  if (profile.latencySigma != 0 || profile.transfersVary()) {
    least = {1e300, profile.transfersVary() ? 1e300 : 1};
    DrawPlace place;
    place.seed = seed;
    place.job = job;
    place.step = step;
    for (place.operation = 0; place.operation < std::max<uint64_t>(1, operations); ++place.operation) {
      place.purpose = purpose::serialBulk; // as in draw()
      least.latency = std::min(least.latency, draws::latencyFactor(state->noise(fabric), place));
      if (profile.transfersVary())
        least.wire = std::min(least.wire, state->transferDraw(c, fabric, place));
    }
  }
  if (profile.latencyRebaseSigma != 0)
    least.latency *= state->jobDraw(fabric, 0, 0, 1, 0, seed, job);
  if (c.flows > 1 && profile.collisionUplinks > 0)
    least.wire /= state->jobDraw(fabric, c.flows, c.flowsPerLeaf, c.streamsPerNic, c.connections, seed, job);
  return least;
}

static constexpr uint64_t priceSeed = 0x627261696421; // setting: of quantiles and means of one collective alone

Seconds Pricer::mean(const CollectiveSpec &spec, size_t index) const {
  const Candidate &c = candidates(spec)[index];
  Fabric on = fabric(spec);
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    auto found = state->means.find({&c, on});
    if (found != state->means.end())
      return found->second;
  }
  constexpr int samples = 4096; // setting: draws of a mean
  Seconds sum;
  for (int i = 0; i < samples; ++i)
    sum += draw(c, on, priceSeed, i, 0, 0);
  Seconds mean = state->profile(on).deterministic() ? c.time : sum / samples;
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->means.try_emplace({&c, on}, mean).first->second;
}

std::vector<std::pair<Seconds, Seconds>> Pricer::quantiles(const CollectiveSpec &spec, size_t index,
                                                           const std::vector<double> &asked, int samples) const {
  const Candidate &c = candidates(spec)[index];
  Fabric on = fabric(spec);
  if (const FabricProfile &profile = state->profile(on); hasClosedQuantiles(c, profile)) {
    std::vector<std::pair<Seconds, Seconds>> closed;
    for (double q : asked)
      closed.push_back(
          {c.time.value == 0 || profile.deterministic() ? c.time : closedQuantile(c, profile, q), Seconds()});
    return closed;
  }
  std::vector<double> times(std::max(2, samples));
  for (size_t i = 0; i < times.size(); ++i)
    times[i] = draw(c, on, priceSeed, i, 0, 0).value;
  std::sort(times.begin(), times.end());
  std::vector<std::pair<Seconds, Seconds>> result;
  for (double q : asked) {
    // The order statistic, and as its error half the distance between those one binomial standard deviation above and
    // below.
    double last = double(times.size() - 1), place = std::clamp(q, 0.0, 1.0) * last;
    double deviation = std::sqrt(double(times.size()) * q * (1 - q));
    auto at = [&](double x) { return times[size_t(std::lround(std::clamp(x, 0.0, last)))]; };
    result.push_back({Seconds{at(place)}, Seconds{(at(place + deviation) - at(place - deviation)) / 2}});
  }
  return result;
}

std::pair<Seconds, Seconds> Pricer::quantile(const CollectiveSpec &spec, size_t index, double q, int samples) const {
  return quantiles(spec, index, {q}, samples)[0];
}

} // namespace braid::cost
