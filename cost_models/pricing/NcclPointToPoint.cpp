//===- NcclPointToPoint.cpp - all_to_all and permute as grouped sends and receives ------------------------------===//
//
// NCCL has no formula for these: it runs them as grouped ncclSend and ncclRecv, Simple over the network (its
// connections have no LL buffers by default), and inside a host LL up to 16 KiB a message. The price is
//
//   base + one hop + the proxy's work for each further peer on another host + the busier of the two link classes
//
// with a ring's base and hop latencies, and the bandwidth that the NICs reach in collectives (bus bandwidth / NICs).
// Nothing is published to check it against but the all_to_all row of one A100 host.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/NcclConstants.h"
#include "pricing/NcclModel.h"
#include "pricing/Terms.h"
#include <algorithm>

namespace braid::cost {

using namespace nccl;

/// What one NIC carries in collectives: the file's bus bandwidth is that of all NICs of a host.
static BytesPerSecond perNic(const Cluster &cluster) {
  return std::min(cluster.nccl.busBandwidthInter * (1.0 / cluster.nicsPerHost), cluster.inter.bandwidth);
}

/// Sends of one rank: `intra` bytes to ranks on its host, `inter` bytes through a NIC that gives it `nicRate`.
static Candidate pointToPoint(const Cluster &cluster, double messageBytes, int intraPeers, int interPeers,
                              double interLoad, BytesPerSecond nicRate) {
  Candidate c;
  Protocol protocol = interPeers == 0 && messageBytes <= pointToPointLlBytes ? LL : Simple;
  c.algorithm = "point-to-point";
  c.protocol = protocolNames[protocol];
  c.channels = cluster.nccl.channels;
  c.why.name = c.algorithm + ", " + c.protocol;
  c.why.how = text(
      "grouped sends and receives; no published formula: ring latencies, NIC bandwidth; %d peer%s on the host, %d on "
      "other hosts",
      intraPeers, intraPeers == 1 ? "" : "s", interPeers);
  addTerm(c, &Candidate::fixed, "base latency", microseconds(baseLatencyUs[Ring][protocol]),
          text("%g us", baseLatencyUs[Ring][protocol]));
  BytesPerSecond intraRate =
      std::min(cluster.nccl.busBandwidthIntra, cluster.intra.bandwidth) * (protocol == LL ? 0.5 : 1);
  Seconds intra{intraPeers * messageBytes / intraRate.value};
  if (interPeers == 0) {
    double hop = (ncclHasNvlink(cluster) ? hopNvlinkUs : hopPcieUs)[Ring][protocol];
    addTerm(c, &Candidate::latency, "hop inside the host", microseconds(hop), text("%g us", hop));
    addTerm(c, &Candidate::wire, "transfer", intra,
            text("%d x ", intraPeers) + toString(Bytes{int64_t(messageBytes)}) + " / " + toString(intraRate));
    c.serialMessages = 1;
    c.noisePerMessage = maximumNoise(cluster.intra.profile.bulkSigma, intraPeers);
  } else {
    double overhead = (cluster.nccl.cpu == "amd" ? netOverheadAmdUs : netOverheadUs);
    addTerm(c, &Candidate::latency, "hop between hosts", microseconds(hopNetUs[Ring][protocol]),
            text("%g us", hopNetUs[Ring][protocol]));
    if (interPeers > 1)
      addTerm(c, &Candidate::fixed, "proxy work", microseconds(overhead * (interPeers - 1)),
              text("%d further peers x %g us", interPeers - 1, overhead));
    Seconds wire{interLoad * messageBytes / nicRate.value};
    addTerm(c, &Candidate::wire, "transfer between hosts", wire,
            text("%g x ", interLoad) + toString(Bytes{int64_t(messageBytes)}) + " / " + toString(nicRate));
    if (intra > wire)
      addTerm(c, &Candidate::fixed, "transfer inside the host beyond it", intra - wire, "the two run at once");
    c.serialMessages = 1;
    c.noisePerMessage = maximumNoise(cluster.inter.profile.bulkSigma, interPeers);
  }
  sumUp(c);
  return c;
}

Candidate ncclAllToAll(const NcclQuestion &question, const Cluster &cluster) {
  const GroupShape &shape = question.shape;
  double message = double(question.bytes.value) / shape.ranks;
  int interPeers = shape.hosts == 1 ? 0 : shape.ranks - shape.perHost;
  // A rank's part of the NICs that its group has on a host.
  BytesPerSecond rate = perNic(cluster) * (shape.nics / shape.perHost);
  // The rank with the most peers on other hosts sits on the emptiest host; with even groups all have the same.
  if (shape.hosts > 1 && shape.perHost * shape.hosts != shape.ranks)
    interPeers = std::max(interPeers, shape.ranks - shape.ranks / shape.hosts);
  Candidate c = pointToPoint(cluster, message, shape.perHost - 1, interPeers, interPeers, rate);
  c.nodes = shape.hosts;
  c.streamsPerNic = shape.perHost; // and other hosts, see UplinkFlows
  return c;
}

Candidate ncclRaggedAllToAll(const PointToPointLoad &load, const GroupShape &shape, const Cluster &cluster) {
  bool inter = load.interPeers > 0;
  double bytes = inter ? load.interBytes : load.intraBytes;
  int peers = inter ? load.interPeers : load.intraPeers;
  BytesPerSecond rate = perNic(cluster) * (inter ? shape.nics / shape.perHost : 1);
  Candidate c = pointToPoint(cluster, bytes / std::max(1, peers), load.intraPeers, load.interPeers, peers, rate);
  c.why.how += "; the rank with most to move, its blocks taken as equal";
  c.nodes = shape.hosts;
  c.streamsPerNic = shape.perHost;
  return c;
}

Candidate ncclPermute(Bytes bytes, const PermuteLayout &layout, const Cluster &cluster) {
  bool inter = layout.interPairs > 0;
  Candidate c =
      pointToPoint(cluster, double(bytes.value), layout.intraPairs > 0, inter, layout.nicLoad, perNic(cluster));
  c.nodes = layout.hosts;
  if (inter) // every message must arrive
    c.noisePerMessage = maximumNoise(cluster.inter.profile.bulkSigma, layout.interPairs);
  return c;
}

} // namespace braid::cost
