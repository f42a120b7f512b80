//===- NcclModel.cpp - ring and tree by NCCL's published formula ------------------------------------------------===//
//
//   time = latency * latCount + bytes / W      bytes: the larger of what a rank sends and receives in all
//
//   latency  ring: base + (steps - inter) * max(intra hop, overhead) + inter * net hop
//            tree: base + 2 * ((g - 1) * intra hop + floor(log2 N) * net hop)      chain in the host, double tree over
//            hosts
//   W        bus bandwidth x protocol x caps x ratio of algorithm to bus bandwidth (ring n / steps, tree 1/2)
//
// with n ranks on N hosts, g of them on the fullest host (NCCL: n / N, the same where they are spread evenly), steps =
// 2 (n - 1) for all_reduce, n - 1 for all_gather and reduce_scatter, inter = 2 (N - 1) or N - 1.
//
// Departures from NCCL, on purpose:
// - The bus bandwidth is the cluster file's (measured or derived), not the product of a graph search; a group gets the
// part of
//   it that its NICs are of the host's, since groups that run at once share the host's NICs.
// - On two hosts NCCL uses its figure for the inside of a host; here the fabric's is used, because the bytes cross it.
// - The factor of the tree is interpolated between powers of two (see ncclTreeFactor).
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/NcclModel.h"
#include "pricing/CalibratedNccl.h"
#include "pricing/NcclConstants.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cctype>
#include <cmath>

namespace braid::cost {

using namespace nccl;

int ncclArchitecture(const Cluster &cluster) {
  const std::string &name = cluster.nccl.architecture;
  return name == "volta" ? Volta : name == "ampere" ? Ampere : name == "blackwell" ? Blackwell : Hopper;
}

bool ncclHasNvlink(const Cluster &cluster) {
  std::string names = cluster.intra.name + " " + cluster.intra.profile.name;
  std::transform(names.begin(), names.end(), names.begin(), [](unsigned char c) { return std::tolower(c); });
  return names.find("nvlink") != std::string::npos;
}

static double gigabytes(BytesPerSecond rate) { return rate.value / 1e9; }

static BytesPerSecond interBus(const GroupShape &shape, const Cluster &cluster) {
  double share = std::min(1.0, shape.nics / cluster.nicsPerHost);
  // Never above what the NICs' links carry: that is the lower bound's rate.
  return std::min(cluster.nccl.busBandwidthInter * share, cluster.inter.bandwidth * shape.nics);
}

BytesPerSecond ncclBusBandwidth(const GroupShape &shape, const Cluster &cluster) {
  BytesPerSecond intra = std::min(cluster.nccl.busBandwidthIntra, cluster.intra.bandwidth);
  if (shape.hosts <= 1)
    return intra;
  BytesPerSecond inter = interBus(shape, cluster);
  return shape.perHost > 1 ? std::min(intra, inter) : inter;
}

double ncclTreeFactor(int protocol, double bytes) {
  double place = std::log2(std::max(bytes, treeFactorBytes) / treeFactorBytes);
  int below = int(place);
  if (below >= treeFactors)
    return 1;
  double low = treeFactor[protocol][below], high = below + 1 < treeFactors ? treeFactor[protocol][below + 1] : 1;
  return low + (high - low) * (place - below);
}

namespace {

/// One cell of NCCL's cost table.
class Cell {
public:
  Cell(const NcclQuestion &question, const Cluster &cluster, Algorithm algorithm, Protocol protocol)
      : q(question), cluster(cluster), algorithm(algorithm), protocol(protocol), n(q.shape.ranks), hosts(q.shape.hosts),
        scale(hosts == 1   ? 0
              : hosts == 2 ? 1
                           : 2),
        architecture(ncclArchitecture(cluster)), nvlink(ncclHasNvlink(cluster)) {
    bool allReduce = q.kind == CollectiveKind::AllReduce;
    steps = allReduce ? 2 * (n - 1) : q.kind == CollectiveKind::Broadcast ? n : n - 1;
    interSteps = hosts == 1 ? 0 : allReduce ? 2 * (hosts - 1) : hosts - 1;
    bytes = double(q.bytes.value) * (q.kind == CollectiveKind::AllGather ? n : 1);
    bus = ncclBusBandwidth(q.shape, cluster);
    double nics = hosts == 1 ? cluster.nicsPerHost : q.shape.nics;
    channels = std::max(1, int(std::lround(cluster.nccl.channels * std::min(1.0, nics / cluster.nicsPerHost))));
  }

