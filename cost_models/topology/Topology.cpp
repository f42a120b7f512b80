//===- Topology.cpp - paths from the numbers --------------------------------------------------------------------===//
#include "braid/cost_models/Topology.h"
#include "braid/runtime/draws/Draws.h"
#include "topology/Graph.h"
#include "topology/State.h"
#include <algorithm>
#include <map>

namespace braid::cost {

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
  case VertexKind::Core:
    return "core" + std::to_string(index);
  }
  return place;
}

const Cluster &Topology::cluster() const { return state->cluster; }
const std::vector<Topology::Vertex> &Topology::vertices() const { return state->vertices; }
const std::vector<Topology::Link> &Topology::links() const { return state->links; }
int Topology::device(int number) const { return number; }
int Topology::nicOf(int device) const {
  const State::DevicePlace &place = state->devices[device];
  return place.nic < 0 ? 0 : place.nic - state->cluster.firstNic(place.host);
}
int Topology::leafOf(int device) const {
  int nic = state->devices[device].nic;
  return nic < 0 ? -1 : state->nics[nic].leaf;
}

int Topology::State::ownNic(int from, int to) const {
  return (from + to) % std::min(devices[from].nics, devices[to].nics);
}

Topology::State::Way Topology::State::way(int fromNic, int toNic, uint64_t flow) const {
  const NicPlace &to = nics[toNic];
  int planes = cluster.planes;
  if (cluster.routing == Routing::Static) {
    // D-mod-k: the digits of the destination's number in its pod. Flows go to the planes in turn.
    return {int((uint64_t(to.under) + flow) % planes), spines ? to.under % spines : 0,
            cores ? (to.leaf % leavesPerPod + to.under / spines) % cores : 0};
  }
  const FlowHash &hash = cluster.flowHash;
  if (hash.chooses() && flow < uint64_t(hash.firstPort))
    flow = uint64_t(driversPort(fromNic, toNic, flow));
  bool shared = cluster.routing == Routing::SharedHash;
  if (hash.function == FlowHash::Table) {
    const std::map<int, PortPath> &ports = hash.table->between(nics[fromNic].name, nics[toNic].name);
    auto found = ports.find(int(flow));
    PortPath path = found == ports.end() ? PortPath{-1, -1, -1} : found->second;
    size_t stage = 0; // those that have several links
    auto next = [&](int links) { return links > 1 ? std::max(0, path[stage++]) : 0; };
    int plane = next(planes), spine = next(spines);
    return {plane, spine, next(cores)};
  }
  if (hash.function == FlowHash::Crc32) {
    auto pick = [&](uint32_t stage, int links) {
      uint32_t seed = uint32_t(cluster.hashSeed) + (shared && stage ? 1 : stage);
      return links > 1 ? hash.link(seed, nics[fromNic].address, to.address, int(flow), links) : 0;
    };
    return {pick(0, planes), pick(1, spines), pick(2, cores)};
  }
  uint64_t ends = draws::mix(draws::mix(cluster.hashSeed, uint64_t(fromNic) << 32 | uint64_t(toNic)), flow);
  auto pick = [&](uint64_t stage, int links) {
    return links > 1 ? int((shared && stage ? ends : draws::mix(ends, stage)) % unsigned(links)) : 0;
  };
  return {pick(0, planes), pick(1, spines), pick(2, cores)}; // the host deals over its ports by a hash of its own
}

int Topology::State::driversPort(int fromNic, int toNic, uint64_t flow) const {
  const FlowHash &hash = cluster.flowHash;
  uint64_t bits = draws::mix(draws::mix(cluster.hashSeed, uint64_t(fromNic) << 32 | uint64_t(toNic)), flow);
  if (hash.function != FlowHash::Table)
    return hash.firstPort + int(bits % uint64_t(hash.lastPort - hash.firstPort + 1));
  const std::map<int, PortPath> &ports = hash.table->between(nics[fromNic].name, nics[toNic].name);
  return ports.empty() ? hash.firstPort : std::next(ports.begin(), long(bits % ports.size()))->first;
}

Topology::Path Topology::State::pathBy(const Way &way, int from, int to, int own) const {
  Path path;
  auto add = [&](int link) { path.links[path.count++] = link; };
  path.crossesHosts = true;
  int fromNic = devices[from].nic + own, toNic = devices[to].nic + own;
  int fromLeaf = nics[fromNic].leaf, toLeaf = nics[toNic].leaf, fromPod = podOf(fromLeaf), toPod = podOf(toLeaf);
  add(devices[from].link + 2 * own);
  add(nicLink(way.plane, fromNic));
  if (fromLeaf != toLeaf) {
    add(spineLink(way.plane, fromLeaf, way.spine));
    if (fromPod != toPod) {
      add(coreLink(way.plane, fromPod, way.spine, way.core));
      add(coreLink(way.plane, toPod, way.spine, way.core) + 1);
    }
    add(spineLink(way.plane, toLeaf, way.spine) + 1);
  }
  add(nicLink(way.plane, toNic) + 1);
  add(devices[to].link + 2 * own + 1);
  return path;
}

Topology::Path Topology::path(int from, int to, uint64_t flow, int rail) const {
  const State &s = *state;
  Path path;
  if (from == to)
    return path;
  if (s.devices[from].host == s.devices[to].host) {
    if (int direct = s.meshLink(from, to); direct >= 0) {
      path.links[path.count++] = direct;
      return path;
    }
    path.links[path.count++] = s.intraLink(from);
    path.links[path.count++] = s.intraLink(to) + 1;
    return path;
  }
  // Where a device has several NICs, its peers are dealt over them.
  int own = rail >= 0 ? rail % std::min(s.devices[from].nics, s.devices[to].nics) : s.ownNic(from, to);
  return s.pathBy(s.way(s.devices[from].nic + own, s.devices[to].nic + own, flow), from, to, own);
}

