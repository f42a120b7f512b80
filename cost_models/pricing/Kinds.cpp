//===- Kinds.cpp - who plays, and for whom ----------------------------------------------------------------------===//
#include "pricing/Kinds.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace braid::cost {

using algorithms::Action;
using algorithms::Step;
using algorithms::StepProgram;

namespace {

/// More ranks than this are not played by shape; more messages than that not at all. (A parameter server has as many servers.)
constexpr int mostShapes = 64;
constexpr int64_t mostMessages = 1 << 17;

/// A way to turn the ranks of a group into one another.
struct Symmetry {
  enum Kind { Shift, Xor, Grid } kind;
  int ranks, perHost;
  /// Where the symmetry that takes `from` to `to` takes x.
  int translate(int x, int from, int to) const {
    if (kind == Shift)
      return ((x + to - from) % ranks + ranks) % ranks;
    if (kind == Xor)
      return x ^ from ^ to;
    int hosts = ranks / perHost, L = perHost;
    int host = (x / L + to / L - from / L + hosts) % hosts, member = (x % L + to % L - from % L + L) % L;
    return host * L + member;
  }
};

/// The next message from step i on: its last step, and chunks of all its steps.
const Step &messageAt(const StepProgram &program, size_t &i, int64_t &chunks) {
  chunks = 0;
  while (true) {
    const Step &step = program.steps[i++];
    chunks += step.count;
    if (!step.more)
      return step;
  }
}

/// The same messages with the same sizes, and peers that the symmetry turns into one another.
bool turned(const StepProgram &a, int rankA, const StepProgram &b, int rankB, const Symmetry &symmetry) {
  size_t i = 0, j = 0;
  while (i < a.steps.size() && j < b.steps.size()) {
    int64_t chunksA, chunksB;
    const Step &x = messageAt(a, i, chunksA), &y = messageAt(b, j, chunksB);
    if (x.action != y.action || chunksA != chunksB || x.channel != y.channel ||
        symmetry.translate(x.peer, rankA, rankB) != y.peer)
      return false;
  }
  return i == a.steps.size() && j == b.steps.size() && a.chunks == b.chunks;
}

uint64_t shapeOf(const StepProgram &program) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const Step &step : program.steps)
    for (uint64_t value : {uint64_t(step.action), uint64_t(step.channel), uint64_t(step.more)})
      hash = (hash ^ value) * 0x100000001b3u;
  return hash;
}

} // namespace

class KindMaker {
public:
  KindMaker(const algorithms::Algorithm &algorithm, CollectiveKind kind, int n, const algorithms::StepOptions &options,
            const Topology &topology, int first)
      : algorithm(algorithm), kind(kind), n(n), options(options), topology(topology), first(first) {}

  std::unique_ptr<KindProgram> make() {
    const Cluster &cluster = topology.cluster();
    if (!cluster.groups.empty() || cluster.topology == "three_tier" || cluster.routing != Routing::Static ||
        cluster.planes != 1)
      return nullptr; // not the same everywhere
    made = std::make_unique<KindProgram>();
    made->collective = kind;
    made->groupRanks = n;
    if (!bySymmetry() && !byShape() && !byDepth())
      return nullptr;
    for (KindRank &player : made->ranks)
      for (std::vector<KindOp> &lane : player.lanes) {
        player.listeners.emplace_back(std::count_if(lane.begin(), lane.end(), isSend));
      }
    for (int player = 0; player < made->players(); ++player)
      for (size_t lane = 0; lane < made->ranks[player].lanes.size(); ++lane)
        for (size_t o = 0; o < made->ranks[player].lanes[lane].size(); ++o)
          if (const KindOp &op = made->ranks[player].lanes[lane][o]; op.type == KindOp::Receive)
            made->ranks[op.player].listeners[op.lane][op.index].push_back({player, int(lane), int(o)});
    made->how = text("one rank of each of %d kinds", made->players());
    return std::move(made);
  }

private:
  static bool isSend(const KindOp &op) { return op.type == KindOp::Send; }
  /// Workers far apart send the same messages to the same ranks; their programs need not all be made.
  int twinOf(int rank) const {
    if (algorithm.name == "parameter_server" && rank >= 2 * mostShapes)
      return mostShapes + rank % mostShapes;
    return algorithm.name == "master_worker" && rank > 1 ? 1 : rank;
  }

  const StepProgram &programOf(int rank) {
    auto [found, isNew] = programs.try_emplace(rank);
    if (isNew)
      found->second = algorithm.program(kind, n, rank, options);
    return found->second;
  }

  //===- symmetric ----------------------------------------------------------------------------------------------===//

