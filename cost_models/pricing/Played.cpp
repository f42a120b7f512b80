//===- Played.cpp - a collective's step programs on a cluster ---------------------------------------------------===//
#include "pricing/Played.h"
#include "braid/cost_models/Aggregators.h"
#include "braid/runtime/algorithms/Levels.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace braid::cost {

static std::vector<int> levelsOf(const std::vector<int> &group, const Cluster &cluster, const Placement &placement) {
  std::vector<int> hosts;
  for (int rank : group)
    hosts.push_back(placement.hostOf(rank, cluster));
  return algorithms::levels(std::move(hosts));
}

PlayedCollective::PlayedCollective(const algorithms::Algorithm &algorithm, CollectiveKind kind, const RankGroups &asked,
                                   const algorithms::StepOptions &options, const Topology &topology,
                                   const Placement &placement)
    : groups(asked.groups), programs(placement.deviceOf.size()) {
  int ranks = int(placement.deviceOf.size());
  algorithms::StepOptions settings = options;
  segments = options.segments;
  if (groups.empty()) { // a permute, or all ranks
    groups.emplace_back();
    for (int rank = 0; rank < ranks; ++rank)
      groups[0].push_back(rank);
    if (kind == CollectiveKind::Permute)
      settings.pairs = asked.pairs;
  }
  int count = int(groups.size());
  for (std::vector<int> &group : groups) {
    group.erase(std::remove_if(group.begin(), group.end(), [&](int rank) { return rank < 0 || rank >= ranks; }),
                group.end());
    int n = int(group.size()), number = int(&group - groups.data());
    size = std::max(size, n);
    if (n == 0 || !algorithm.serves(kind, n) || (kind == CollectiveKind::Permute && asked.pairs.empty()))
      continue;
    settings.hosts = levelsOf(group, topology.cluster(), placement);
    if (algorithm.needs == algorithms::Needs::Switches) {
      std::vector<int> devices;
      for (int rank : group)
        devices.push_back(placement.deviceOf[rank]);
      Result<Aggregators> switches = aggregatorsOf(topology, devices);
      if (!switches)
        continue; // not a candidate (BraidEngine.cpp)
      settings.switches = switches->switchOf;
      for (int vertex : switches->vertices) {
        group.push_back(int(programs.size()));
        programs.emplace_back();
        helperVertices.push_back(vertex);
      }
    }
    longestChain = std::max(longestChain, algorithm.steps(kind, n, settings));
    for (int i = 0; i < int(group.size()); ++i) {
      programs[group[i]] = {&group, algorithm.program(kind, n, i, settings), i >= n, i * count + number, i};
      if (i < n && !topology.cluster().groups.empty()) // kinds differ: each works at its own pace
        programs[group[i]].reduction = topology.cluster().kindOf(placement.deviceOf[group[i]]).reduction;
    }
  }
}

Result<Seconds> PlayedCollective::play(Bytes bytes, const PlayedNetwork &network, PlayOptions options) const {
  options.operand = bytes;
  return playPrograms(programs, network, options);
}

int64_t PlayedCollective::messages() const {
  int64_t count = 0;
  for (const PlayedRank &rank : programs)
    for (const algorithms::Step &step : rank.program.steps)
      count += step.action == algorithms::Action::Send && !step.more;
  return count;
}

UplinkFlows PlayedCollective::uplinks(const PlayedNetwork &network) const {
  std::map<std::pair<int, int>, double> traffic; // (rank, rank) -> parts of the sender's buffer
  double busiest = 0;                            // rank: it sends at line rate
  for (size_t rank = 0; rank < programs.size(); ++rank) {
    double sent = 0;
    for (const algorithms::Step &step : programs[rank].program.steps)
      if (step.action == algorithms::Action::Send) {
        double part = double(step.count) / programs[rank].program.chunks;
        sent += part;
        traffic[{int(rank), (*programs[rank].group)[step.peer]}] += part;
      }
    busiest = std::max(busiest, sent);
  }
  std::map<int, double> load; // leaf -> line-rate flows that leave it upwards
  int pairs = 0;
  double all = 0;
  for (auto &[ends, part] : traffic) {
    Topology::Path path = network.path(ends.first, ends.second);
    for (int link : path)
      if (network.links[link].level == Topology::Level::Spine) {
        load[network.links[link].from] += part / busiest;
        all += part / busiest;
        ++pairs;
        break;
      }
  }
  UplinkFlows flows;
  for (auto &[leaf, sum] : load) {
    int whole = int(std::ceil(sum - 1e-9));
    flows.total += whole;
    flows.perLeaf = std::max(flows.perLeaf, whole);
  }
  flows.streams = all > 0 ? std::max(1, int(std::lround(pairs / all))) : 1;
  return flows;
}