bool Topology::dealsMessages() const {
  const Cluster &c = state->cluster;
  const FabricProfile &nics = c.inter.profile;
  return (c.routing != Routing::Static || c.planes > 1) && (nics.collisionFlowsPerNic > 1 || nics.adaptiveRouting);
}

std::vector<Topology::Path> Topology::ways(int from, int to) const {
  const Cluster &c = state->cluster;
  if (!dealsMessages() || state->devices[from].host == state->devices[to].host)
    return {path(from, to)};
  std::vector<Path> all;
  if (c.routing != Routing::Static && c.inter.profile.adaptiveRouting) {
    all = pathSet(from, to); // each NIC begins with another one
    std::rotate(all.begin(), all.begin() + state->nics[state->devices[from].nic].under % int(all.size()), all.end());
    return all;
  }
  int flows = c.inter.profile.adaptiveRouting ? c.planes : c.inter.profile.collisionFlowsPerNic;
  for (int flow = 0; flow < flows; ++flow)
    all.push_back(path(from, to, uint64_t(flow)));
  return all;
}

std::vector<Topology::Path> Topology::pathSet(int from, int to) const {
  const State &s = *state;
  if (from == to || s.devices[from].host == s.devices[to].host)
    return {path(from, to)};
  std::vector<Path> all;
  int own = s.ownNic(from, to);
  for (int plane = 0; plane < s.cluster.planes; ++plane)
    for (int spine = 0; spine < std::max(1, s.spines); ++spine)
      for (int core = 0; core < std::max(1, s.cores); ++core) {
        Path path = s.pathBy({plane, spine, core}, from, to, own);
        if (std::find(all.begin(), all.end(), path) == all.end())
          all.push_back(path);
      }
  return all;
}

std::vector<Topology::PortedPath> Topology::choices(int from, int to, int each) const {
  const State &s = *state;
  const FlowHash &hash = s.cluster.flowHash;
  std::vector<PortedPath> all;
  if (!hash.chooses() || from == to || s.devices[from].host == s.devices[to].host)
    return all;
  int rails = std::min(s.devices[from].nics, s.devices[to].nics);
  int spines = std::max(1, s.spines), cores = std::max(1, s.cores);
  for (int rail = 0; rail < rails; ++rail) {
    int fromNic = s.devices[from].nic + rail, toNic = s.devices[to].nic + rail;
    bool crosses = s.nics[fromNic].leaf != s.nics[toNic].leaf;
    size_t first = all.size(), ways = size_t(s.cluster.planes) * size_t(crosses ? spines * cores : 1), full = 0;
    /// Whether another port may show another way.
    auto look = [&](int port) {
      State::Way way = s.way(fromNic, toNic, uint64_t(port));
      Path taken = s.pathBy(way, from, to, rail);
      auto known =
          std::find_if(all.begin() + long(first), all.end(), [&](const PortedPath &a) { return a.path == taken; });
      if (known == all.end()) {
        PortedPath found{taken, {}, rails > 1 ? rail : -1, 0};
        found.way = ((rail * s.cluster.planes + way.plane) * spines + way.spine) * cores + way.core;
        all.push_back(found);
        known = std::prev(all.end());
      }
      if (int(known->ports.size()) < each) {
        known->ports.push_back(port);
        full += int(known->ports.size()) == each;
      }
      return full < ways;
    };
    if (hash.function == FlowHash::Table) {
      for (const auto &[port, way] : hash.table->between(s.nics[fromNic].name, s.nics[toNic].name))
        if (port >= hash.firstPort && port <= hash.lastPort && !look(port))
          break;
      continue;
    }
    constexpr int most = 4096; // setting: a way of chance 1 / 64 is found
    for (int port = hash.firstPort; port <= hash.lastPort && port - hash.firstPort < most && look(port);)
      ++port;
  }
  std::sort(all.begin(), all.end(), [](const PortedPath &a, const PortedPath &b) { return a.way < b.way; });
  return all;
}

Seconds Topology::latency(int from, int to) const {
  Seconds sum;
  for (int link : path(from, to))
    sum += state->links[link].latency;
  return sum;
}

int Topology::distance(int from, int to) const { return Graph(*this).distance(from, to); }
bool Topology::connected() const { return Graph(*this).connected(); }

std::vector<LinkLoad> loads(const Topology &topology, const std::vector<Flow> &flows) {
  std::map<int, LinkLoad> found;
  for (const Flow &flow : flows)
    for (int link : topology.path(flow.from, flow.to, flow.flow)) {
      LinkLoad &load = found[link];
      load.link = link;
      ++load.flows;
      load.bytes += double(flow.bytes.value);
    }
  std::vector<LinkLoad> all;
  for (auto &[link, load] : found) {
    load.time = Seconds{load.bytes / topology.links()[link].bandwidth.value};
    all.push_back(load);
  }
  std::sort(all.begin(), all.end(), [](const LinkLoad &a, const LinkLoad &b) {
    return a.time.value != b.time.value ? a.time > b.time : a.link < b.link;
  });
  return all;
}

std::vector<int> localityOrder(const Placement &placement) {
  // Devices of a host, hosts of a leaf and leaves of a pod have consecutive numbers.
  std::vector<int> order(placement.deviceOf.size());
  for (size_t rank = 0; rank < order.size(); ++rank)
    order[rank] = int(rank);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return placement.deviceOf[a] < placement.deviceOf[b]; });
  return order;
}

} // namespace braid::cost
