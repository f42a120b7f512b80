//===- Topology.h - devices, NICs and switches, and the links between them --------------------------------------===//
//
// Built from the few numbers of a cluster file. Links are directed; every cable is a pair of them.
//
//   inside a host    device - NVSwitch - device                        half of intra's latency on each link
//   between hosts    device - NIC - leaf - NIC - device                half of inter's latency on each link of a NIC
//                    device - NIC - leaf - spine - leaf - NIC - device half of the spine's latency on each link of a
//                    spine
//
//   single_switch    one leaf for all NICs
//   rail_optimized   NIC i of each host of a pod (hosts_per_leaf hosts) on leaf i of that pod; spines above
//   fat_tree         all NICs of hosts_per_leaf hosts on one leaf; spines above
//
// A leaf with D links down has D / oversubscription links up, one to each spine. A message to the k-th NIC of its leaf
// crosses spine k modulo the number of spines (the static routing of InfiniBand subnets: shifts do not contend). What
// hashing does instead is a draw of the fabric profile, not of the topology.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_H
#define BRAID_COST_MODELS_TOPOLOGY_H

#include "braid/cost_models/Cluster.h"
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace braid::cost {

class Topology {
public:
  enum class VertexKind { Device, HostSwitch, Nic, Leaf, Spine };
  struct Vertex {
    VertexKind kind;
    int host = -1;            ///< of a device, host switch or NIC
    int index = 0;            ///< within the host; of a leaf or spine: within the fabric
    std::string name() const; ///< "host3.gpu5", "leaf2"
  };

  enum class Level { Intra, HostLink, Nic, Spine };
  struct Link {
    int from, to; ///< vertices
    Level level;
    BytesPerSecond bandwidth;
    Seconds latency;
    const LinkClass *linkClass; ///< intra, hostLink or inter of the cluster; lives as long as the topology
  };

  /// The links that a message takes, in order; none from a device to itself.
  struct Path {
    std::array<int, 6> links{};
    int count = 0;
    bool crossesHosts = false;
    const int *begin() const { return links.data(); }
    const int *end() const { return links.data() + count; }
  };

  /// Errors: a builder that is not known, or numbers that do not fit it.
  static Result<Topology> build(const Cluster &cluster);

  const std::vector<Vertex> &vertices() const;
  const std::vector<Link> &links() const;
  int device(int number) const; ///< vertex of device `host * devicesPerHost + device in host`
  int nicOf(int device) const;  ///< NIC (within its host) that a device uses

  /// In constant time, from the numbers; devices as in Placement.
  Path path(int fromDevice, int toDevice) const;
  /// Sum of the latencies of path().
  Seconds latency(int fromDevice, int toDevice) const;

  /// Fewest links from one device to another, by search in the graph; -1: not connected. Checks path(); slow.
  int distance(int fromDevice, int toDevice) const;
  /// Whether every vertex reaches every other.
  bool connected() const;
  /// A drawing in Graphviz's language, hosts as boxes; each pair of links is one edge.
  std::string dot() const;

private:
  struct State;
  std::shared_ptr<const State> state;
};

} // namespace braid::cost

#endif
