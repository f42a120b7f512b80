//===- Aggregators.cpp - the switches that reduce, as ranks beside the group ------------------------------------===//
#include "braid/cost_models/Aggregators.h"
#include <map>
#include <queue>

namespace braid::cost {

using Kind = Topology::VertexKind;

/// The first vertex of a kind; -1: none. `index`: of a leaf or the host of a host switch.
static int find(const Topology &topology, Kind kind, int index) {
  const std::vector<Topology::Vertex> &vertices = topology.vertices();
  for (int v = 0; v < int(vertices.size()); ++v)
    if (vertices[v].kind == kind && (kind == Kind::HostSwitch ? vertices[v].host : vertices[v].index) == index)
      return v;
  return -1;
}

Result<Aggregators> aggregatorsOf(const Topology &topology, const std::vector<int> &devices) {
  const Cluster &cluster = topology.cluster();
  if (!cluster.inNetwork.granted())
    return Error{"the cluster file grants no switches that reduce (key in_network)", cluster.path};
  bool inHost = cluster.inNetwork.at == "host";
  Aggregators made;
  std::map<int, int> number; // host or leaf -> switch
  for (int device : devices) {
    int place = inHost ? cluster.hostOf(device) : topology.leafOf(device);
    auto [found, isNew] = number.try_emplace(place, int(number.size()));
    if (isNew)
      made.vertices.push_back(find(topology, inHost ? Kind::HostSwitch : Kind::Leaf, place));
    made.switchOf.push_back(found->second);
    if (made.vertices[found->second] < 0)
      return Error{"in_network: expected a switch for each device, got none for device " + std::to_string(device),
                   cluster.path};
  }
  if (made.vertices.size() < 2)
    return made;
  if (inHost)
    return Error{"the cluster file grants switches that reduce inside hosts, and the ranks are on " +
                     std::to_string(number.size()) + " hosts",
                 cluster.path};
  int above = find(topology, Kind::Core, 0);
  made.vertices.push_back(above >= 0 ? above : find(topology, Kind::Spine, 0));
  return made;
}

Topology::Path wayBetween(const Topology &topology, int from, int to) {
  const std::vector<Topology::Link> &links = topology.links();
  std::vector<std::vector<int>> out(topology.vertices().size());
  for (int link = 0; link < int(links.size()); ++link)
    out[links[link].from].push_back(link);
  std::vector<int> by(out.size(), -1); // the link that reached a vertex
  std::queue<int> open;
  open.push(from);
  while (!open.empty() && by[to] < 0) {
    int vertex = open.front();
    open.pop();
    for (int link : out[vertex])
      if (by[links[link].to] < 0 && links[link].to != from) {
        by[links[link].to] = link;
        open.push(links[link].to);
      }
  }
  std::vector<int> way;
  for (int vertex = to; vertex != from && by[vertex] >= 0; vertex = links[by[vertex]].from)
    way.insert(way.begin(), by[vertex]);
  Topology::Path path;
  for (int link : way)
    if (path.count < int(path.links.size()))
      path.links[path.count++] = link;
  path.crossesHosts =
      topology.vertices()[from].kind != Kind::HostSwitch && topology.vertices()[to].kind != Kind::HostSwitch;
  return path;
}

} // namespace braid::cost
