//===- TreeKinds.cpp - ranks with as many steps of the same kinds in the same order -------------------------------===//
//
// Trees, masters and workers: kinds are by what a rank does. Whoever is above a player plays too: when it sends down depends on
// the whole way to the root.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/algorithms/Levels.h"
#include "pricing/ClosedForms.h"
#include "pricing/KindMaker.h"
#include <algorithm>

namespace braid::cost {

using algorithms::Action;
using algorithms::Step;
using algorithms::StepProgram;

/// Place v of n in a binomial tree: descendants if none were cut, and how many there are.
static uint64_t binomialKind(int v, int n) {
  int size = v & -v;
  return uint64_t(size) << 32 | uint64_t(std::min(size, n - v));
}

/// The root, and the ends of the longest ways to and from it: the last place, the last one of the largest full subtree, and those
/// that a short message reaches last. `latency(parent, place)`; a child waits for the `turn` of each before it.
template <typename Latency> static std::vector<int> farPlaces(int n, Latency latency) {
  int power = 1;
  while (2 * power <= n)
    power *= 2;
  std::vector<int> far = {n - 1, power - 1, 0};
  for (double turns : {0.0, 0.3}) { // setting: short messages, and some that are not
    std::vector<double> reached(n);
    for (int v = 1; v < n; ++v) {
      int parent = v & (v - 1);
      double hop = latency(parent, v), before = 0; // of the parent's children
      for (int bit = (v & -v) * 2; parent + bit < n && (parent == 0 || bit < (parent & -parent)); bit *= 2)
        ++before;
      reached[v] = reached[parent] + hop * (1 + turns * (1 + before));
    }
    far.push_back(int(std::max_element(reached.begin(), reached.end()) - reached.begin()));
  }
  return far;
}

//===- one tree of all ranks, masters and workers -----------------------------------------------------------------===//

namespace {
class Shapes {
public:
  explicit Shapes(KindMaker &maker) : maker(maker), n(maker.n), tree(maker.algorithm.name == "binomial_tree") {}

  bool make() {
    auto latency = [&](int a, int b) {
      auto rank = [&](int place) { return (place + maker.options.root) % n; };
      return tree ? maker.topology.latency(maker.first + rank(a), maker.first + rank(b)).value : 0;
    };
    for (int place : farPlaces(n, latency))
      if (int rank = (place + maker.options.root) % n; playerOf.try_emplace(rank, count()).second)
        play(rank);
    for (size_t i = 0; i < maker.players.size(); ++i) // grows
      for (size_t lane = 0; lane < maker.players[i].lanes.size(); ++lane)
        for (size_t o = 0; o < maker.players[i].lanes[lane].size(); ++o) {
          KindOp op = maker.players[i].lanes[lane][o];
          if (op.type != KindOp::Receive || playerOf.count(op.target) ||
              (ofKind.count(kindOf(op.target)) && !above(op.target, maker.players[i].rank)))
            continue;
          if (count() == mostShapes)
            return false;
          playerOf[op.target] = count();
          play(op.target);
        }
    return maker.connect([&](int sender, int receiver, int lane, int nth, KindOp &op) {
      auto self = playerOf.find(sender);
      if (self != playerOf.end())
        return maker.hears(op, self->second, lane, receiver, nth);
      op.player = ofKind[kindOf(sender)];
      op.lane = lane;
      op.index = 0;
      for (const Step &step : maker.programOf(twinOf(sender)).steps)
        if (step.action == Action::Send && step.channel == lane && !step.more) {
          if (step.peer == receiver && nth-- == 0)
            return true;
          ++op.index;
        }
      return false;
    });
  }

private:
  int count() const { return int(maker.players.size()); }
  void play(int rank) {
    ofKind.try_emplace(kindOf(rank), count());
    maker.add(rank);
  }
  bool above(int sender, int receiver) const {
    return tree && (sender - maker.options.root + n) % n < (receiver - maker.options.root + n) % n;
  }
  /// Workers far apart send the same messages to the same ranks; their programs need not all be made.
  int twinOf(int rank) const {
    if (maker.algorithm.name == "parameter_server" && rank >= 2 * mostShapes)
      return mostShapes + rank % mostShapes;
    return maker.algorithm.name == "master_worker" && rank > 1 ? 1 : rank;
  }
  uint64_t kindOf(int rank) {
    if (tree)
      return binomialKind((rank - maker.options.root + n) % n, n);
    auto [found, isNew] = shapes.try_emplace(twinOf(rank));
    if (isNew)
      for (const Step &step : maker.programOf(twinOf(rank)).steps)
        for (uint64_t value : {uint64_t(step.action), uint64_t(step.channel), uint64_t(step.more)})
          found->second = (found->second ^ value) * 0x100000001b3u + 1;
    return found->second;
  }