FlowSpread PlayedCollective::spread(const PlayedNetwork &network, bool between) const {
  const Cluster &cluster = network.topology.cluster();
  int ranks = int(network.deviceOf.size());
  std::vector<RankTraffic> traffic;
  for (int rank = 0; rank < ranks; ++rank)
    if (const std::vector<int> *group = programs[rank].group)
      traffic.push_back(trafficOf(programs[rank].program, [&](int peer) {
        int other = (*group)[peer];
        return other < ranks &&
               (cluster.hostOf(network.deviceOf[rank]) != cluster.hostOf(network.deviceOf[other])) == between;
      }));
  return spreadOf(traffic, double(traffic.size()), segments > 1 ? 1 : double(longestChain));
}

namespace {
/// Draws for the messages of one collective, at one place.
struct MessageDraws {
  const Topology &topology;
  const Placement &placement;
  DrawPlace at;
  draws::Noise inside, between; ///< of links inside hosts and between them

  MessageDraws(const Topology &topology, const Placement &placement, const DrawPlace &at)
      : topology(topology), placement(placement), at(at), inside(topology.cluster().intra.profile.noise()),
        between(topology.cluster().inter.profile.noise()) {}

  bool toSwitch(int source, int target) const { return size_t(std::max(source, target)) >= placement.deviceOf.size(); }
  const draws::Noise &noise(int source, int target) const {
    const Cluster &cluster = topology.cluster();
    return placement.hostOf(source, cluster) == placement.hostOf(target, cluster) ? inside : between;
  }
  DrawPlace flow(int source, int target) const {
    DrawPlace place = at;
    place.where = uint64_t(placement.deviceOf[source]) << 32 | uint64_t(placement.deviceOf[target]);
    return place;
  }
  Seconds excess(int source, int target, uint64_t message) const {
    if (toSwitch(source, target))
      return {};
    DrawPlace place = flow(source, target);
    place.message = message;
    Seconds latency = topology.latency(placement.deviceOf[source], placement.deviceOf[target]);
    return {draws::messageExcess(noise(source, target), latency.value, place)};
  }
  double transfer(int source, int target) const {
    return toSwitch(source, target) ? 1 : draws::transferFactor(noise(source, target), flow(source, target));
  }
};
} // namespace

void addMessageNoise(PlayOptions &options, const DrawPlace &at, const Topology &topology, const Placement &placement) {
  options.excess = [draw = MessageDraws(topology, placement, at)](int source, int target, uint64_t message) {
    return draw.excess(source, target, message);
  };
}

void addNoise(PlayOptions &options, const DrawPlace &at, const Topology &topology, const Placement &placement) {
  addMessageNoise(options, at, topology, placement);
  if (topology.cluster().inter.profile.transfersVary() || topology.cluster().intra.profile.transfersVary())
    options.transfer = [draw = MessageDraws(topology, placement, at)](int source, int target) {
      return draw.transfer(source, target);
    };
}

Result<Seconds> playStepPrograms(const algorithms::Algorithm &algorithm, const CollectiveSpec &spec,
                                 const algorithms::StepOptions &settings, const Cluster &cluster,
                                 const Placement &placement, const DrawPlace *noise) {
  static const RankGroups everyone;
  const RankGroups &groups = spec.groups ? *spec.groups : everyone;
  Result<Topology> topology = Topology::build(cluster);
  if (!topology)
    return topology.error();
  algorithms::StepOptions made = settings;
  made.ragged = spec.counts != nullptr;
  PlayedCollective collective(algorithm, spec.kind, groups, made, *topology, placement);
  PlayedNetwork network(*topology, placement);
  network.helpers = collective.helpers();
  PlayOptions options;
  options.reduction = cluster.device.reduction;
  options.counts = spec.counts.get();
  if (noise)
    addNoise(options, *noise, *topology, placement);
  return collective.play(spec.bytes, network, options);
}

} // namespace braid::cost
