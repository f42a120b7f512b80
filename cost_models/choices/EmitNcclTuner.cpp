//===- EmitNcclTuner.cpp - choices as NCCL's tuner plugin reads them --------------------------------------------===//
//
// Sizes are NCCL's: the larger of what a rank sends and receives, which for an all_gather is its result. In every range stand all
// candidates of the engine in the order of their prices, so that where NCCL can't take the first (LL128 over some paths, say) the
// next is the best of the rest. The format is described in runtime/engines/nccl/tuner/README.md.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Choices.h"
#include "pricing/NcclConstants.h"
#include "pricing/NcclModel.h"
#include "topology/JsonText.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

/// NCCL's algorithms that the model has no price for (ncclNotModelled).
static constexpr const char *unpriced = "\"collnet_direct\", \"collnet_chain\", \"nvls\", \"nvls_tree\", \"pat\"";

static std::string orderOf(const Ranking &ranking, int64_t) {
  std::string out;
  for (const Candidate *candidate : ranking)
    out += candidate->algorithm + " " + candidate->protocol + "; ";
  return out;
}

/// From so many bytes on NCCL takes all channels by itself: each thread of each has its least share.
// source: NVIDIA/nccl 2.30.7 src/enqueue.cc (topoGetAlgoInfo), src/include/comm.h
static int64_t allChannelsFrom(const Candidate &c, int ranks) {
  bool lowLatency = c.protocol == "LL", lines = c.protocol == "LL128";
  int64_t threads = lines ? 640 : 512;
  int64_t least = !lowLatency && !lines ? 64 : lowLatency && c.algorithm == "ring" ? 8 * int64_t(ranks) : 8;
  return c.channels * threads * least;
}

/// "base latency 6.80 us + transfer 10.7 us": the price's terms.
static std::string termsOf(const Candidate &candidate) {
  std::string out;
  for (const PriceTerm &part : candidate.why.parts)
    out += (out.empty() ? "" : " + ") + part.name + " " + toString(part.time);
  return out.empty() ? candidate.why.how : out;
}

/// setting: to 0.1 ns
static std::string microsecondsOf(Seconds time) { return number(std::round(time.value * 1e10) / 1e4); }

static std::string choicesOf(const ChoiceRange &range, int ranks) {
  std::string out;
  for (size_t i = 0; i < range.first.size(); ++i) {
    const Candidate &c = *range.first[i];
    out += std::string(i ? ",\n        " : "") + "{\"algorithm\": " + quoted(c.algorithm) +
           ", \"protocol\": " + quoted(c.protocol) + ", \"channels\": " + std::to_string(std::min(c.channels, 64)) +
           ", \"channels_from_bytes\": " + std::to_string(allChannelsFrom(c, ranks)) + ", \"predicted_us\": [" +
           microsecondsOf(c.time) + ", " + microsecondsOf(range.last[i]->time) + "]}";
  }
  return out;
}

static std::string collectiveOf(CollectiveKind kind, const CommunicatorShape &shape,
                                const std::shared_ptr<const RankGroups> &groups, const Cluster &cluster, Bytes most) {
  Placement packed;
  for (int device = 0; device < cluster.ranks(); ++device)
    packed.deviceOf.push_back(device);
  Pricer pricer(cluster, packed, Engine::Nccl, BucketForm::OneLaunch); // its cache goes when the collective is done
  int64_t unit = kind == CollectiveKind::AllGather ? shape.ranks : 1;  // NCCL's size of an operand of one byte
  CollectiveSpec spec;
  spec.kind = kind;
  spec.groups = groups;
  auto rank = [&](int64_t size) {
    spec.bytes = {size};
    Ranking ranking;
    for (const Candidate &candidate : pricer.candidates(spec))
      if (candidate.algorithm != composition) // NCCL does not choose it by itself
        ranking.push_back(&candidate);
    return ranking;
  };
  std::string out;
  for (const ChoiceRange &range : choiceRanges(std::max<int64_t>(1, most.value / unit), rank, orderOf)) {
    int64_t from = out.empty() ? 1 : range.from * unit, to = (range.to + 1) * unit - 1;
    out += std::string(out.empty() ? "" : ",\n") + "     {\"min_bytes\": " + std::to_string(from) +
           ", \"max_bytes\": " + std::to_string(to) +
           ",\n      \"why\": " + quoted("at " + toString(Bytes{range.at * unit}) + ": " + termsOf(*range.middle[0])) +
           ",\n      \"choices\": [" + choicesOf(range, shape.ranks) + "]}";
  }
  return "    " + quoted(algorithms::name(kind)) + ": [\n" + out + "]";
}

