//===- Builders.cpp - vertices and links from the numbers of a cluster file -------------------------------------===//
#include "topology/LinksUp.h"
#include "topology/State.h"
#include <algorithm>

namespace braid::cost {

static std::string wrong(const Cluster &c) {
  if (c.topology != "single_switch" && c.topology != "rail_optimized" && c.topology != "fat_tree" &&
      c.topology != "three_tier")
    return "topology: expected single_switch, rail_optimized, fat_tree or three_tier, got \"" + c.topology + "\"";
  int hosts = 0;
  for (const HostGroup &group : c.groups) {
    hosts += group.hosts;
    if (group.hosts < 1 || group.devicesPerHost < 1 || (c.hosts > 1 && group.nicsPerHost < 1))
      return "topology: expected at least one host, device and NIC in each group of hosts";
  }
  if (!c.groups.empty() && hosts != c.hosts)
    return "topology: expected groups of " + std::to_string(c.hosts) + " hosts, got " + std::to_string(hosts);
  if (c.hosts < 1 || c.devicesPerHost < 1 || (c.hosts > 1 && c.nicsPerHost < 1) || c.hostsPerLeaf < 0 || c.planes < 1 ||
      !(c.oversubscription >= 1) || !(c.coreOversubscription >= 1))
    return "topology: expected at least one host, device, NIC, plane and host per leaf, and no oversubscription below "
           "1";
  if (c.topology == "single_switch" && c.hostsPerLeaf > 0 && c.hostsPerLeaf < c.hosts)
    return "topology: expected all " + std::to_string(c.hosts) + " hosts on the one leaf of single_switch, got " +
           std::to_string(c.hostsPerLeaf);
  for (const MeshLink &link : c.mesh)
    for (int host = 0; host < c.hosts; ++host)
      if (std::min(link.a, link.b) < 0 || std::max(link.a, link.b) >= c.devicesIn(host) || link.a == link.b)
        return "topology: expected links between devices of each host, got " + std::to_string(link.a) + "-" +
               std::to_string(link.b) + " for the " + std::to_string(c.devicesIn(host)) + " of host " +
               std::to_string(host);
  if (c.topology == "three_tier" && c.leavesPerPod < 1)
    return "topology: expected at least one leaf in a pod of three_tier, got " + std::to_string(c.leavesPerPod);
  return {};
}

/// NICs to leaves: numbers of leaves, of links down, of switches above.
static void planFabric(Topology::State &s) {
  const Cluster &c = s.cluster;
  bool rails = c.topology == "rail_optimized";
  int units = (c.hosts + c.hostsPerLeaf - 1) / c.hostsPerLeaf; // hosts that share a leaf, or a set of rail switches
  s.leaves = c.nicsPerHost == 0 ? 0 : rails ? units * c.nicsPerHost : units;
  std::vector<int> down(s.leaves);
  for (int host = 0; host < c.hosts; ++host)
    for (int nic = 0; nic < c.nicsIn(host); ++nic) {
      int unit = host / c.hostsPerLeaf, leaf = rails ? unit * c.nicsPerHost + nic : unit;
      s.nics.push_back({leaf, down[leaf]++, "host" + std::to_string(host) + ".nic" + std::to_string(nic),
                        c.flowHash.function == FlowHash::Crc32 ? c.flowHash.addressOf(host, nic) : 0});
    }
  s.leavesPerPod = c.topology == "three_tier" ? c.leavesPerPod : std::max(1, s.leaves);
  s.pods = std::max(1, (s.leaves + s.leavesPerPod - 1) / s.leavesPerPod);
  if (s.leaves > 1)
    s.spines = leafLinksUp(c).links;
  if (s.pods > 1)
    s.cores = spineLinksUp(c).links;
}

/// What a table of paths has to fit: links of each stage, and NICs of all hosts.
static std::string wrongTable(const Topology::State &s) {
  if (!s.cluster.flowHash.table)
    return {};
  std::vector<int> links; // of the stages that have several
  for (int stage : {s.cluster.planes, s.spines, s.cores})
    if (stage > 1)
      links.push_back(stage);
  std::string expected;
  for (int stage : links)
    expected += (expected.empty() ? "" : ".") + ("0 to " + std::to_string(stage - 1));
  for (const auto &[ends, ports] : s.cluster.flowHash.table->all())
    for (const auto &[port, path] : ports)
      for (size_t stage = 0; stage < path.size(); ++stage)
        if (path[stage] >= (stage < links.size() ? links[stage] : 0))
          return "topology.path_table: expected paths " + (links.empty() ? "where there are several ways" : expected) +
                 ", got " + std::to_string(path[stage]) + " for port " + std::to_string(port) + " from " + ends.first +
                 " to " + ends.second;
  const auto &all = s.cluster.flowHash.table->all();
  for (const auto &from : s.nics)
    for (const auto &to : s.nics)
      if (from.name.substr(0, from.name.find('.')) != to.name.substr(0, to.name.find('.')) &&
          all.count({"*", "*"}) == 0 && s.cluster.flowHash.table->between(from.name, to.name).empty())
        return "topology.path_table: expected ports from " + from.name + " to " + to.name + ", got none";
  return {};
}

Result<Topology> Topology::build(const Cluster &cluster) {
  if (std::string why = wrong(cluster); !why.empty())
    return Error{why, cluster.path};
  auto made = std::make_shared<State>();
  State &s = *made;
  s.cluster = cluster;
  if (s.cluster.hostsPerLeaf == 0)
    s.cluster.hostsPerLeaf = cluster.hosts;
  if (s.cluster.hostLink.bandwidth.value == 0)
    s.cluster.hostLink.bandwidth = cluster.inter.bandwidth;
  const Cluster &c = s.cluster;
  planFabric(s);
  if (std::string why = wrongTable(s); !why.empty())
    return Error{why, cluster.path};

  auto addVertices = [&](VertexKind kind, int count, int host = -1) {
    int first = int(s.vertices.size());
    for (int index = 0; index < count; ++index)
      s.vertices.push_back({kind, host, index});
    return first;
  };
  auto addPair = [&](int from, int to, Level level, BytesPerSecond bandwidth, Seconds latency,
                     const LinkClass &linkClass) {
    s.links.push_back({from, to, level, bandwidth, latency / 2, &linkClass});
    s.links.push_back({to, from, level, bandwidth, latency / 2, &linkClass});
  };

  for (int host = 0; host < c.hosts; ++host) // devices first: a device's number is its vertex
    addVertices(VertexKind::Device, c.devicesIn(host), host);
  int hostSwitches = int(s.vertices.size());
  for (int host = 0; host < c.hosts; ++host)
    addVertices(VertexKind::HostSwitch, 1, host);
  int nics = int(s.vertices.size());
  for (int host = 0; host < c.hosts; ++host)
    addVertices(VertexKind::Nic, c.nicsIn(host), host);
  int leaves = addVertices(VertexKind::Leaf, c.planes * s.leaves);
  int spines = addVertices(VertexKind::Spine, c.planes * s.pods * s.spines);
  int cores = addVertices(VertexKind::Core, c.planes * s.spines * s.cores);

  s.intraLinks = int(s.links.size());
  for (int host = 0, device = 0; host < c.hosts; ++host)
    for (int i = 0; i < c.devicesIn(host); ++i, ++device)
      addPair(device, hostSwitches + host, Level::Intra,
              c.mesh.empty() ? c.intra.bandwidth : s.cluster.hostLink.bandwidth, c.intra.latency, c.intra);
  for (int host = 0, device = 0, nic = 0; host < c.hosts; nic += c.nicsIn(host++)) {
    int here = c.devicesIn(host), cards = c.nicsIn(host);
    for (int i = 0; i < here; ++i, ++device) {
      State::DevicePlace place{host, -1, std::max(1, cards / here), int(s.links.size())};
      if (cards > 0)
        place.nic = nic + int(int64_t(i) * cards / here);
      for (int own = 0; own < place.nics && cards > 0; ++own)
        addPair(device, nics + place.nic + own, Level::HostLink, c.hostLink.bandwidth, c.hostLink.latency, c.hostLink);
      s.devices.push_back(place);
    }
  }
  // Below: one plane after another.
  BytesPerSecond port = c.inter.bandwidth * (1.0 / c.planes);
  s.nicLinks = int(s.links.size());
  for (int plane = 0; plane < c.planes; ++plane)
    for (size_t nic = 0; nic < s.nics.size(); ++nic)
      addPair(nics + int(nic), leaves + plane * s.leaves + s.nics[nic].leaf, Level::Nic, port, c.inter.latency,
              c.inter);
  BytesPerSecond uplink = port * leafLinksUp(c).rate, coreLink = uplink * spineLinksUp(c).rate;
  s.spineLinks = int(s.links.size());
  for (int plane = 0; plane < c.planes; ++plane)
    for (int leaf = 0; leaf < s.leaves; ++leaf)
      for (int spine = 0; spine < s.spines; ++spine)
        addPair(leaves + plane * s.leaves + leaf, spines + s.spineIndex(plane, s.podOf(leaf), spine), Level::Spine,
                uplink, c.spineLatency, c.inter);
  s.coreLinks = int(s.links.size());
  for (int plane = 0; plane < c.planes; ++plane)
    for (int pod = 0; pod < s.pods; ++pod)
      for (int spine = 0; spine < s.spines; ++spine)
        for (int core = 0; core < s.cores; ++core)
          addPair(spines + s.spineIndex(plane, pod, spine), cores + (plane * s.spines + spine) * s.cores + core,
                  Level::Core, coreLink, c.coreLatency, c.inter);

  s.meshLinks = int(s.links.size());
  if (!c.mesh.empty())
    s.mesh.assign(size_t(c.devicesPerHost) * size_t(c.devicesPerHost), -1);
  for (int host = 0; host < c.hosts; ++host)
    for (size_t i = 0; i < c.mesh.size(); ++i) {
      auto [a, b, count] = c.mesh[i];
      s.mesh[size_t(a * c.devicesPerHost + b)] = int(2 * i);
      s.mesh[size_t(b * c.devicesPerHost + a)] = int(2 * i + 1);
      addPair(c.firstDevice(host) + a, c.firstDevice(host) + b, Level::Intra, c.intra.bandwidth * double(count),
              c.intra.latency * 2, c.intra); // all of it on the one link
    }

  Topology topology;
  topology.state = std::move(made);
  return topology;
}

} // namespace braid::cost