  /// NCCL's default: NVLink in the host and compute capability 7.0 or later.
  bool available() const { return protocol != LL128 || nvlink; }

  Candidate price() {
    Candidate c;
    c.algorithm = algorithm == Ring ? "ring" : "tree";
    c.protocol = protocolNames[protocol];
    c.channels = channels;
    c.nodes = hosts;
    c.why.name = c.algorithm + ", " + c.protocol;
    c.why.how = text("latency + bytes / bandwidth, NCCL 2.30.7 tuning model; %d ranks on %d host%s, at most %d on one",
                     n, hosts, hosts == 1 ? "" : "s", q.shape.perHost);
    addLatency(c);
    addTransfer(c);
    c.noisePerMessage = neighbourNoise((hosts == 1 ? cluster.intra : cluster.inter).profile.bulkSigma);
    sumUp(c);
    return c;
  }

private:
  void addLatency(Candidate &c) {
    double intraHop = (nvlink ? hopNvlinkUs : hopPcieUs)[algorithm][protocol];
    // With one GPU per host nothing hides a hop: NCCL takes the tree's.
    double netHop = hopNetUs[q.shape.perHost == 1 ? Tree : algorithm][protocol];
    double intra = 0, inter = 0; // number of hops
    std::string intraHow = text("%g us", intraHop);
    const char *netHow = "NIC latency 0, as NCCL's network plugins report";
    if (algorithm == Tree) {
      intra = 2 * (q.shape.perHost - 1);
      inter = 2 * std::floor(std::log2(hosts));
    } else if (q.kind == CollectiveKind::Broadcast) {
      if (hosts == 1) {
        intra = 1; // all channels take the same way
      } else {     // they do not: NCCL counts every rank at the price of the network
        inter = n;
        netHop = hopNetUs[protocol == Simple ? Tree : algorithm][protocol];
      }
    } else {
      intra = steps - interSteps;
      inter = interSteps;
      if (hosts > 1) {
        double overhead = (cluster.nccl.cpu == "amd" ? netOverheadAmdUs : netOverheadUs) *
                          (protocol == Simple ? netOverheadSimple : 1);
        intraHow = text("max(%g us, %g us of proxy work)", intraHop, overhead);
        intraHop = std::max(intraHop, overhead);
      }
    }
    // Tree operations of a group call are started in batches, ring operations one after another.
    double count = algorithm == Ring ? q.operations : (q.operations + batchedCollectives - 1) / batchedCollectives;
    std::string times = count > 1 ? text(", %g operations in the group call", count) : "";
    double factor = 1;
    if (algorithm == Ring && protocol == Simple && hosts > 1 && q.kind == CollectiveKind::AllReduce &&
        bytes >= double(plateauBytes) * cluster.nccl.channels * n) {
      factor = architecture == Volta ? plateauVolta : plateau;
      times += text(", x %g: %ld bytes or more per channel and rank", factor, plateauBytes);
    }
    if (algorithm == Ring && q.float8 && q.kind == CollectiveKind::AllReduce && n > fp8RingRanks) {
      factor *= fp8RingPenalty;
      times += text(", x %g: NCCL avoids rings of 8-bit floats", fp8RingPenalty);
    }
    addTerm(c, &Candidate::fixed, "base latency", microseconds(baseLatencyUs[algorithm][protocol] * count * factor),
            text("%g us", baseLatencyUs[algorithm][protocol]) + times);
    if (intra > 0) // inside one host the hops are all there is to vary
      addTerm(c, hosts == 1 ? &Candidate::latency : &Candidate::fixed, "hops inside hosts",
              microseconds(intra * intraHop * count * factor),
              text("%g x ", intra) + intraHow + (nvlink ? " over NVLink" : " over PCIe") + times);
    if (inter > 0)
      addTerm(c, &Candidate::latency, "hops between hosts", microseconds(inter * netHop * count * factor),
              text("%g x %g us, ", inter, netHop) + netHow + times);
    c.serialMessages = (hosts == 1 ? intra : inter) * count;
  }

