//===- CalibratedNccl.cpp - ring and tree as NCCL runs them, with fitted constants ------------------------------===//
//
// n ranks on N hosts, g on the fullest; V bytes, p one of LL, LL128, Simple; capital constants are fitted, small ones
// published (NcclConstants.h).
//
//   ring  STARTUP base_p + RINGHOP_p (inside * hop_p + across * net_p) loaded + V / W * steps / n
//         steps = 2 (n - 1) for all_reduce, across = 2 (N - 1) of them between hosts
//         loaded = 1 + LOADED (1 - 1 / blocks): one proxy thread of a host moves all blocks of a step; a buffer smaller
//         than a block of 768 bytes (96 threads x 8 bytes) is one block that travels alone
//   tree  STARTUP base_p + TREEHOP_p (2 (g - 1) hop_p + 2 log2 N net_p N^LONG) + 2 log2 N min(V, CHUNK) / W
//         + 2 V / (W TREE), half of it on two hosts, where each byte crosses once each way
//   W     N^-CONTENTION times: Simple, SIMPLE of the bus bandwidth; LL128, LL128 of that, at most 120/128; LL, LOWLATENCY
//         of the published cap (half the bus bandwidth at most)
//
// The price of an algorithm is that of its cheapest protocol. What NCCL's own formula lacks, and what tables of
// MareNostrum 5 (4 to 64 hosts) show:
// - a tree loses at middle sizes because its first chunk has to travel all levels; NCCL's 24 factors per protocol stand
//   for that at every depth, so they cannot fit two scales at once (8 MiB: 0.6 of the bandwidth on 4 hosts, 0.3 on 64);
// - hops of trees get longer with the number of hosts, hops of rings do not: their neighbours stay near;
// - a loaded ring's hop takes 1.3 to 1.5 times as long as that of a single block.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/CalibratedNccl.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

using namespace nccl;

// assumption: 96 threads that move 8 bytes each; a buffer below it is one block that travels alone
static constexpr double loadedBlockBytes = 768;

/// LL sends as many flags as data, and is capped: by the GPU inside a host, by the processor over hosts. LL128 sends 8
/// bytes of flags with 120 of data.
static BytesPerSecond protocolRate(BytesPerSecond bus, int hosts, const Cluster &cluster, const FittedConstants &fitted,
                                   Protocol protocol) {
  BytesPerSecond full = bus * fitted[ncclfit::Bandwidth + Simple];
  if (protocol == Simple)
    return full;
  if (protocol == LL128)
    return full * std::min(ll128Data, fitted[ncclfit::Bandwidth + LL128]);
  int column = hosts == 1 ? ncclArchitecture(cluster) : cluster.nccl.cpu == "amd" ? Ampere : Volta;
  double published = std::min(0.5 * bus.value, 1e9 * llTotal[column][hosts == 1 ? 0 : hosts == 2 ? 1 : 2]);
  return {std::min(0.5 * full.value, published * fitted[ncclfit::Bandwidth + LL])};
}

/// No constants make a rank's bytes faster than the links that carry them: a price never falls below the lower bound.
static BytesPerSecond linkRate(const GroupShape &shape, const Cluster &cluster) {
  return shape.hosts > 1 ? cluster.inter.bandwidth * shape.nics : cluster.intra.bandwidth;
}

CalibratedParts calibratedNccl(const NcclQuestion &q, const Cluster &cluster, const FittedConstants &fitted,
                               Algorithm algorithm, Protocol protocol) {
  CalibratedParts parts;
  int n = q.shape.ranks, hosts = q.shape.hosts;
  bool allReduce = q.kind == CollectiveKind::AllReduce, nvlink = ncclHasNvlink(cluster);
  double bytes = double(q.bytes.value) * (q.kind == CollectiveKind::AllGather ? n : 1);
  double hop = (nvlink ? hopNvlinkUs : hopPcieUs)[algorithm][protocol];
  double net = hopNetUs[q.shape.perHost == 1 ? Tree : algorithm][protocol]; // alone on its host, nothing hides a hop
  BytesPerSecond bus = ncclBusBandwidth(q.shape, cluster);
  BytesPerSecond most = linkRate(q.shape, cluster);
  parts.rate = std::min(most, protocolRate(bus, hosts, cluster, fitted, protocol) *
                                  std::pow(hosts, -fitted[ncclfit::Contention]));
  parts.startUp = microseconds(fitted[ncclfit::StartUp] * baseLatencyUs[algorithm][protocol]);
  if (algorithm == Ring) {
    double steps = allReduce ? 2 * (n - 1) : q.kind == CollectiveKind::Broadcast ? n : n - 1;
    parts.acrossHops = hosts == 1 ? 0 : allReduce ? 2 * (hosts - 1) : hosts - 1;
    parts.insideHops = int(steps - parts.acrossHops);
    if (hosts > 1)
      hop =
          std::max(hop, (cluster.nccl.cpu == "amd" ? netOverheadAmdUs : netOverheadUs) * (protocol == Simple ? 3 : 1));
    double blocks = std::clamp(bytes / loadedBlockBytes, 1.0, double(n));
    double each = fitted[ncclfit::RingHop + protocol] * (1 + fitted[ncclfit::LoadedRing] * (1 - 1 / blocks));
    parts.inside = microseconds(each * parts.insideHops * hop);
    parts.across = microseconds(each * parts.acrossHops * net);
    parts.transfer = Seconds{bytes * steps / n / parts.rate.value};
    return parts;
  }
  double each = fitted[ncclfit::TreeHop + protocol];
  parts.insideHops = 2 * (q.shape.perHost - 1);
  parts.acrossHops = 2 * std::log2(hosts);
  parts.inside = microseconds(each * parts.insideHops * hop);
  parts.across = microseconds(each * parts.acrossHops * net * std::pow(hosts, fitted[ncclfit::LongTrees]));
  parts.fill = Seconds{parts.acrossHops * std::min(bytes, fitted[ncclfit::TreeChunk]) / parts.rate.value};
  parts.rate = std::min(most, parts.rate * fitted[ncclfit::TreeBandwidth]);
  parts.transfer = Seconds{(hosts == 2 ? 1 : 2) * bytes / parts.rate.value};
  return parts;
}