/// The calibrated model's latencies and caps as NCCL's formula has them. What it has no place for stays behind: what a loaded ring
/// takes longer, filling a tree, bandwidths of LL128 and Simple.
static std::string constantsOf(const CommunicatorShape &shape, const Cluster &cluster) {
  using namespace nccl;
  const FittedConstants &fit = cluster.ncclFit;
  auto table = [&](const char *name, auto value) {
    std::string out = std::string("    ") + quoted(name) + ": {";
    for (Algorithm a : {Tree, Ring}) {
      out += std::string(a == Tree ? "" : ", ") + (a == Tree ? "\"tree\": {" : "\"ring\": {");
      for (Protocol p : {LL, LL128, Simple})
        out += std::string(p ? ", " : "") + quoted(protocolNames[p]) + ": " + number(value(a, p));
      out += "}";
    }
    return out + "}";
  };
  auto hop = [&](Algorithm a, Protocol p) { return fit[(a == Ring ? ncclfit::RingHop : ncclfit::TreeHop) + p]; };
  double levels = std::log2(std::max(1, shape.nodes)); // NCCL rounds them down
  double longer = std::pow(shape.nodes, fit[ncclfit::LongTrees]) * (levels >= 1 ? levels / std::floor(levels) : 1);
  std::string caps;
  for (int generation = 0; generation < 4; ++generation) {
    caps += generation ? ", [" : "[";
    for (int scale = 0; scale < 3; ++scale)
      caps += (scale ? ", " : "") + number(llTotal[generation][scale] * fit[ncclfit::Bandwidth + LL] *
                                           std::pow(shape.nodes, -fit[ncclfit::Contention]));
    caps += "]";
  }
  return table("base_latency", [&](Algorithm a, Protocol p) { return fit[ncclfit::StartUp] * baseLatencyUs[a][p]; }) +
         ",\n" + table("hop_latency_nvlink", [&](Algorithm a, Protocol p) { return hop(a, p) * hopNvlinkUs[a][p]; }) +
         ",\n" + table("hop_latency_pcie", [&](Algorithm a, Protocol p) { return hop(a, p) * hopPcieUs[a][p]; }) +
         ",\n" +
         table("hop_latency_network",
               [&](Algorithm a, Protocol p) { return hop(a, p) * hopNetUs[a][p] * (a == Tree ? longer : 1); }) +
         ",\n    \"ll_most\": [" + caps + "]";
}

Result<std::string> emitNcclTuner(const Cluster &cluster, const TunerRequest &request) {
  if (request.constants && cluster.ncclFit.empty())
    return Error{"constants, expected a cluster file with the section calibration.nccl (braid-bench fit writes it), "
                 "got none: NCCL's "
                 "own constants would stay",
                 cluster.path};
  if (cluster.ranks() < 2)
    return Error{"cluster, expected at least 2 devices, got 1: nothing to choose", cluster.path};
  std::string out = "{\"format\": \"braid-nccl-tuner 1\",\n \"cluster\": {\"name\": " + quoted(cluster.name) +
                    ", \"hash\": " + quoted(cluster.hash) + "},\n \"keep\": [" + (request.overrule ? "" : unpriced) +
                    "],\n \"communicators\": [";
  bool first = true;
  for (const CommunicatorShape &shape : request.shapes.empty() ? usualShapes(cluster) : request.shapes) {
    Result<std::shared_ptr<const RankGroups>> groups = groupsOf(shape, cluster);
    if (!groups)
      return groups.error();
    out += std::string(first ? "" : ",") + "\n  {\"ranks\": " + std::to_string(shape.ranks) +
           ", \"nodes\": " + std::to_string(shape.nodes) +
           (request.constants ? ", \"constants\": {\n" : ", \"collectives\": {\n");
    first = false;
    if (request.constants)
      out += constantsOf(shape, cluster);
    else
      for (CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
                                  CollectiveKind::Broadcast})
        out += (kind == CollectiveKind::AllReduce ? "" : ",\n") +
               collectiveOf(kind, shape, *groups, cluster, request.most);
    out += "}}";
  }
  return out + "]}\n";
}

} // namespace braid::cost
