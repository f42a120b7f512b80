//===- Topology.cpp - builders, and paths from the numbers ------------------------------------------------------===//
#include "braid/cost_models/Topology.h"
#include "topology/Graph.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

struct Topology::State {
  Cluster cluster;
  std::vector<Vertex> vertices;
  std::vector<Link> links;

  // Links are made in blocks, so that a link's number follows from what it joins; +1 is the way back.
  int intraLinks = 0; ///< device -> host switch, 2 per device
  int hostLinks = 0;  ///< device -> NIC, 2 per device and NIC of its own
  int nicLinks = 0;   ///< NIC -> leaf, 2 per NIC
  int spineLinks = 0; ///< leaf -> spine, 2 per leaf and spine

  bool rails = false;
  int nicsPerDevice = 1; ///< NICs that a device has to itself; 1 also where devices share one
  int leaves = 1, spines = 0;

  /// NICs that a device may use, the first of `nicsPerDevice`.
  int firstNic(int deviceInHost) const {
    return int(int64_t(deviceInHost) * cluster.nicsPerHost / cluster.devicesPerHost);
  }
  /// The leaf of a NIC, and the NIC's number under it.
  int leafOf(int host, int nic) const {
    int pod = host / cluster.hostsPerLeaf;
    return rails ? pod * cluster.nicsPerHost + nic : pod;
  }
  int underLeaf(int host, int nic) const {
    int inPod = host % cluster.hostsPerLeaf;
    return rails ? inPod : inPod * cluster.nicsPerHost + nic;
  }
};

std::string Topology::Vertex::name() const {
  std::string place = host >= 0 ? "host" + std::to_string(host) + "." : "";
  switch (kind) {
  case VertexKind::Device:
    return place + "gpu" + std::to_string(index);
  case VertexKind::HostSwitch:
    return place + "switch";
  case VertexKind::Nic:
    return place + "nic" + std::to_string(index);
  case VertexKind::Leaf:
    return "leaf" + std::to_string(index);
  case VertexKind::Spine:
    return "spine" + std::to_string(index);
  }
  return place;
}

Result<Topology> Topology::build(const Cluster &cluster) {
  auto made = std::make_shared<State>();
  State &s = *made;
  s.cluster = cluster;
  if (s.cluster.hostsPerLeaf == 0)
    s.cluster.hostsPerLeaf = std::max(1, cluster.hosts);
  if (s.cluster.hostLink.bandwidth.value == 0)
    s.cluster.hostLink.bandwidth = cluster.inter.bandwidth;
  const Cluster &c = s.cluster;
  if (c.topology != "single_switch" && c.topology != "rail_optimized" && c.topology != "fat_tree")
    return Error{"topology: expected single_switch, rail_optimized or fat_tree, got \"" + c.topology + "\"", c.path};
  if (c.hosts < 1 || c.devicesPerHost < 1 || (c.hosts > 1 && c.nicsPerHost < 1) || c.hostsPerLeaf < 1 ||
      !(c.oversubscription >= 1))
    return Error{"topology: expected at least one host, device, NIC and host per leaf, and no oversubscription below 1",
                 c.path};
  if (c.topology == "single_switch" && c.hostsPerLeaf < c.hosts)
    return Error{"topology: expected all " + std::to_string(c.hosts) + " hosts on the one leaf of single_switch, got " +
                     std::to_string(c.hostsPerLeaf),
                 c.path};
  s.rails = c.topology == "rail_optimized";
  s.nicsPerDevice = std::max(1, c.nicsPerHost / c.devicesPerHost);
  int pods = (c.hosts + c.hostsPerLeaf - 1) / c.hostsPerLeaf;
  int inPod = std::min(c.hosts, c.hostsPerLeaf);
  s.leaves = c.nicsPerHost == 0 ? 0 : s.rails ? pods * c.nicsPerHost : pods;
  if (s.leaves > 1) {
    int down = s.rails ? inPod : inPod * c.nicsPerHost;
    s.spines = std::max(1, int(std::floor(down / c.oversubscription + 1e-9)));
  }

  auto addVertex = [&](VertexKind kind, int host, int index) {
    s.vertices.push_back({kind, host, index});
    return int(s.vertices.size()) - 1;
  };
  auto addPair = [&](int from, int to, Level level, BytesPerSecond bandwidth, Seconds latency,
                     const LinkClass &linkClass) {
    s.links.push_back({from, to, level, bandwidth, latency, &linkClass});
    s.links.push_back({to, from, level, bandwidth, latency, &linkClass});
  };

  std::vector<int> hostSwitches, nics, leaves, spines;
  for (int host = 0; host < c.hosts; ++host) // devices first: a device's number is its vertex
    for (int device = 0; device < c.devicesPerHost; ++device)
      addVertex(VertexKind::Device, host, device);
  for (int host = 0; host < c.hosts; ++host)
    hostSwitches.push_back(addVertex(VertexKind::HostSwitch, host, 0));
  for (int host = 0; host < c.hosts; ++host)
    for (int nic = 0; nic < c.nicsPerHost; ++nic)
      nics.push_back(addVertex(VertexKind::Nic, host, nic));
  for (int leaf = 0; leaf < s.leaves; ++leaf)
    leaves.push_back(addVertex(VertexKind::Leaf, -1, leaf));
  for (int spine = 0; spine < s.spines; ++spine)
    spines.push_back(addVertex(VertexKind::Spine, -1, spine));

  s.intraLinks = int(s.links.size());
  for (int device = 0; device < c.ranks(); ++device)
    addPair(device, hostSwitches[device / c.devicesPerHost], Level::Intra, c.intra.bandwidth, c.intra.latency / 2,
            c.intra);
  s.hostLinks = int(s.links.size());
  for (int device = 0; device < c.ranks() && c.nicsPerHost > 0; ++device)
    for (int own = 0; own < s.nicsPerDevice; ++own) {
      int nic = device / c.devicesPerHost * c.nicsPerHost + s.firstNic(device % c.devicesPerHost) + own;
      addPair(device, nics[nic], Level::HostLink, c.hostLink.bandwidth, c.hostLink.latency / 2, c.hostLink);
    }
  s.nicLinks = int(s.links.size());
  for (int host = 0; host < c.hosts; ++host)
    for (int nic = 0; nic < c.nicsPerHost; ++nic)
      addPair(nics[host * c.nicsPerHost + nic], leaves[s.leafOf(host, nic)], Level::Nic, c.inter.bandwidth,
              c.inter.latency / 2, c.inter);
  s.spineLinks = int(s.links.size());
  for (int leaf = 0; leaf < s.leaves; ++leaf)
    for (int spine = 0; spine < s.spines; ++spine)
      addPair(leaves[leaf], spines[spine], Level::Spine, c.inter.bandwidth, c.spineLatency / 2, c.inter);

  Topology topology;
  topology.state = std::move(made);
  return topology;
}

