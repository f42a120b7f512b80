//===- DoublingKinds.cpp - exchanges by halves and doubles on other than powers of two ----------------------------===//
//
// n = m + r ranks, m a power of two. Either the first 2 r ranks are pairs of which one takes part (Fold.h in runtime/algorithms):
// it starts a message later than the others, and whoever exchanges with it is late too, and whoever exchanges with those. A kind
// is: when short messages let it and each member that it meets begin each exchange, how many blocks they exchange, how far
// apart they are, and how many others meet over the same link of a spine; and of which kinds those are that it meets.
//
// Or the ranks are dealt in blocks that are powers of two (BinaryBlocks.cpp there): a kind is a block, and whether a rank is first,
// last or between among those that hear from the same rank of the next smaller block, and likewise that one, as far as that
// makes not too many kinds.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/draws/Draws.h"
#include "pricing/KindMaker.h"
#include <algorithm>
#include <array>

namespace braid::cost {

namespace {

/// setting: rounds in which kinds are told apart by whom they meet, and more kinds than which make that stop.
constexpr int refinements = 3, mostDoubles = 192;

uint64_t with(uint64_t hash, uint64_t value) { return draws::mix(hash, value); }

/// 0: one host, 1: one leaf, 2: further.
int apart(const KindMaker &maker, int a, int b) {
  int hostA = maker.cluster.hostOf(maker.first + a), hostB = maker.cluster.hostOf(maker.first + b);
  return hostA == hostB ? 0 : maker.cluster.sameLeaf(hostA, hostB) ? 1 : 2;
}

/// One rank of each kind plays: the one with the longest ways.
class OneOfEach {
public:
  void see(uint64_t kind, int rank, int way) {
    auto [found, isNew] = best.try_emplace(kind, std::make_pair(way, rank));
    if (!isNew && way > found->second.first)
      found->second = {way, rank};
  }
  size_t count() const { return best.size(); }
  void play(KindMaker &maker) {
    for (auto &[kind, who] : best) {
      playerOf[kind] = int(maker.players.size());
      maker.add(who.second);
    }
  }
  std::unordered_map<uint64_t, int> playerOf; ///< by kind

private:
  std::map<uint64_t, std::pair<int, int>> best; ///< kind -> how far, rank
};

class Folded {
public:
  explicit Folded(KindMaker &maker) : maker(maker), n(maker.n) {
    while (2 * m <= n)
      m *= 2;
    r = n - m;
    bool doubles = maker.algorithm.name == "recursive_doubling" || maker.kind == CollectiveKind::AllGather;
    for (int d = doubles ? 1 : m / 2; d >= 1 && d < m; d = doubles ? 2 * d : d / 2)
      distances.push_back(d);
    if (!doubles && maker.kind == CollectiveKind::AllReduce) // and back
      for (int d = 1; d < m; d *= 2)
        distances.push_back(d);
    inBlocks = maker.kind == CollectiveKind::AllGather || maker.kind == CollectiveKind::ReduceScatter;
  }

  bool make() {
    beginAll();
    findWays();
    std::vector<int> far(m);
    kinds.resize(m);
    for (int v = 0; v < m; ++v)
      kinds[v] = firstKind(v, far[v]);
    OneOfEach players = oneOfEach(far);
    for (int round = 0; round < refinements; ++round) {
      std::vector<uint64_t> coarse = kinds;
      for (int v = 0; v < m; ++v)
        for (int d : distances)
          kinds[v] = with(kinds[v], coarse[v ^ d]);
      OneOfEach finer = oneOfEach(far);
      size_t most = meets ? mostDoubles / 2 : mostDoubles; // an estimate in any case, if messages meet on spines
      maker.near |= finer.count() > most;
      if (finer.count() == players.count() || finer.count() > most) {
        kinds = coarse;
        break;
      }
      players = std::move(finer);
    }
    if (players.count() > 2 * mostDoubles)
      return false;
    players.play(maker);
    for (KindMaker::Player &player : maker.players)
      crowd(player);
    return maker.connect([&](int sender, int receiver, int lane, int nth, KindOp &op) {
      int player = players.playerOf[kindOf(sender)], rank = maker.players[player].rank;
      if (sitsOut(sender))
        return maker.hears(op, player, lane, rank + 1, nth);
      if (sitsOut(receiver))
        return maker.hears(op, player, lane, rank - 1, nth);
      return maker.hears(op, player, lane, rankOf(memberOf(rank) ^ memberOf(sender) ^ memberOf(receiver)), nth);
    });
  }

private:
  bool folded(int rank) const { return rank < 2 * r; }
  bool sitsOut(int rank) const { return folded(rank) && rank % 2 == 0; }
  int memberOf(int rank) const { return folded(rank) ? rank / 2 : rank - r; }
  int rankOf(int member) const { return member < r ? 2 * member + 1 : member + r; }
  int blocksFrom(int member, int count) const { // of the ranks that `count` members stand for
    auto firstOf = [&](int v) { return v < r ? 2 * v : v + r; };
    return firstOf(member + count) - firstOf(member);
  }

