//===- DrawnPrices.cpp - what messages cost at least under one draw of the fabric --------------------------------===//
#include "bounds/DrawnPrices.h"
#include <algorithm>
#include <cmath>

using namespace braid::cost;

static constexpr double perOctave = 4;     ///< setting: sizes that are asked for
static constexpr double belowLine = 0.999; ///< setting: between them a price may lie a little below the straight line

static double sizeOf(int step) { return std::exp2(step / perOctave); }

void DrawnPrices::draw(std::vector<LeastFactors> drawnFactors) {
  factors = std::move(drawnFactors);
  for (auto &[key, messages] : all) {
    messages.prices.clear();
    messages.least.clear();
  }
  for (Fabric fabric : {Fabric::Intra, Fabric::Inter}) { // collisions only add
    const Cluster &cluster = pricer.cluster();
    bool vary = (fabric == Fabric::Intra ? cluster.intra : cluster.inter).profile.transfersVary();
    least[int(fabric)] = {1, vary ? 0.0 : 1.0};
  }
  for (size_t kind = 0; kind < factors.size(); ++kind) // the same of all kinds of a fabric
    least[int(known[kind].fabric)].latency = factors[kind].latency;
}

const LeastFactors &DrawnPrices::factorsOf(int kind) const {
  return size_t(kind) < factors.size() ? factors[size_t(kind)] : least[int(known[size_t(kind)].fabric)];
}

DrawnPrices::Parts DrawnPrices::partsOf(const CollectiveSpec &spec) {
  Parts parts;
  Fabric fabric = pricer.fabric(spec);
  for (const Candidate &c : pricer.candidates(spec)) {
    auto [number, isNew] = numbers.try_emplace(
        {fabric, c.flows, c.flowsPerLeaf, c.streamsPerNic, c.connections, c.flowRanks, c.flowsOfRank, c.flowRounds},
        int(known.size()));
    if (isNew)
      known.push_back({fabric, c});
    parts[c.algorithm + " " + c.protocol] = {number->second, c.time.value, c.latency.value, c.wire.value};
  }
  return parts;
}

const DrawnPrices::Parts &DrawnPrices::at(Messages &messages, const CollectiveSpec &spec, int step) {
  auto [parts, isNew] = messages.grid.try_emplace(step);
  if (isNew) {
    CollectiveSpec asked = spec;
    asked.tensors = 0; // without any copies
    asked.bytes = {int64_t(std::llround(sizeOf(step)))};
    parts->second = partsOf(asked);
  }
  return parts->second;
}

double DrawnPrices::exact(const Parts &parts) const {
  double price = 1e300;
  for (auto &[name, part] : parts) {
    const LeastFactors &f = factorsOf(part.kind);
    price = std::min(price, part.time + (f.latency - 1) * part.latency + (f.wire - 1) * part.wire);
  }
  return std::max(0.0, price);
}

/// Of any size in the interval from `step` on that is at least the lower end and `share` of the way to the upper one.
double DrawnPrices::between(Messages &messages, const CollectiveSpec &spec, int step, double share) {
  const Parts &low = at(messages, spec, step), &high = at(messages, spec, step + 1);
  double price = 1e300;
  auto offer = [&](const Part &a, const Part &b, double time) {
    LeastFactors f = factorsOf(a.kind);
    f.wire = std::min(f.wire, factorsOf(b.kind).wire);
    double latency = f.latency < 1 ? std::max(a.latency, b.latency) : std::min(a.latency, b.latency);
    double wire = f.wire < 1 ? b.wire : belowLine * ((1 - share) * a.wire + share * b.wire);
    if (a.latency != b.latency) { // another program from somewhere on; what either transfers grows as its bytes at most
      double ratio = sizeOf(step + 1) / sizeOf(step);
      wire = f.wire < 1 ? std::max(a.wire * ratio, b.wire) : std::min(a.wire, b.wire / ratio);
    }
    price = std::min(price, time + (f.latency - 1) * latency + (f.wire - 1) * wire);
  };
  for (auto &[name, a] : low) {
    auto other = high.find(name);
    const Part &b = other == high.end() ? a : other->second;
    bool line = other != high.end() && a.latency == b.latency && b.time >= a.time;
    offer(a, b, line && share > 0 ? std::max(a.time, belowLine * ((1 - share) * a.time + share * b.time)) : a.time);
  }
  for (auto &[name, b] : high) // offered from some size on
    if (!low.count(name))
      offer(b, b, b.time * sizeOf(step) / sizeOf(step + 1));
  return std::max(0.0, price);
}

/// Of all sizes from one of the grid to the one after another.
double DrawnPrices::leastOf(Messages &messages, const CollectiveSpec &spec, int step, int last) {
  if (step > last)
    return 1e300;
  auto [known, isNew] = messages.least.try_emplace({step, last}, 0);
  if (isNew)
    known->second = std::min(between(messages, spec, step, 0), leastOf(messages, spec, step + 1, last));
  return known->second;
}

Seconds DrawnPrices::of(const CollectiveSpec &spec, Bytes most) {
  Messages &messages = all[{spec.kind, spec.groups.get(), spec.elementType}];
  if (most <= spec.bytes || spec.counts) { // alone, or all there is
    auto [parts, isNew] = messages.single.try_emplace({spec.bytes.value, spec.tensors, spec.counts});
    if (isNew)
      parts->second = partsOf(spec);
    return {exact(parts->second)};
  }
  auto [known, isNew] = messages.prices.try_emplace({spec.bytes.value, most.value}, 0);
  if (isNew) {
    double bytes = double(std::max<int64_t>(1, spec.bytes.value));
    int step = int(std::floor(perOctave * std::log2(bytes)));
    int last = int(std::floor(perOctave * std::log2(double(most.value))));
    double share = std::clamp((bytes - sizeOf(step)) / (sizeOf(step + 1) - sizeOf(step)), 0.0, 1.0);
    known->second = std::min(between(messages, spec, step, share), leastOf(messages, spec, step + 1, last));
  }
  return {known->second};
}
