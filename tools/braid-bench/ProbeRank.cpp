//===- ProbeRank.cpp - one rank's part in the measurements of a probe -------------------------------------------------===//
#include "ProbeRank.h"
#include "MeasureCell.h"
#include <algorithm>

namespace braid::bench {

constexpr size_t shortSize = 1 << 10, smallestLong = 64 << 10, largestLong = 16 << 20;
constexpr double longestShort = 5e-4; ///< seconds; what takes longer waits for a processor, not for a message
constexpr int callsOfRow = 24;        ///< that a row takes at least: 2 checks, 10 to warm up, 12 samples

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

/// Of the cheapest algorithm for this size, the same on all ranks.
static const std::string &algorithmFor(Ranks &ranks, const cost::Pricer *pricer, size_t bytes) {
  const std::vector<algorithms::Algorithm> &registry = algorithms::registry();
  size_t index = 0;
  if (pricer)
    while (index + 1 < registry.size() && registry[index].name != cheapest(*pricer, bytes).algorithm)
      ++index;
  return registry[agreed(ranks, index)].name;
}

/// The largest size of which a row takes no longer than `seconds`: by what calls take here, whatever the cluster file says, and
/// by what it takes to compare each element with the sum over all ranks, on processors that ranks may have to share.
static size_t longSize(Ranks &ranks, const MeasureOptions &options, const cost::Pricer *pricer, double seconds) {
  constexpr size_t tried = 1 << 20;
  constexpr double compared = 2e-9; // seconds of an element and a rank
  auto secondsOf = [&](size_t bytes) {
    return secondsOfOne(ranks, options, Kind::AllReduce, bytes, algorithmFor(ranks, pricer, bytes));
  };
  double least = secondsOf(smallestLong),
         slope = std::max(0.0, secondsOf(tried) - least) / double(tried - smallestLong);
  double share = std::max(1.0, double(ranks.ranks) / ranks.hosts / ranks.processors);
  size_t bytes = largestLong;
  while (bytes > smallestLong) {
    double call = least + slope * double(bytes - smallestLong);
    double check = double(bytes / options.type->bytes) * ranks.ranks * compared * share;
    if (call * callsOfRow + 2 * check <= seconds)
      break;
    bytes /= 2;
  }
  return agreed(ranks, bytes);
}

std::string waiting(const Ranks &ranks, const MeasuredRow &small) {
  return "measured: expected " + cost::toString(cost::Bytes{int64_t(small.bytes)}) + " in less than " +
         cost::toString(cost::Seconds{longestShort}) + ", got " + cost::toString(cost::Seconds{small.median.value}) +
         "; do the " + std::to_string(ranks.ranks / ranks.hosts) + " ranks of a host wait for its " +
         std::to_string(ranks.processors) + " processors? (fewer ranks, or when the machine is idle)";
}

std::vector<MeasuredRow> probeRows(Ranks &ranks, const MeasureOptions &asked, const cost::Cluster &cluster,
                                   const cost::Placement &placement) {
  std::unique_ptr<cost::Pricer> pricer;
  if (ranks.rank == 0)
    pricer = std::make_unique<cost::Pricer>(cluster, placement, cost::Engine::Braid, cost::BucketForm::OneLaunch);
  MeasureOptions options = asked;
  options.type = typeNamed("f32");
  options.channels = options.chunks = 1; // as it was priced
  auto measured = [&](size_t bytes, double seconds) {
    bool supported = true;
    options.seconds = seconds;
    return measureCell(ranks, options, Kind::AllReduce, bytes, algorithmFor(ranks, pricer.get(), bytes), supported);
  };
  MeasuredRow small = measured(shortSize, asked.seconds / 4);
  if (asked.transport.rfind("emulated", 0) != 0 && small.median.value > longestShort)
    return {small}; // the same on all ranks
  size_t bytes = longSize(ranks, options, pricer.get(), asked.seconds / 2);
  return {small, measured(bytes, asked.seconds / 2)};
}

} // namespace braid::bench