  /// Ranks after which the machine looks the same; n where it does not.
  int machinePeriod() const {
    const Cluster &cluster = topology.cluster();
    int perHost = cluster.devicesPerHost, leafHosts = cluster.hostsPerLeaf > 0 ? cluster.hostsPerLeaf : cluster.hosts;
    if (n <= perHost && first % perHost + n <= perHost)
      return 1; // inside one host
    if (first % perHost || n % perHost)
      return n;
    if (cluster.topology == "single_switch" || (first / perHost) % leafHosts + n / perHost <= leafHosts)
      return perHost; // under one leaf
    int leaf = leafHosts * perHost;
    return first % leaf || n % leaf ? n : leaf;
  }

  bool bySymmetry() {
    const Cluster &cluster = topology.cluster();
    int period = machinePeriod(), perHost = cluster.devicesPerHost;
    bool rails = cluster.nicsPerHost == perHost && n % perHost == 0 && first % perHost == 0;
    std::vector<std::pair<Symmetry, std::vector<int>>> ways; // with the ranks that play
    auto firstOf = [](int count) {
      std::vector<int> list(count);
      for (int i = 0; i < count; ++i)
        list[i] = i;
      return list;
    };
    if (rails && perHost > 1 && n > perHost && period < n) {
      std::vector<int> list;
      for (int host = 0; host < std::max(1, period / perHost); ++host)
        list.push_back(host * perHost);
      ways.push_back({{Symmetry::Grid, n, perHost}, list});
    }
    int divisor = 1; // of hosts that an algorithm makes up where it knows of none
    for (int d = 2; d * d <= n; ++d)
      if (n % d == 0)
        divisor = d;
    if (period == 1 && divisor > 1) // all ranks are equally far: any permutation is a symmetry of the machine
      ways.push_back({{Symmetry::Grid, n, divisor}, {0}});
    if ((n & (n - 1)) == 0 && (period & (period - 1)) == 0)
      ways.push_back({{Symmetry::Xor, n, 1}, firstOf(period)});
    ways.push_back({{Symmetry::Shift, n, 1}, firstOf(period)});
    for (auto &[symmetry, players] : ways)
      if (holds(symmetry, players)) {
        for (int rank : players)
          add(rank);
        int count = int(players.size());
        auto playerOf = [&, symmetry = symmetry](int rank) {
          if (symmetry.kind == Symmetry::Grid)
            return rank / symmetry.perHost % count;
          return rank % count;
        };
        return connect([&, symmetry = symmetry](int sender, int receiver, int lane, int nth, KindOp &op) {
          int player = playerOf(sender), rank = made->ranks[player].rank;
          int target = symmetry.translate(receiver, sender, rank);
          return pick(op, player, lane, sendIndex(player, lane, target, nth));
        });
      }
    return false;
  }

  /// Whether the programs of some ranks are what the symmetry makes of those that play, and these are few enough.
  bool holds(const Symmetry &symmetry, const std::vector<int> &players) {
    const StepProgram &own = programOf(players[0]);
    if (int64_t(own.steps.size()) / 2 * int64_t(players.size()) > mostMessages)
      return false;
    auto same = [&](int a, int b) { return turned(programOf(a), a, programOf(b), b, symmetry); };
    int count = int(players.size());
    if (count == n) // all play; no symmetry is needed
      return true;
    if (symmetry.kind == Symmetry::Grid)
      return same(0, n / 2 + 1) && same(players.back(), n - 1);
    for (int to : {count, n / 2, n - count, n - 1})
      if (!same(to % count, to))
        return false;
    return true;
  }

  /// Whether ranks that do not play get in the way of those that do.
  bool contended() const {
    const Cluster &cluster = topology.cluster();
    return cluster.oversubscription > 1 || (cluster.hosts > 1 && cluster.nicsPerHost < cluster.devicesPerHost);
  }

  //===- by shape -----------------------------------------------------------------------------------------------===//