static Candidate candidate(const NcclQuestion &q, const Cluster &cluster, Algorithm algorithm, Protocol protocol) {
  CalibratedParts parts = calibratedNccl(q, cluster, cluster.ncclFit, algorithm, protocol);
  Candidate c;
  c.algorithm = algorithm == Ring ? "ring" : "tree";
  c.protocol = protocolNames[protocol];
  c.nodes = q.shape.hosts;
  c.channels = std::max(1, int(std::lround(cluster.nccl.channels *
                                           (c.nodes == 1 ? 1 : std::min(1.0, q.shape.nics / cluster.nicsPerHost)))));
  c.why.name = c.algorithm + ", " + c.protocol;
  c.why.how =
      text("latency + bytes / bandwidth with this cluster's calibration; %d ranks on %d host%s, at most %d on one",
           q.shape.ranks, q.shape.hosts, q.shape.hosts == 1 ? "" : "s", q.shape.perHost);
  // A ring runs the operations of a group call one after another, trees start them in batches.
  double count = algorithm == Ring ? q.operations : (q.operations + batchedCollectives - 1) / batchedCollectives;
  bool alone = c.nodes == 1; // the hops inside are all there is to vary
  const FabricProfile &noise = (alone ? cluster.intra : cluster.inter).profile;
  c.noisePerMessage = neighbourNoise(noise.bulkSigma);
  // Fits are of medians, which hold the mean noise of messages; the price without noise does not.
  double quiet = 1 / (1 + noise.bulkMean * c.noisePerMessage);
  (alone ? parts.inside : parts.across) = (alone ? parts.inside : parts.across) * quiet;
  addTerm(c, &Candidate::fixed, "start-up", parts.startUp * count,
          text("%.3g x %g us", cluster.ncclFit[ncclfit::StartUp], baseLatencyUs[algorithm][protocol]));
  if (parts.insideHops)
    addTerm(c, alone ? &Candidate::latency : &Candidate::fixed, "hops inside hosts", parts.inside * count,
            text("%d hops of %s", parts.insideHops, toString(parts.inside / parts.insideHops).c_str()));
  if (!alone) {
    addTerm(c, &Candidate::latency, "hops between hosts", parts.across * count,
            text("%.3g hops of %s", parts.acrossHops, toString(parts.across / parts.acrossHops).c_str()));
    if (parts.fill.value > 0)
      addTerm(
          c, &Candidate::wire, "filling the tree", parts.fill,
          text("a chunk of %s at %.3g levels",
               toString(Bytes{int64_t(std::min(double(q.bytes.value), cluster.ncclFit[ncclfit::TreeChunk]))}).c_str(),
               parts.acrossHops));
  }
  addTerm(c, alone ? &Candidate::fixed : &Candidate::wire, "transfer", parts.transfer,
          text("bus bandwidth %s", toString(parts.rate).c_str()));
  c.serialMessages = (alone ? parts.insideHops : parts.acrossHops) * count;
  if (!alone)
    c.streamsPerNic = std::max(1, int(std::lround(c.channels / std::max(1.0, q.shape.nics))));
  if (algorithm == Ring && q.float8 && q.kind == CollectiveKind::AllReduce && q.shape.ranks > fp8RingRanks) {
    for (Seconds Candidate::*part : {&Candidate::fixed, &Candidate::latency, &Candidate::wire})
      c.*part = c.*part * fp8RingPenalty;
    c.why.how += text("; x %g: NCCL avoids rings of 8-bit floats", fp8RingPenalty);
  }
  sumUp(c);
  return c;
}

std::vector<Candidate> calibratedNcclCandidates(const NcclQuestion &question, const Cluster &cluster) {
  std::vector<Candidate> all;
  for (Algorithm algorithm : {Tree, Ring})
    for (Protocol protocol : {LL, LL128, Simple})
      if ((algorithm == Ring || question.kind == CollectiveKind::AllReduce) &&
          (protocol != LL128 || ncclHasNvlink(cluster)))
        all.push_back(candidate(question, cluster, algorithm, protocol));
  return all;
}

} // namespace braid::cost
