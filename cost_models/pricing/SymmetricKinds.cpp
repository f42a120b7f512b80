//===- SymmetricKinds.cpp - ranks that a symmetry of the program and the machine turns into one another -----------===//
//
// The leaf in the middle of the group plays, so that neighbours are where they are on the machine; who is further than half of the
// group away is taken for the rank as far on the other side. Of a leaf of many ranks only the first and the last host play: what
// leaves a host for another one of its leaf is then sent when the first host sends, and who is at the edge of a leaf is at its edge.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/algorithms/Levels.h"
#include "pricing/ClosedForms.h"
#include "pricing/KindMaker.h"
#include <algorithm>

namespace braid::cost {

using algorithms::Step;
using algorithms::StepProgram;

namespace {

/// setting: more messages than this are not played; of a group that prices only ever see in closed form, not more than so many where
/// fewer ranks can stand for the others.
constexpr int64_t mostMessages = 1 << 20, manyMessages = 1 << 14;

/// A way to turn the ranks of a group into one another.
struct Symmetry {
  enum Kind {
    Shift, ///< cyclic
    Xor,
    Grid, ///< of hosts, and of the members of all hosts
    Hosts ///< of hosts
  } kind;
  int ranks, perHost;
  /// Where the symmetry that takes `from` to `to` takes x.
  int translate(int x, int from, int to) const {
    if (kind == Shift)
      return ((x + to - from) % ranks + ranks) % ranks;
    if (kind == Xor)
      return x ^ from ^ to;
    int L = perHost, hosts = (ranks + L - 1) / L;
    int host = (x / L + to / L - from / L + hosts) % hosts, member = (x % L + to % L - from % L + L) % L;
    return host * L + member;
  }
};

/// The same messages with the same sizes, and peers that the symmetry turns into one another.
bool turned(const StepProgram &a, int rankA, const StepProgram &b, int rankB, const Symmetry &symmetry) {
  std::vector<std::vector<KindOp>> x = messagesOf(a), y = messagesOf(b);
  bool cut = symmetry.kind == Symmetry::Hosts; // the last host may be smaller, its blocks fewer
  if (x.size() != y.size() || (a.chunks != b.chunks && !cut))
    return false;
  for (size_t lane = 0; lane < x.size(); ++lane) {
    if (x[lane].size() != y[lane].size())
      return false;
    for (size_t i = 0; i < x[lane].size(); ++i)
      if (x[lane][i].type != y[lane][i].type || (!cut && x[lane][i].count != y[lane][i].count) ||
          symmetry.translate(x[lane][i].target, rankA, rankB) != y[lane][i].target)
        return false;
  }
  return true;
}

/// Where the machine looks the same from.
class Machine {
public:
  explicit Machine(const KindMaker &maker)
      : n(maker.n), perHost(maker.cluster.devicesPerHost),
        leafHosts(maker.cluster.hostsPerLeaf > 0 ? maker.cluster.hostsPerLeaf : maker.cluster.hosts),
        first(maker.first), maker(maker) {
    int leaf = leafHosts * perHost;
    if (n <= perHost && first % perHost + n <= perHost)
      period = 1; // inside one host
    else if (first % perHost || n % perHost)
      period = n;
    else if (underOneLeaf())
      period = perHost;
    else
      period = first % leaf || n % leaf ? n : leaf;
  }
  bool underOneLeaf() const {
    int hosts = (first + n - 1) / perHost - first / perHost + 1;
    return maker.cluster.topology == "single_switch" || (first / perHost) % leafHosts + hosts <= leafHosts;
  }
  const int n, perHost, leafHosts, first;
  int period; ///< ranks after which the machine looks the same; n where it does not

private:
  const KindMaker &maker;
};

/// Who plays, and for whom.
struct Cast {
  std::vector<int> ranks;
  std::function<int(int receiver, int sender)> playerOf; ///< -> number
};

int floorMod(int a, int b) { return (a % b + b) % b; }

/// `members`: of each host; 1 where any can be turned into any other.
Cast castOf(const Machine &machine, const Symmetry &symmetry, int members, int64_t messages, bool contended) {
  int L = machine.perHost, n = machine.n, leafHosts = machine.underOneLeaf() ? 1 : machine.leafHosts;
  Cast cast;
  if (machine.period == 1) {
    cast.ranks = {0};
    cast.playerOf = [](int, int) { return 0; };
    return cast;
  }
  bool exact = machine.period < n;      // whole leaves
  if (!exact && n <= mostPlayedRanks) { // all play
    for (int rank = 0; rank < n; ++rank)
      if (rank % L < members)
        cast.ranks.push_back(rank);
    cast.playerOf = [=](int, int sender) { return sender / L * members + sender % L % members; };
    return cast;
  }
  // Hosts of the leaf that play: all, or the two at its ends.
  bool all = n <= mostPlayedRanks || contended || leafHosts * members * messages <= manyMessages;
  if (contended && !exact)
    return cast;
  int hosts = n / L, leaf = exact ? 0 : std::max(0, (hosts / leafHosts - 1) / 2);
  int first = machine.first % (leafHosts * L) ? 0 : leaf * leafHosts;
  for (int host = 0; host < leafHosts; host += all ? 1 : std::max(1, leafHosts - 1))
    for (int member = 0; member < members; ++member)
      cast.ranks.push_back((first + host) * L + member);
  cast.playerOf = [=](int receiver, int sender) {
    if (symmetry.kind != Symmetry::Xor) { // unwrapped: at most half of the group away
      int around = symmetry.kind == Symmetry::Shift ? n : (n + L - 1) / L * L; // hosts are turned as wholes
      int away = floorMod(sender - receiver, around);
      sender = receiver + (2 * away >= around ? away - around : away);
    }
    int host = floorMod(floorMod(sender, leafHosts * L) / L, leafHosts);
    int player = all ? host : leafHosts > 1 && host == leafHosts - 1;
    return player * members + floorMod(sender, L) % members;
  };
  return cast;
}

} // namespace

/// Everyone who plays does what rank 0 does, turned.
static bool connectTurned(KindMaker &maker, const Symmetry &symmetry, const Cast &cast) {
  maker.players.clear();
  maker.add(0);
  std::vector<std::vector<KindOp>> &base = maker.players[0].lanes;
  for (size_t lane = 0; lane < base.size(); ++lane) {
    std::unordered_map<int, std::vector<int>> sends; // to a rank
    std::unordered_map<int, int> received;           // from a rank
    int number = 0;
    for (const KindOp &op : base[lane])
      if (op.type == KindOp::Send)
        sends[op.target].push_back(number++);
    for (KindOp &op : base[lane])
      if (op.type == KindOp::Receive) {
        const std::vector<int> &list = sends[symmetry.translate(0, op.target, 0)];
        int nth = received[op.target]++;
        if (nth >= int(list.size()))
          return false;
        op.lane = int(lane);
        op.index = list[nth];
      }
  }
  std::vector<std::vector<KindOp>> own = base;
  maker.players.clear();
  for (int rank : cast.ranks) {
    maker.players.push_back({rank, own});
    for (std::vector<KindOp> &lane : maker.players.back().lanes)
      for (KindOp &op : lane) {
        op.target = symmetry.translate(op.target, 0, rank);
        op.player = op.type == KindOp::Receive ? cast.playerOf(rank, op.target) : -1;
      }
  }
  return true;
}

/// The players' own programs; a host's stand for all hosts'.
static bool connectHosts(KindMaker &maker, const Symmetry &symmetry, const Cast &cast) {
  maker.players.clear();
  for (int rank : cast.ranks)
    maker.add(rank);
  return maker.connect([&](int sender, int receiver, int lane, int nth, KindOp &op) {
    int player = cast.playerOf(receiver, sender), rank = maker.players[player].rank;
    return maker.hears(op, player, lane, symmetry.translate(receiver, sender, rank), nth);
  });
}

bool symmetricKinds(KindMaker &maker) {
  const Cluster &cluster = maker.cluster;
  Machine machine(maker);
  int n = maker.n, L = cluster.devicesPerHost;
  bool wholeHosts = n % L == 0 && maker.first % L == 0;
  const StepProgram &own = maker.programOf(0);
  int64_t messages = std::count_if(own.steps.begin(), own.steps.end(), [](const Step &step) { return !step.more; }) / 2;
  auto same = [&](const Symmetry &symmetry, int from, int to) {
    return from >= n || to >= n || from == to || turned(maker.programOf(from), from, maker.programOf(to), to, symmetry);
  };
  auto play = [&](const Symmetry &symmetry, int members) {
    Cast cast = castOf(machine, symmetry, members, messages, maker.contended());
    if (cast.ranks.empty() || int64_t(cast.ranks.size()) * messages > mostMessages)
      return false;
    maker.near = machine.period == n && n > mostPlayedRanks; // around a cut last leaf or host messages meet on spines
    return symmetry.kind == Symmetry::Hosts ? connectHosts(maker, symmetry, cast)
                                            : connectTurned(maker, symmetry, cast);
  };

  if (cluster.nicsPerHost == L && wholeHosts && L > 1 && n > L) {
    Symmetry grid{Symmetry::Grid, n, L};
    if (same(grid, 0, n / 2 / L * L + 1) && same(grid, 0, n - 1) && play(grid, 1))
      return true;
  }
  int divisor = algorithms::dealtPerHost(n);
  if (machine.period == 1 && divisor > 1) { // all ranks are equally far: any permutation is a symmetry of the machine
    Symmetry grid{Symmetry::Grid, n, divisor};
    if (same(grid, 0, n / 2 + 1) && same(grid, 0, n - 1) && play(grid, machine.perHost))
      return true;
  }
  if ((n & (n - 1)) == 0 && (machine.period & (machine.period - 1)) == 0 && (L & (L - 1)) == 0) {
    Symmetry exclusive{Symmetry::Xor, n, 1};
    if (same(exclusive, 0, n / 2) && same(exclusive, 0, n - 1) && play(exclusive, L))
      return true;
  }
  Symmetry shift{Symmetry::Shift, n, 1};
  if (same(shift, 0, n / 2) && same(shift, 0, n - 1) && play(shift, L))
    return true;
  Symmetry hosts{Symmetry::Hosts, n, L};
  return L > 1 && n > mostPlayedRanks && n > 2 * L && maker.first % L == 0 && same(hosts, L, 2 * L) &&
         same(hosts, 2 * L - 1, n / 2 / L * L - 1) && play(hosts, L);
}

} // namespace braid::cost
