//===- ProbeRank.cpp - one rank's part in the measurements of a probe -------------------------------------------------===//
#include "ProbeRank.h"
#include "MeasureCell.h"
#include <algorithm>

namespace braid::bench {

constexpr size_t shortSize = 1 << 10, smallestLong = 64 << 10, largestLong = 16 << 20;
constexpr int callsOfRow = 24; ///< that a row takes at least: 2 checks, 10 to warm up, 12 samples

/// The runtime's name of the cheapest algorithm that does not cut its buffer into pipeline segments: their number would
/// change with what the probe is to find.
static const cost::Candidate &cheapest(const cost::Pricer &pricer, size_t bytes) {
  cost::CollectiveSpec spec;
  spec.bytes = {int64_t(bytes)};
  const std::vector<cost::Candidate> &all = pricer.candidates(spec);
  for (const cost::Candidate &c : all)
    if (c.chunks == 1 && c.algorithm != "in_network") // the runtime's ranks need switches that were granted
      return c;
  return all.front();
}

/// The first rank's number, on all ranks.
static size_t agreed(Ranks &ranks, size_t number) {
  double value = ranks.rank == 0 ? double(number) : 0;
  ranks.maximum(&value, 1);
  return size_t(value);
}

static MeasuredRow measured(Ranks &ranks, MeasureOptions options, const cost::Pricer *pricer, size_t bytes) {
  const std::vector<algorithms::Algorithm> &registry = algorithms::registry();
  size_t index = 0;
  if (pricer)
    while (index + 1 < registry.size() && registry[index].name != cheapest(*pricer, bytes).algorithm)
      ++index;
  bool supported = true;
  options.channels = options.chunks = 1; // as it was priced
  return measureCell(ranks, options, Kind::AllReduce, bytes, registry[agreed(ranks, index)].name, supported);
}

std::vector<MeasuredRow> probeRows(Ranks &ranks, const MeasureOptions &asked, const cost::Cluster &cluster,
                                   const cost::Placement &placement) {
  bool emulated = asked.transport.rfind("emulated", 0) == 0;
  std::unique_ptr<cost::Pricer> pricer;
  if (ranks.rank == 0)
    pricer = std::make_unique<cost::Pricer>(cluster, placement, cost::Engine::Braid, cost::BucketForm::OneLaunch);
  MeasureOptions options = asked;
  options.type = typeNamed("f32");
  options.seconds = asked.seconds / 4;
  double wall = ranks.wall(), clock = ranks.now();
  MeasuredRow small = measured(ranks, options, pricer.get(), shortSize);
  // Emulated clocks may run slower than the machine's.
  double stretch = (ranks.wall() - wall) / std::max(ranks.now() - clock, 1e-9);
  options.seconds = asked.seconds / 2;
  size_t bytes = largestLong;
  if (pricer)
    while (bytes > smallestLong &&
           cheapest(*pricer, bytes).time.value * std::max(1.0, emulated ? stretch : 1) * callsOfRow > options.seconds)
      bytes /= 2;
  MeasuredRow large = measured(ranks, options, pricer.get(), agreed(ranks, bytes));
  return {small, large};
}

} // namespace braid::bench
