//===- PricerDraws.cpp - prices under the noise of a job and a step ---------------------------------------------===//
#include "fabrics/Draws.h"
#include "pricing/Quantile.h"
#include "pricing/StepSampler.h"
#include "topology/LinksUp.h"
#include <algorithm>
#include <cmath>
#include <utility>

namespace braid::cost {

//===- of jobs --------------------------------------------------------------------------------------------------===//

/// The fraction of the line rate that flows get where they collide. Schedules ask for the same few of one job again and again, and each
/// hashes every stream: kept in a small table per thread, where a clash costs a redraw and never a wrong answer.
double Pricer::State::jobCollision(const Candidate &c, Fabric fabric, uint64_t seed, uint64_t job) const {
  struct Entry {
    uint64_t id = 0, seed = 0, job = 0;
    int flows = 0, perLeaf = 0, streams = 0, connections = 0;
    Fabric fabric = Fabric::Intra;
    double value = 0;
  };
  static thread_local Entry table[64];
  // setting: a hash
  Entry &entry =
      table[(uint64_t(c.flows) * 31 + uint64_t(c.streamsPerNic) * 7 + (fabric == Fabric::Inter) * 3 + job * 13 + id) %
            64];
  if (entry.id != id || entry.seed != seed || entry.job != job || entry.flows != c.flows ||
      entry.perLeaf != c.flowsPerLeaf || entry.streams != c.streamsPerNic || entry.connections != c.connections ||
      entry.fabric != fabric) {
    entry = {id, seed, job, c.flows, c.flowsPerLeaf, c.streamsPerNic, c.connections, fabric, 1};
    FabricProfile split = profile(fabric);
    int connections = c.connections > 0 ? c.connections : split.collisionFlowsPerNic;
    split.collisionFlowsPerNic = std::min(/*setting: balls*/ 128, std::max(1, connections) * c.streamsPerNic);
    entry.value = drawJobCollision(split, c.flows, c.flowsPerLeaf, hashedUplinks(cluster), seed, job);
  }
  return entry.value;
}

//===- of operations --------------------------------------------------------------------------------------------===//

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

Pricer::State::Prepared Pricer::State::prepare(const Candidate &c, Fabric fabric) const {
  const FabricProfile &noise = profile(fabric);
  Prepared p;
  p.candidate = &c;
  p.fabric = fabric;
  p.varies = c.time.value != 0 && !noise.deterministic();
  if (!p.varies)
    return p;
  p.numbers = c.delay || noise.bulkMean != 0 || noise.spikeProbability > 0 || noise.pauseProbability > 0;
  p.late = !c.delay && noise.bulkMean != 0 && c.latency.value > 0;
  if (p.late) {
    p.perMessage = noise.bulkMean * c.noisePerMessage;
    p.serial = serialSigma(noise.bulkSigma, c.serialMessages);
    p.halfVariance = p.serial * p.serial / 2;
  }
  p.rebased = noise.latencyRebaseSigma != 0;
  p.factored = noise.latencySigma != 0 || noise.transfersVary();
  p.collides = c.flows > 1 && noise.collisionUplinks > 0;
  // As draws::operationSpike looks at it first: mostly there is none. An operation that may take over another one's draws asks it.
  int nodes = std::max(c.nodes, c.exposedNodes);
  auto none = [&](double probability) {
    return probability <= 0 ? 1 : this->noise(fabric).correlation <= 0 ? 1 - nodes * probability : -1;
  };
  p.noSpike = none(noise.spikeProbability);
  p.noPause = none(noise.pauseProbability);
  return p;
}

[[gnu::always_inline]] inline Pricer::State::Drawn
Pricer::State::drawCommon(Prepared &p, StepDraws &kept, StepDraws::Row &row, const DrawPlace &place) {
  const Candidate &c = *p.candidate;
  Drawn drawn;
  double transfer = 1;
  if (p.numbers)
    drawn.numbers = kept.at(row, place);
  if (p.rebased) {
    double &ofJob = row.latency[p.fabric == Fabric::Inter];
    if (ofJob == 0)
      ofJob = draws::jobLatencyFactor(noise(p.fabric), place.seed, place.job);
    drawn.latency = ofJob;
  }
  if (p.factored) {
    drawn.latency *= draws::latencyFactor(noise(p.fabric), place);
    transfer = transferDraw(c, p.fabric, place);
  }
  double ofMessages = drawn.latency;
  if (p.late)
    ofMessages *= 1 + p.perMessage * (p.serial == 0 ? 1 : std::exp(p.serial * drawn.numbers.bulk - p.halfVariance));
  if (p.collides && (p.job != place.job || p.seed != place.seed)) {
    p.fraction = jobCollision(c, p.fabric, place.seed, place.job);
    p.seed = place.seed;
    p.job = place.job;
  }
  drawn.time = c.fixed + c.latency * ofMessages + c.wire * (transfer / p.fraction);
  return drawn;
}

Seconds Pricer::State::draw(Prepared &p, StepDraws &kept, StepDraws::Row &row, const DrawPlace &place) {
  const Candidate &c = *p.candidate;
  if (!p.varies)
    return c.time;
  Drawn drawn = drawCommon(p, kept, row, place);
  if (c.delay)
    drawn.time += c.delay->at(drawn.numbers.bulk) * drawn.latency;
  if (drawn.numbers.spike <= p.noSpike && drawn.numbers.pause <= p.noPause)
    return drawn.time;
  return drawn.time + Seconds{draws::operationSpike(noise(p.fabric), std::max(c.nodes, c.exposedNodes), place)};
}

static DrawPlace placeOf(uint64_t seed, uint64_t job, uint64_t step, uint64_t operation) {
  DrawPlace place;
  place.seed = seed;
  place.job = job;
  place.step = step;
  place.operation = operation;
  place.purpose = purpose::serialBulk;
  return place;
}

Seconds Pricer::draw(const Candidate &c, Fabric fabric, uint64_t seed, uint64_t job, uint64_t step,
                     uint64_t operation) const {
  State::Prepared prepared = state->prepare(c, fabric);
  if (!prepared.varies)
    return c.time;
  StepDraws &kept = StepDraws::of(state->id);
  return state->draw(prepared, kept, kept.row(seed, job, step), placeOf(seed, job, step, operation));
}

StepSampler::StepSampler(const Pricer &pricer, uint64_t seed) : state(*pricer.state), place(placeOf(seed, 0, 0, 0)) {}

size_t StepSampler::add(const Candidate &candidate, Fabric fabric) {
  candidates.push_back(state.prepare(candidate, fabric));
  return candidates.size() - 1;
}

void StepSampler::begin(uint64_t job, uint64_t step) {
  place.job = job;
  place.step = step;
  kept = &StepDraws::of(state.id);
  row = &kept->row(place.seed, job, step);
}

//===- of ranks -------------------------------------------------------------------------------------------------===//

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
  State::Prepared prepared = state->prepare(c, fabric);
  StepDraws &kept = StepDraws::of(state->id);
  DrawPlace place = placeOf(seed, job, step, operation);
  auto [time, latency, numbers] = state->drawCommon(prepared, kept, kept.row(seed, job, step), place);
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

//===- of all executions ----------------------------------------------------------------------------------------===//

LeastFactors Pricer::leastFactors(const Candidate &c, Fabric fabric, uint64_t seed, uint64_t job, uint64_t step,
                                  uint64_t operations) const {
  const FabricProfile &profile = state->profile(fabric);
  LeastFactors least;
  if (profile.latencySigma != 0 || profile.transfersVary()) {
    least = {1e300, profile.transfersVary() ? 1e300 : 1};
    DrawPlace place = placeOf(seed, job, step, 0);
    for (; place.operation < std::max<uint64_t>(1, operations); ++place.operation) {
      least.latency = std::min(least.latency, draws::latencyFactor(state->noise(fabric), place));
      if (profile.transfersVary())
        least.wire = std::min(least.wire, state->transferDraw(c, fabric, place));
    }
  }
  if (profile.latencyRebaseSigma != 0)
    least.latency *= draws::jobLatencyFactor(state->noise(fabric), seed, job);
  if (c.flows > 1 && profile.collisionUplinks > 0)
    least.wire /= state->jobCollision(c, fabric, seed, job);
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
  StepSampler sampler(*this, priceSeed);
  size_t alone = sampler.add(c, on);
  Seconds sum;
  for (int i = 0; i < samples; ++i) {
    sampler.begin(uint64_t(i), 0);
    sum += sampler.draw(alone, 0);
  }
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
  StepSampler sampler(*this, priceSeed);
  size_t alone = sampler.add(c, on);
  for (size_t i = 0; i < times.size(); ++i) {
    sampler.begin(uint64_t(i), 0);
    times[i] = sampler.draw(alone, 0).value;
  }
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