const std::vector<Topology::Vertex> &Topology::vertices() const { return state->vertices; }
const std::vector<Topology::Link> &Topology::links() const { return state->links; }
int Topology::device(int number) const { return number; }
int Topology::nicOf(int device) const { return state->firstNic(device % state->cluster.devicesPerHost); }

Topology::Path Topology::path(int from, int to) const {
  const State &s = *state;
  const Cluster &c = s.cluster;
  Path path;
  if (from == to)
    return path;
  auto add = [&](int link) { path.links[path.count++] = link; };
  int fromHost = from / c.devicesPerHost, toHost = to / c.devicesPerHost;
  if (fromHost == toHost) {
    add(s.intraLinks + 2 * from);
    add(s.intraLinks + 2 * to + 1);
    return path;
  }
  path.crossesHosts = true;
  // Where a device has several NICs, its peers are dealt over them.
  int own = s.nicsPerDevice == 1 ? 0 : (from + to) % s.nicsPerDevice;
  int fromNic = s.firstNic(from % c.devicesPerHost) + own, toNic = s.firstNic(to % c.devicesPerHost) + own;
  int fromLeaf = s.leafOf(fromHost, fromNic), toLeaf = s.leafOf(toHost, toNic);
  add(s.hostLinks + 2 * (from * s.nicsPerDevice + own));
  add(s.nicLinks + 2 * (fromHost * c.nicsPerHost + fromNic));
  if (fromLeaf != toLeaf) {
    int spine = s.underLeaf(toHost, toNic) % s.spines;
    add(s.spineLinks + 2 * (fromLeaf * s.spines + spine));
    add(s.spineLinks + 2 * (toLeaf * s.spines + spine) + 1);
  }
  add(s.nicLinks + 2 * (toHost * c.nicsPerHost + toNic) + 1);
  add(s.hostLinks + 2 * (to * s.nicsPerDevice + own) + 1);
  return path;
}

Seconds Topology::latency(int from, int to) const {
  Seconds sum;
  for (int link : path(from, to))
    sum += state->links[link].latency;
  return sum;
}

int Topology::distance(int from, int to) const { return Graph(*this).distance(from, to); }
bool Topology::connected() const { return Graph(*this).connected(); }

std::string Topology::dot() const {
  const State &s = *state;
  std::string out = "graph \"" + s.cluster.name + "\" {\n";
  for (int host = 0; host < s.cluster.hosts; ++host) {
    out += "  subgraph cluster_host" + std::to_string(host) + " {\n    label=\"host" + std::to_string(host) + "\";\n";
    for (const Vertex &vertex : s.vertices)
      if (vertex.host == host)
        out += "    \"" + vertex.name() + "\";\n";
    out += "  }\n";
  }
  for (size_t i = 0; i < s.links.size(); i += 2) {
    const Link &link = s.links[i];
    out += "  \"" + s.vertices[link.from].name() + "\" -- \"" + s.vertices[link.to].name() + "\" [label=\"" +
           toString(link.bandwidth) + "\"];\n";
  }
  return out + "}\n";
}

} // namespace braid::cost
