//===- Composed.cpp - an all_reduce run as a reduce_scatter and an all_gather -----------------------------------===//
//
//   all_reduce of V bytes over n ranks  =  reduce_scatter of W bytes, then all_gather of W / n bytes from each
//
// where W is V, up to the next multiple of n elements. A ring all_reduce is these two in one launch, so a step program
// never gains by two. An engine's own all_reduce may be dearer than its halves, though: NCCL's tuning model makes the hops
// of a Simple ring all_reduce over hosts 1.4 times as long, those of reduce_scatter and all_gather not. What shards (ZeRO)
// runs the halves.
//
// No engine chooses this by itself; who runs the collectives has to be given two.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/Composed.h"
#include "pricing/Terms.h"
#include <algorithm>

namespace braid::cost {

int uniformGroupSize(const RankGroups &groups, int everyone) {
  int size = groups.groups.empty() ? everyone : int(groups.groups.front().size());
  for (const std::vector<int> &group : groups.groups)
    if (int(group.size()) != size || std::count(group.begin(), group.end(), -1))
      return 0;
  return size > 1 ? size : 0;
}

Bytes paddedBytes(const CollectiveSpec &spec, int ranks) {
  int64_t unit = elementBytes(spec.elementType) * ranks;
  return {(spec.bytes.value + unit - 1) / unit * unit};
}

static Candidate oneAfterTheOther(const Candidate &scatter, const Candidate &gather) {
  Candidate c = scatter;
  c.algorithm = composition;
  c.fixed += gather.fixed;
  c.latency += gather.latency;
  c.wire += gather.wire;
  c.serialMessages += gather.serialMessages;
  c.exposedNodes = 2 * std::max(c.nodes, c.exposedNodes); // two operations, each with spikes of its own
  c.why = {c.algorithm + ", " + c.protocol, {}, "a reduce_scatter, then an all_gather", {scatter.why, gather.why}};
  sumUp(c);
  return c;
}

std::optional<Candidate> composedAllReduce(const CollectiveSpec &spec, int ranks, EngineModel &engine) {
  Bytes whole = paddedBytes(spec, ranks);
  CollectiveSpec scatter = spec, gather = spec;
  scatter.kind = CollectiveKind::ReduceScatter;
  scatter.bytes = whole;
  gather.kind = CollectiveKind::AllGather;
  gather.bytes = {whole.value / ranks};
  std::optional<Candidate> best;
  std::vector<Candidate> gathers = engine.candidates(gather, 1);
  for (const Candidate &first : engine.candidates(scatter, 1))
    for (const Candidate &second : gathers)
      if (first.algorithm == second.algorithm && first.protocol == second.protocol) {
        Candidate both = oneAfterTheOther(first, second);
        if (!best || both.time < best->time)
          best = std::move(both);
      }
  if (best)
    best->why.how += " (" + toString(scatter.bytes) + ", " + toString(gather.bytes) + " of each rank)" +
                     (whole.value > spec.bytes.value ? ", padded by " + toString(Bytes{whole.value - spec.bytes.value})
                                                     : std::string());
  return best;
}

} // namespace braid::cost