  bool byShape() {
    static const char *const known[] = {"binomial_tree", "master_worker", "naive_exchange", "parameter_server"};
    const Cluster &cluster = topology.cluster();
    bool flat = cluster.devicesPerHost == 1 || n <= cluster.devicesPerHost; // all ranks are equally far
    if (std::find(std::begin(known), std::end(known), algorithm.name) == std::end(known) || contended() ||
        (!flat && (algorithm.name == "naive_exchange" || algorithm.name == "parameter_server")))
      return false;
    made->ranks.clear();
    bool tree = algorithm.name == "binomial_tree";
    auto kindOf = [&](int rank) {
      if (!tree) {
        auto [found, isNew] = shapes.try_emplace(twinOf(rank));
        if (isNew)
          found->second = shapeOf(programOf(twinOf(rank)));
        return found->second;
      }
      int v = (rank - options.root + n) % n, size = v & -v; // descendants, if none were cut
      return uint64_t(size) << 32 | uint64_t(std::min(size, n - v));
    };
    auto above = [&](int sender,
                     int receiver) { // a parent is itself: when it sends depends on the whole way to the root
      return tree && (sender - options.root + n) % n < (receiver - options.root + n) % n;
    };
    std::map<uint64_t, int> ofKind; // -> player
    std::map<int, int> playerOf;
    int power = 1 << int(std::log2(n));
    for (int end : {n - 1, power - 1, 0}) // the ends of the longest ways
      if (int rank = (end + options.root) % n; playerOf.try_emplace(rank, made->players()).second) {
        ofKind.try_emplace(kindOf(rank), made->players());
        add(rank);
      }
    for (size_t i = 0; i < made->ranks.size(); ++i) // grows
      for (size_t lane = 0; lane < made->ranks[i].lanes.size(); ++lane)
        for (size_t o = 0; o < made->ranks[i].lanes[lane].size(); ++o) {
          KindOp op = made->ranks[i].lanes[lane][o];
          if (op.type != KindOp::Receive || playerOf.count(op.target))
            continue;
          bool isNew = ofKind.try_emplace(kindOf(op.target), made->players()).second;
          if (isNew || above(op.target, made->ranks[i].rank)) {
            if (made->players() == mostShapes)
              return false;
            playerOf[op.target] = made->players();
            add(op.target);
          }
        }
    return connect([&](int sender, int receiver, int lane, int nth, KindOp &op) {
      auto self = playerOf.find(sender);
      if (self != playerOf.end())
        return pick(op, self->second, lane, sendIndex(self->second, lane, receiver, nth));
      int index = 0;
      for (const Step &step : programOf(twinOf(sender)).steps)
        if (step.action == Action::Send && step.channel == lane && !step.more) {
          if (step.peer == receiver && nth-- == 0)
            return pick(op, ofKind[kindOf(sender)], lane, index);
          ++index;
        }
      return false;
    });
  }

  //===- by depth -----------------------------------------------------------------------------------------------===//

  /// One rank's place in the tree of a lane.
  struct TreePlace {
    int parent = -1, depth = 0, children = 0;
    int child[2] = {-1, -1};
    int order = 0; ///< among the parent's children
    int roleOf(int peer) const { return peer == parent ? 2 : peer == child[1] ? 1 : 0; }
    int at(int role) const { return role == 2 ? parent : child[role]; }
  };
  TreePlace placeOf(int rank, int lane) {
    auto [found, isNew] = places.try_emplace({rank, lane});
    if (!isNew)
      return found->second;
    TreePlace place;
    algorithms::StepOptions single = options;
    single.segments = 1;
    std::vector<int> others;
    for (const Step &step : algorithm.program(kind, n, rank, single).steps)
      if (step.channel == lane) {
        if (step.action == Action::Receive)
          place.parent = step.peer;
        else if (step.action == Action::Send)
          others.push_back(step.peer);
      }
    for (int peer : others)
      if (peer != place.parent && place.children < 2)
        place.child[place.children++] = peer;
    if (place.parent >= 0) {
      TreePlace above = placeOf(place.parent, lane);
      place.depth = above.depth + 1;
      place.order = above.roleOf(rank);
    }
    return places[{rank, lane}] = place;
  }

