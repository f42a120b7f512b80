//===- Topology.h - devices, NICs and switches, and the links between them --------------------------------------===//
//
// Built from the few numbers of a cluster file. Links are directed; every cable is a pair of them.
//
//   inside a host    device - NVSwitch - device                        half of intra's latency on each link
//   between hosts    device - NIC - leaf - NIC - device                half of inter's latency on each link of a NIC
//                    device - NIC - leaf - spine - leaf - NIC - device half of the spine's latency on each link of a
//                    spine; of a core likewise, where pods are joined by core switches
//
//   single_switch    one leaf for all NICs
//   rail_optimized   NIC i of each host of a pod (hosts_per_leaf hosts) on leaf i of that pod; spines above
//   fat_tree         all NICs of hosts_per_leaf hosts on one leaf; spines above
//   three_tier       a fat tree in each pod of leaves_per_pod leaves; spine i of every pod is joined by core group i
//
// A leaf's links up, one to each spine of its pod, carry what its links down do over `oversubscription`, exactly; a spine's,
// one to each core of its group, over `core_oversubscription` (topology/LinksUp.h says how many links these are). With
// `planes` there are that many such fabrics side by side, and a NIC has a port on each (two planes: dual ToR, dual plane).
//
// Routing deals flows over equal links up (their *path set*, as ECMP sees it):
//   static       by destination, D-mod-k: shifts do not contend (InfiniBand subnets)
//   hash         by a hash of both ends and the source port, another one at each stage
//   shared_hash  the same hash at each stage: the flows that leaves send to spine i have equal hashes modulo the k links
//                of a leaf, so a spine with k links up sends all of them up one. The fabric is *polarised*: of each
//                spine's links 1 / k is used (1 / gcd where the two stages differ)
// Where the hash is not known, collisions are a draw of the fabric profile (Fabric.h) and routing is static.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_H
#define BRAID_COST_MODELS_TOPOLOGY_H

#include "braid/cost_models/Cluster.h"
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace braid::cost {

class Topology {
public:
  enum class VertexKind { Device, HostSwitch, Nic, Leaf, Spine, Core };
  struct Vertex {
    VertexKind kind;
    int host = -1;            ///< of a device, host switch or NIC
    int index = 0;            ///< within the host; of a switch: within the fabric, plane after plane
    std::string name() const; ///< "host3.gpu5", "leaf2"
  };

  enum class Level { Intra, HostLink, Nic, Spine, Core };
  struct Link {
    int from, to; ///< vertices
    Level level;
    BytesPerSecond bandwidth;
    Seconds latency;
    const LinkClass *linkClass; ///< intra, hostLink or inter of the cluster; lives as long as the topology
  };

  /// The links that a message takes, in order; none from a device to itself.
  struct Path {
    std::array<int, 8> links{};
    int count = 0;
    bool crossesHosts = false;
    const int *begin() const { return links.data(); }
    const int *end() const { return links.data() + count; }
    bool operator==(const Path &o) const { return count == o.count && std::equal(begin(), end(), o.begin()); }
  };

  /// Errors: a builder that is not known, or numbers that do not fit it.
  static Result<Topology> build(const Cluster &cluster);

  const Cluster &cluster() const;
  const std::vector<Vertex> &vertices() const;
  const std::vector<Link> &links() const;
  int device(int number) const; ///< vertex of a device
  int nicOf(int device) const;  ///< first NIC (within its host) that a device uses
  int leafOf(int device) const; ///< leaf of that NIC, -1 without NICs

  /// In constant time, from the numbers; devices as in Placement. `flow` stands for the source port: flows between the
  /// same devices are dealt over planes, and over links up where routing hashes.
  /// From the first source port that plans may choose from on (Cluster::flowHash), `flow` is that port; below, a driver's choice
  /// among them. `rail`: which of a device's NICs, on both ends; -1: that which its peers are dealt to.
  Path path(int fromDevice, int toDevice, uint64_t flow = 0, int rail = -1) const;
  /// A way that flows between two devices take from some source ports: the first ports that do.
  struct PortedPath {
    Path path;
    std::vector<int> ports;
    int rail = -1; ///< as in path()
    int way = 0;   ///< number of the way; flows of one way meet at the same switches
  };
  /// All of them that source ports reach, by way, where plans choose ports; else none. With up to `each` ports.
  std::vector<PortedPath> choices(int fromDevice, int toDevice, int each = 1) const;
  /// The paths over which the NICs deal a message between two devices, in equal parts; several where routing hashes or there
  /// are planes: that of each queue pair with a source port of its own, or with adaptive routing all that flows may take.
  std::vector<Path> ways(int fromDevice, int toDevice) const;
  /// Whether ways() gives several paths for some devices.
  bool dealsMessages() const;
  /// All paths that flows between two devices may take (between the NICs that path() takes for flow 0).
  std::vector<Path> pathSet(int fromDevice, int toDevice) const;
  /// Sum of the latencies of path().
  Seconds latency(int fromDevice, int toDevice) const;

  /// Fewest links from one device to another, by search in the graph; -1: not connected. Checks path(); slow.
  int distance(int fromDevice, int toDevice) const;
  /// Whether every vertex reaches every other.
  bool connected() const;

  struct State;

private:
  std::shared_ptr<const State> state;
};

/// A message of one step of a collective.
struct Flow {
  int from, to; ///< devices
  Bytes bytes;
  uint64_t flow = 0;
};

/// What the flows of one step put on a link.
struct LinkLoad {
  int link = 0;
  int flows = 0;
  double bytes = 0;
  Seconds time; ///< bytes / bandwidth: the step takes at least as long
};

/// Loads of all links that carry something, the longest time first, then by number.
std::vector<LinkLoad> loads(const Topology &topology, const std::vector<Flow> &flows);

/// Ranks in an order that keeps rings and trees inside hosts, leaves and pods as long as possible: a ring in this order
/// leaves each of them once.
std::vector<int> localityOrder(const Placement &placement);

/// A drawing in Graphviz's language, hosts as boxes; each pair of links is one edge.
std::string drawDot(const Topology &topology);
/// A drawing as a self-contained SVG: cores, spines, leaves, hosts from top to bottom. Of more than `hosts` hosts, or
/// 24 switches of a tier, only the first ones and the last are drawn, and it says so.
std::string drawSvg(const Topology &topology, int hosts = 8);

} // namespace braid::cost

#endif