  /// When each member begins each exchange, if messages have latency alone.
  void beginAll() {
    auto latency = [&](int a, int b) { return maker.topology.latency(maker.first + a, maker.first + b).value; };
    begins.assign(distances.size(), std::vector<double>(m));
    std::vector<double> now(m);
    for (int v = 0; v < r; ++v)
      now[v] = latency(2 * v, 2 * v + 1);
    for (size_t step = 0; step < distances.size(); ++step) {
      begins[step] = now;
      for (int v = 0; v < m; ++v) {
        int other = v ^ distances[step];
        now[v] = std::max(begins[step][v], begins[step][other] + latency(rankOf(other), rankOf(v)));
      }
    }
  }
  /// Ways of all exchanges, and how many take each link of a spine.
  void findWays() {
    ways.resize(distances.size());
    std::unordered_map<int, int> loads;
    for (size_t step = 0; step < distances.size(); ++step) {
      loads.clear();
      std::vector<std::pair<int, int>> spine(m); // links up and down
      for (int v = 0; v < m; ++v) {
        Topology::Path path = maker.topology.path(maker.first + rankOf(v), maker.first + rankOf(v ^ distances[step]));
        spine[v] = {path.count == 6 ? path.links[2] : -1, path.count == 6 ? path.links[3] : -1};
        ways[step].push_back({path.count, 1, 1});
        if (path.count == 6) {
          ++loads[spine[v].first];
          ++loads[spine[v].second];
        }
      }
      for (int v = 0; v < m; ++v)
        if (spine[v].first >= 0) {
          ways[step][v] = {6, loads[spine[v].first], loads[spine[v].second]};
          meets |= ways[step][v].up > 1 || ways[step][v].down > 1;
        }
    }
  }
  void crowd(KindMaker::Player &player) {
    if (sitsOut(player.rank))
      return;
    size_t sent = 0, received = 0, before = folded(player.rank); // what the pair hands over comes first
    int v = memberOf(player.rank);
    for (KindOp &op : player.lanes[0]) {
      if (op.type == KindOp::Send && sent < distances.size())
        op.crowd = ways[sent][v].up, ++sent;
      if (op.type == KindOp::Receive && received++ >= before)
        op.crowd = ways[received - 1 - before][v ^ distances[received - 1 - before]].down;
      maker.near |= op.crowd > 1;
    }
  }
  uint64_t firstKind(int v, int &far) const {
    uint64_t kind = with(1, v < r);
    far = 0;
    for (size_t step = 0; step < distances.size(); ++step) {
      int d = distances[step], other = v ^ d;
      const Way &out = ways[step][v], &in = ways[step][other];
      kind = with(kind, uint64_t(begins[step][v] * 1e12));
      kind = with(kind, uint64_t(begins[step][other] * 1e12));
      if (inBlocks)
        kind = with(kind, uint64_t(blocksFrom(v / d * d, d)) << 32 | uint64_t(blocksFrom(other / d * d, d)));
      kind = with(kind, uint64_t(out.links) << 48 | uint64_t(out.up) << 32 | uint64_t(in.down));
      far += out.links + out.up + in.down;
    }
    return kind;
  }
  uint64_t kindOf(int rank) const { return with(kinds[memberOf(rank)], sitsOut(rank)); }
  OneOfEach oneOfEach(const std::vector<int> &far) const {
    OneOfEach list;
    for (int rank = 0; rank < n; ++rank)
      list.see(kindOf(rank), rank, far[memberOf(rank)]);
    return list;
  }

  KindMaker &maker;
  const int n;
  int m = 1, r = 0;
  bool inBlocks;
  std::vector<int> distances;
  std::vector<std::vector<double>> begins; ///< by exchange and member
  struct Way {
    int links, up, down; ///< messages that its links up and down a spine have at once
  };
  std::vector<std::vector<Way>> ways; ///< by exchange and sender
  bool meets = false;                 ///< on a spine
  std::vector<uint64_t> kinds;        ///< of members
};

class Blocks {
public:
  explicit Blocks(KindMaker &maker) : maker(maker) {
    for (int first = 0; first < maker.n;) {
      int size = 1;
      while (2 * size <= maker.n - first)
        size *= 2;
      blocks.push_back({first, size});
      first += size;
    }
  }