  bool byDepth() {
    if (algorithm.name != "double_binary_tree" || n < 3 || contended())
      return false;
    made->ranks.clear();
    std::map<int, int> playerOf;
    int power = 1 << int(std::log2(n));
    std::vector<int> ends; // where the deepest leaves are
    for (int near : {0, power, n - power, n})
      for (int rank = std::max(0, near - 4); rank < std::min(n, near + 4); ++rank)
        ends.push_back(rank);
    std::map<std::vector<int>, int> ofKind;
    auto kindOf = [&](int rank) {
      std::vector<int> kind;
      for (int lane = 0; lane < 2; ++lane) {
        TreePlace place = placeOf(rank, lane);
        kind.insert(kind.end(), {place.depth, place.children, place.order});
      }
      return kind;
    };
    auto play = [&](int rank) {
      if (!playerOf.try_emplace(rank, made->players()).second)
        return;
      ofKind.try_emplace(kindOf(rank), made->players());
      add(rank);
    };
    for (int lane = 0; lane < 2; ++lane) {
      int deepest = *std::max_element(ends.begin(), ends.end(), [&](int a, int b) {
        return std::make_pair(placeOf(a, lane).depth, lane ? -a : a) <
               std::make_pair(placeOf(b, lane).depth, lane ? -b : b);
      });
      for (int rank = deepest; rank >= 0; rank = placeOf(rank, lane).parent)
        play(rank);
    }
    for (size_t i = 0; i < made->ranks.size(); ++i) // grows
      for (size_t lane = 0; lane < made->ranks[i].lanes.size(); ++lane)
        for (size_t o = 0; o < made->ranks[i].lanes[lane].size(); ++o) {
          KindOp op = made->ranks[i].lanes[lane][o];
          if (op.type == KindOp::Receive && !ofKind.count(kindOf(op.target)))
            play(op.target);
          if (made->players() > 4 * mostShapes)
            return false;
        }
    return connect([&](int sender, int receiver, int lane, int nth, KindOp &op) {
      auto self = playerOf.find(sender);
      if (self != playerOf.end())
        return pick(op, self->second, lane, sendIndex(self->second, lane, receiver, nth));
      int player = ofKind[kindOf(sender)], role = placeOf(sender, lane).roleOf(receiver);
      int target = placeOf(made->ranks[player].rank, lane).at(role);
      return pick(op, player, lane, sendIndex(player, lane, target, nth));
    });
  }
  std::map<std::pair<int, int>, TreePlace> places; ///< (rank, lane)

  //===- who sends what -----------------------------------------------------------------------------------------===//

  void add(int rank) {
    const StepProgram &program = programOf(rank);
    KindRank player;
    player.rank = rank;
    player.lanes.resize(program.channels);
    double part = 0;
    bool reduces = false;
    for (const Step &step : program.steps) {
      part += double(step.count) / program.chunks;
      reduces |= step.action != Action::Receive && step.action != Action::Send;
      if (step.more)
        continue;
      KindOp op;
      op.type = step.action == Action::Send      ? KindOp::Send
                : step.action == Action::Combine ? KindOp::Combine
                                                 : KindOp::Receive;
      op.part = part;
      op.reduces = reduces;
      op.target = step.peer;
      op.path = op.type == KindOp::Send      ? topology.path(first + rank, first + step.peer)
                : op.type == KindOp::Receive ? topology.path(first + step.peer, first + rank)
                                             : Topology::Path();
      player.lanes[step.channel].push_back(op);
      part = 0;
      reduces = false;
    }
    made->ranks.push_back(std::move(player));
  }

  /// Which send of a player's lane is its `nth` to a rank; -1: none.
  int sendIndex(int player, int lane, int target, int nth) {
    auto &index = sends[{player, lane}];
    if (index.empty()) {
      int number = 0;
      for (const KindOp &op : made->ranks[player].lanes[lane])
        if (op.type == KindOp::Send)
          index[op.target].push_back(number++);
    }
    const std::vector<int> &list = index[target];
    return nth < int(list.size()) ? list[nth] : -1;
  }

  static bool pick(KindOp &op, int player, int lane, int index) {
    op.player = player;
    op.lane = lane;
    op.index = index;
    return index >= 0;
  }

  template <typename Find> bool connect(Find find) {
    for (KindRank &player : made->ranks)
      for (size_t lane = 0; lane < player.lanes.size(); ++lane) {
        std::unordered_map<int, int> received; // from a rank
        for (KindOp &op : player.lanes[lane])
          if (op.type == KindOp::Receive && !find(op.target, player.rank, int(lane), received[op.target]++, op))
            return false;
      }
    return true;
  }

  const algorithms::Algorithm &algorithm;
  CollectiveKind kind;
  int n;
  const algorithms::StepOptions &options;
  const Topology &topology;
  int first;
  std::unordered_map<int, StepProgram> programs;
  std::unordered_map<int, uint64_t> shapes;
  std::map<std::pair<int, int>, std::unordered_map<int, std::vector<int>>> sends; ///< (player, lane) -> target -> which
  std::unique_ptr<KindProgram> made;
};

std::unique_ptr<KindProgram> KindProgram::make(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                               const algorithms::StepOptions &options, const Topology &topology,
                                               int first) {
  return KindMaker(algorithm, kind, ranks, options, topology, first).make();
}

int64_t KindProgram::messages() const {
  int64_t count = 0;
  for (const KindRank &player : ranks)
    for (const std::vector<KindOp> &lane : player.lanes)
      count += std::count_if(lane.begin(), lane.end(), [](const KindOp &op) { return op.type == KindOp::Send; });
  return count;
}

} // namespace braid::cost
