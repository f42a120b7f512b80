//===- Pricer.cpp - prices of one job, cached -------------------------------------------------------------------===//
#include "pricing/Composed.h"
#include "pricing/ComputeFactors.h"
#include "pricing/Connections.h"
#include "pricing/PricerState.h"
#include "pricing/Quantile.h"
#include "pricing/Terms.h"
#include "topology/LinksUp.h"
#include <algorithm>
#include <atomic>
#include <cmath>

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

double Pricer::computeFactor(int rank, uint64_t seed, uint64_t job, uint64_t step) const {
  return state->computeFactors->of(rank, seed, job, step);
}

double Pricer::slowestCompute(uint64_t seed, uint64_t job, uint64_t step) const {
  return state->computeFactors->slowest(seed, job, step);
}

} // namespace braid::cost