  bool make() {
    levels = apart(maker, 0, maker.n - 1) == 2 || apart(maker, 0, 1) != apart(maker, 0, maker.n - 1);
    depth = blocks.size();
    count();
    // Messages of several blocks meet on spines; and where a rank hears from its own block and a smaller one at once, who is first
    // is a matter of places.
    maker.near = apart(maker, 0, maker.n - 1) == 2 || blocks.size() > 2;
    OneOfEach kinds = oneOfEach();
    if (kinds.count() >
        mostDoubles) { // those that hear from others in the same order, two blocks down, are not told apart
      depth = 2;
      maker.near = true;
      kinds = oneOfEach();
    }
    kinds.play(maker);
    for (KindMaker::Player &player : maker.players)
      crowd(player);
    return maker.connect([&](int sender, int receiver, int lane, int nth, KindOp &op) {
      int player = kinds.playerOf[kindOf(sender)], rank = maker.players[player].rank;
      int from = blockOf(sender), to = blockOf(receiver), size = blocks[from].size;
      int me = rank - blocks[from].first, s = sender - blocks[from].first, t = receiver - blocks[to].first;
      int target = from == to  ? me ^ s ^ t
                   : to < from ? me * (blocks[to].size / size) + t % (blocks[to].size / size)
                               : me / (size / blocks[to].size);
      return maker.hears(op, player, lane, blocks[to].first + target, nth);
    });
  }

private:
  struct Block {
    int first, size;
  };
  int blockOf(int rank) const {
    int block = 0;
    while (rank >= blocks[block].first + blocks[block].size)
      ++block;
    return block;
  }
  /// How many messages that go at once take each link of a spine: inside blocks those of as many chunks, from a block to the next
  /// larger one each rank's first, second, ... A larger block's to one rank take turns in any case.
  void count() {
    for (size_t b = 0; b < blocks.size() && levels; ++b)
      for (int me = 0; me < blocks[b].size; ++me) {
        int rank = blocks[b].first + me, fan = b ? blocks[b - 1].size / blocks[b].size : 0;
        for (int d = 1; d < blocks[b].size; d *= 2)
          add(rank, blocks[b].first + (me ^ d));
        for (int i = 0; i < fan; ++i)
          add(rank, blocks[b - 1].first + me * fan + i);
      }
  }
  void add(int from, int to) {
    for (int link : spineOf(from, to))
      if (link >= 0)
        ++loads[{momentOf(from, to), link}];
  }
  /// Equal for messages that go at once.
  int momentOf(int from, int to) const {
    int a = blockOf(from), b = blockOf(to);
    if (a == b)
      return ((from - blocks[a].first) ^ (to - blocks[a].first)) * (blocks[0].size / blocks[a].size);
    return -1 - a * blocks[0].size - (to - blocks[b].first) % std::max(1, blocks[b].size / blocks[a].size);
  }
  std::array<int, 2> spineOf(int from, int to) const {
    Topology::Path path = maker.topology.path(maker.first + from, maker.first + to);
    return path.count == 6 ? std::array<int, 2>{path.links[2], path.links[3]} : std::array<int, 2>{-1, -1};
  }
  int crowdOn(int from, int to, bool up) const {
    auto found = loads.find({momentOf(from, to), spineOf(from, to)[up ? 0 : 1]});
    return blockOf(to) > blockOf(from) || found == loads.end() ? 1 : found->second;
  }
  void crowd(KindMaker::Player &player) {
    for (KindOp &op : player.lanes[0])
      op.crowd =
          op.type == KindOp::Send ? crowdOn(player.rank, op.target, true) : crowdOn(op.target, player.rank, false);
  }
  std::map<std::pair<int, int>, int> loads; ///< (moment, link)

  OneOfEach oneOfEach() const {
    OneOfEach list;
    for (int rank = 0; rank < maker.n; ++rank)
      list.see(kindOf(rank), rank, rank - blocks[blockOf(rank)].first);
    return list;
  }
  uint64_t kindOf(int rank) const {
    size_t block = blockOf(rank);
    uint64_t kind = with(1, block);
    for (int d = 1; d < blocks[block].size && levels; d *= 2) {
      int other = blocks[block].first + ((rank - blocks[block].first) ^ d);
      kind = with(kind, uint64_t(apart(maker, rank, other)) << 48 | uint64_t(crowdOn(rank, other, true)) << 32 |
                            uint64_t(crowdOn(other, rank, false)));
    }
    int me = rank - blocks[block].first;
    for (size_t smaller = block + 1; smaller < blocks.size() && smaller <= block + depth; ++smaller) {
      int fan = blocks[smaller - 1].size / blocks[smaller].size, order = me % fan;
      kind = with(kind, order == 0 ? 0 : order == fan - 1 ? 2 : 1);
      me /= fan;
    }
    return kind;
  }

  KindMaker &maker;
  std::vector<Block> blocks;
  bool levels = false; ///< ranks are not all equally far
  size_t depth = 0;    ///< smaller blocks that kinds take into account
};

} // namespace

bool doublingKinds(KindMaker &maker) {
  const std::string &name = maker.algorithm.name;
  if (maker.contended() || maker.n < 3)
    return false;
  if (name == "binary_blocks")
    return Blocks(maker).make();
  return (name == "recursive_doubling" || name == "halving_doubling") && Folded(maker).make();
}

} // namespace braid::cost