  KindMaker &maker;
  const int n;
  const bool tree;
  std::unordered_map<uint64_t, int> ofKind; ///< -> player
  std::unordered_map<int, int> playerOf;
  std::unordered_map<int, uint64_t> shapes;
};

//===- trees of hosts ---------------------------------------------------------------------------------------------===//

/// Hierarchical broadcast and reduce: kinds are of hosts, whose members all play; the last host may have fewer. In one host of the
/// machine, whose ranks are all equally far, the hosts are those that the algorithm makes up (Hosts.cpp in runtime/algorithms).
class HostTrees {
public:
  explicit HostTrees(KindMaker &maker)
      : maker(maker), L(maker.options.hosts.empty() ? algorithms::dealtPerHost(maker.n)
                                                    : std::min(maker.n, maker.cluster.devicesPerHost)),
        H((maker.n + L - 1) / L), rootHost(maker.options.root / L) {}

  bool make() {
    maker.near = maker.n % L != 0; // rails of the smallest host: what the others' last ranks get comes from one of them
    auto latency = [&](int a, int b) {
      return maker.topology.latency(maker.first + hostAt(a) * L, maker.first + hostAt(b) * L).value;
    };
    for (int place : farPlaces(H, latency))
      playHost(hostAt(place));
    for (size_t i = 0; i < maker.players.size(); ++i) // grows
      for (size_t lane = 0; lane < maker.players[i].lanes.size(); ++lane)
        for (size_t o = 0; o < maker.players[i].lanes[lane].size(); ++o) {
          KindOp op = maker.players[i].lanes[lane][o];
          int host = op.target / L, own = maker.players[i].rank / L;
          if (op.type == KindOp::Receive && host != own &&
              (placeOf(host) < placeOf(own) || !ofKind.count(kindOf(host))))
            playHost(host);
          if (maker.players.size() > size_t(mostShapes) * L)
            return false;
        }
    return maker.connect([&](int sender, int receiver, int lane, int nth, KindOp &op) {
      int host = sender / L, as = plays.count(host * L) ? host : ofKind[kindOf(host)];
      int target = (as + receiver / L - host + H) % H * L + receiver % L;
      auto player = plays.find(as * L + sender % L);
      return player != plays.end() && maker.hears(op, player->second, lane, target, nth);
    });
  }

private:
  int hostAt(int place) const { return (place + rootHost) % H; }
  int placeOf(int host) const { return (host - rootHost + H) % H; }
  int sizeOf(int host) const { return std::min(L, maker.n - host * L); }
  uint64_t kindOf(int host) const {
    int place = placeOf(host);
    return binomialKind(place, H) << 1 | uint64_t(sizeOf(host) < L);
  }
  void playHost(int host) {
    ofKind.try_emplace(kindOf(host), host);
    for (int rank = host * L; rank < host * L + sizeOf(host); ++rank)
      if (plays.try_emplace(rank, int(maker.players.size())).second)
        maker.add(rank);
  }

  KindMaker &maker;
  const int L, H, rootHost;
  std::unordered_map<int, int> plays;       ///< rank -> player
  std::unordered_map<uint64_t, int> ofKind; ///< -> host
};
} // namespace

bool treeKinds(KindMaker &maker) {
  const std::string &name = maker.algorithm.name;
  const Cluster &cluster = maker.cluster;
  if (maker.contended())
    return false;
  if (name == "hierarchical" && (maker.kind == CollectiveKind::Broadcast || maker.kind == CollectiveKind::Reduce))
    return (maker.options.hosts.empty() || maker.first % cluster.devicesPerHost == 0) && HostTrees(maker).make();
  bool flat = cluster.devicesPerHost == 1 || maker.n <= cluster.devicesPerHost; // all ranks are equally far
  bool exchange = name == "naive_exchange" || name == "parameter_server";
  bool known = name == "binomial_tree" || name == "master_worker" || exchange;
  maker.near =
      exchange && !flat; // who is near and who is far, and in which order they are sent to, differs from host to host
  return known && Shapes(maker).make();
}

} // namespace braid::cost