  void addTransfer(Candidate &c) {
    double rate = gigabytes(bus), ratio = algorithm == Ring ? double(n) / steps : 0.5, inflation = 1;
    std::string how = text("bus %.4g GB/s (", rate);
    if (hosts == 1 || bus < interBus(q.shape, cluster))
      how += hosts == 1 ? "cluster file, intra)" : "cluster file, intra: the slower)";
    else
      how += text("cluster file, inter; %.3g of %d NICs)", q.shape.nics, cluster.nicsPerHost);
    auto scaled = [&](double factor, const char *why) {
      rate *= factor;
      how += text(" x %.4g (%s)", factor, why);
    };
    auto capped = [&](double cap, const char *why) {
      if (rate > cap) {
        rate = cap;
        how += text(", at most %.4g (%s)", cap, why);
      }
    };
    // LL by the GPU inside a host, by the CPU over hosts: Intel's column is Volta's, AMD's Ampere's.
    double llCap = llTotal[hosts == 1 ? architecture : cluster.nccl.cpu == "amd" ? Ampere : Volta][scale];
    if (algorithm == Ring && protocol == LL) {
      scaled(llData, "LL: half is flags");
      capped(llCap, "LL");
      inflation = 1 / llData;
    } else if (algorithm == Ring && protocol == LL128) {
      scaled(ringLl128, "LL128");
      capped(channels * ringLl128PerChannel[architecture][scale], "LL128, channels");
      inflation = 1 / ringLl128;
    } else if (algorithm == Tree) {
      scaled(treeShare, "tree");
      capped(channels * treePerChannel[architecture][scale], "tree, channels");
      if (protocol == LL) {
        scaled(treeLl, "LL");
        capped(llCap, "LL");
        inflation = 1 / llData;
      } else if (protocol == LL128) {
        scaled(hosts == 1 ? treeLl128Inside : ll128Data, "LL128");
        capped(channels * treeLl128PerChannel[architecture][scale], "LL128, channels");
        inflation = 1 / ll128Data;
      }
      scaled(ncclTreeFactor(protocol, bytes), "tree at this size");
    }
    rate *= ratio;
    how += text(", x %s to algorithm bandwidth %.4g GB/s", algorithm == Tree ? "1/2" : text("%d/%d", n, steps).c_str(),
                rate);
    Seconds time{bytes / (rate * 1e9)};
    // The part that the links are busy: it alone suffers when flows collide. A tree of two hosts sends each byte once
    // each way.
    double traffic = algorithm == Ring ? 1 / ratio : hosts == 2 ? 1 : 2;
    Seconds wire = std::min(time, Seconds{bytes * traffic * inflation / bus.value});
    if ((time - wire).value < 1e-12 * time.value)
      wire = time;
    c.wire += wire;
    c.fixed += time - wire;
    c.why.parts.push_back({"transfer", time, toString(Bytes{int64_t(bytes)}) + ": " + how, {}});
    if (hosts > 1) {
      if (wire < time)
        c.why.parts.back().parts = {{"links busy", wire, "grows when flows collide", {}},
                                    {"protocol and algorithm", time - wire, "does not", {}}};
      c.streamsPerNic = std::max(1, int(std::lround(channels / std::max(1.0, q.shape.nics)))); // each channel connects
    }
  }

  const NcclQuestion &q;
  const Cluster &cluster;
  Algorithm algorithm;
  Protocol protocol;
  int n, hosts, scale, architecture;
  bool nvlink;
  int steps, interSteps, channels;
  double bytes;
  BytesPerSecond bus;
};

} // namespace

std::vector<Candidate> ncclCollective(const NcclQuestion &question, const Cluster &cluster) {
  if (!cluster.ncclFit.empty())
    return calibratedNcclCandidates(question, cluster);
  std::vector<Candidate> candidates;
  for (Algorithm algorithm : {Tree, Ring}) {
    if (algorithm == Tree && question.kind != CollectiveKind::AllReduce)
      continue;
    for (Protocol protocol : {LL, LL128, Simple}) {
      Cell cell(question, cluster, algorithm, protocol);
      if (cell.available())
        candidates.push_back(cell.price());
    }
  }
  return candidates;
}

std::vector<std::string> ncclNotModelled(const Cluster &cluster) {
  std::vector<std::string> sentences = {"NVLS and NVLSTree (reduction in the switch)",
                                        "CollNetDirect and CollNetChain (SHARP)",
                                        "kernels for registered symmetric memory"};
  if (cluster.devicesPerHost == 1)
    sentences.push_back("PAT (all_gather and reduce_scatter with one GPU per host)");
  else
    sentences.push_back("PAT (NCCL uses it only with one GPU per host)");
  return sentences;
}

} // namespace braid::cost
