//===- FairShare.cpp - very many ranks on a machine that is not the same everywhere --------------------------------===//
//
// Where messages of ranks that do not play are in the way of those that do (fewer links up than down, NICs that devices share), or
// where the machine is not the same everywhere (three tiers, hashes, planes, hosts that differ), one rank of each kind cannot stand
// for the others (Kinds.h), and all of them are played. Of very many that would take hours, and more memory than there is.
//
// These are priced on an even machine instead: hosts of as many devices, a NIC for each, two levels with a link up for each NIC.
// Its links have the bandwidth that a flow has on the real ones when all ranks send at once,
//
//   inside hosts  to the next rank
//   NICs          to the next host and half of the group away
//   spines        half of the group away, the busiest of spines' and cores' links
//
// where the busiest link of each level decides, as a collective waits for its slowest flow. A message across a spine takes as long as
// the longest way. An estimate: who sends while others do not gets too little, and messages that meet in other ways than these are
// not seen. 1,152 ranks are priced 54 % too dear to 28 % too cheap on the machines that it is compared on (test/unit/ClosedFormTest.cpp).
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/Lines.h"
#include "pricing/Terms.h"
#include <algorithm>

namespace braid::cost {

namespace {

using Level = Topology::Level;

/// Seconds a byte that each rank sends takes on the busiest link of a level; 0: none is used.
struct Shares {
  double inside = 0, nics = 0, spines = 0;

  /// Everyone sends to the rank that is `away` further.
  void see(const FormQuestion &q, int away) {
    std::vector<double> load(q.topology.links().size());
    for (int rank = 0; rank < q.ranks; ++rank) {
      std::vector<Topology::Path> ways = q.topology.ways(q.first + rank, q.first + (rank + away) % q.ranks);
      for (const Topology::Path &way : ways)
        for (int link : way)
          load[link] += 1.0 / double(ways.size());
    }
    for (size_t i = 0; i < load.size(); ++i) {
      const Topology::Link &link = q.topology.links()[i];
      double &busiest = link.level == Level::Intra                                  ? inside
                        : link.level == Level::Nic || link.level == Level::HostLink ? nics
                                                                                    : spines;
      busiest = std::max(busiest, load[i] / link.bandwidth.value);
    }
  }
};

class FairShare : public ClosedForm {
public:
  FairShare(Topology evenTopology, const Shares &shares) : even(std::move(evenTopology)), links(even.links()) {
    for (Topology::Link &link : links) {
      double perByte = link.level == Level::Intra                                  ? shares.inside
                       : link.level == Level::Nic || link.level == Level::HostLink ? shares.nics
                                                                                   : shares.spines;
      if (perByte > 0)
        link.bandwidth = BytesPerSecond{1 / perByte};
    }
  }
  bool make(const FormQuestion &q, int first) {
    form = formOf(q.algorithm, q.kind, q.ranks, q.options, even, first);
    return form != nullptr;
  }

  std::optional<Seconds> time(Bytes operand, const std::vector<Topology::Link> &real,
                              BytesPerSecond reduction) const override {
    std::vector<Topology::Link> asked = links;
    auto inside = std::find_if(real.begin(), real.end(), [](const auto &link) { return link.level == Level::Intra; });
    for (Topology::Link &link : asked)
      if (link.level == Level::Intra && inside != real.end())
        link.latency = inside->latency;
    return form->time(operand, asked, reduction);
  }
  bool exact() const override { return false; }
  int players() const override { return form->players(); }
  std::string how() const override { return form->how() + ", each flow with its share of an even machine"; }

private:
  Topology even;
  std::vector<Topology::Link> links;
  std::unique_ptr<ClosedForm> form;
};

/// The even machine of a group, and which of its devices is the first.
std::pair<Cluster, int> evenMachine(const FormQuestion &q) {
  const Cluster &real = q.topology.cluster();
  int firstHost = real.hostOf(q.first), hosts = real.hostOf(q.first + q.ranks - 1) - firstHost + 1;
  Cluster even = real;
  even.groups.clear();
  even.mesh.clear();
  even.inNetwork = {};
  even.planes = 1;
  even.routing = Routing::Static;
  even.flowHash = {};
  even.oversubscription = even.coreOversubscription = 1;
  int first = 0;
  if (real.groups.empty()) {
    first = q.first % real.devicesPerHost;
    if (real.hostsPerLeaf > 0)
      first += firstHost % real.hostsPerLeaf * real.devicesPerHost;
  } else {
    even.devicesPerHost = std::max(1, q.ranks / hosts);
  }
  even.nicsPerHost = even.devicesPerHost;
  even.hosts = (first + q.ranks + even.devicesPerHost - 1) / even.devicesPerHost;
  if (real.topology == "three_tier") {
    even.topology = "fat_tree";
    if (real.leavesPerPod > 0 && firstHost / (real.hostsPerLeaf * real.leavesPerPod) !=
                                     (firstHost + hosts - 1) / (real.hostsPerLeaf * real.leavesPerPod))
      even.spineLatency += real.coreLatency;
  }
  if (even.hostsPerLeaf > 0)
    even.hosts = (even.hosts + even.hostsPerLeaf - 1) / even.hostsPerLeaf * even.hostsPerLeaf;
  return {even, first};
}

} // namespace

std::unique_ptr<ClosedForm> fairShareForm(const FormQuestion &q) {
  if (q.ranks <= mostRanksOfPlays)
    return nullptr;
  auto [cluster, first] = evenMachine(q);
  Result<Topology> even = Topology::build(cluster);
  if (!even)
    return nullptr;
  int perHost = cluster.devicesPerHost;
  Shares shares;
  for (int away : {1, perHost, q.ranks / 2 / perHost * perHost})
    shares.see(q, away);
  auto made = std::make_unique<FairShare>(std::move(*even), shares);
  return made->make(q, first) ? std::move(made) : nullptr;
}

} // namespace braid::cost
