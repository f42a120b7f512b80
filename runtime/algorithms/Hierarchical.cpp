//===- Hierarchical.cpp - inside hosts, across hosts, inside hosts ----------------------------------------------===//
//
// Links inside a host are many and fast, so ranks of a host exchange directly there; what crosses goes over *rails*: the i-th
// ranks of all hosts, R rails, R the ranks of the smallest host. Each byte crosses once per host, over the rail that is its
// target's, so that on rail-optimised fabrics nothing crosses a spine. Hosts may have any sizes: the ranks beyond R put
// their share on rail (place mod R), and get theirs from it.
//
//                   inside                          across, on each rail             inside
//   all_reduce      part i to the i-th rank, adds   ring all_reduce of part i        part i to all
//   reduce_scatter  rail i's blocks to the i-th     ring reduce_scatter by hosts     blocks of ranks beyond R
//   all_gather      blocks of ranks beyond R        ring all_gather by hosts         rail i's blocks to all
//   all_to_all      what goes to rail i, and what   direct, all of a host's blocks   blocks for ranks beyond R
//                   stays in the host                 for another host in one message
//   broadcast       the root: part i to the i-th    binomial tree of hosts           part i to all
//   reduce          part i to the i-th rank, adds   binomial tree of hosts           the i-th rank: part i to the root
//
// n ranks on H hosts of L1, L2, ... ranks, k channels. all_reduce: R parts of H blocks; broadcast, reduce: R parts; the others n
// blocks; of k chunks each. A sum is made once, in one place after another.
//
//                   chunks on the wire                                               steps, hosts of L > 1 each
//   all_reduce      2 k R H (n-1)                                                    2 (H-1) + 2
//   reduce_scatter  k (n (n-1) + n - R H)                                            H + [uneven]
//   all_gather      k n (n-1)                                                        H + [uneven]
//   all_to_all      k sum of (L-1) n + L (n-L) + (L-R) (n-L)                         2 + [uneven]
//   broadcast       k R (n-1)                                                        2 + floor(log2 H)
//   reduce          k (R (n-1) + R - [the root is among the first R of its host])    2 + floor(log2 H)
//
// A ragged all_to_all is the same, of blocks of any sizes; ranks pass on the blocks of others, and so have to know the sizes of
// all. A block for another host is sent once across, once before if its source is not on the target's rail, once after if
// the target is beyond R.
//
// The exact chain, with hosts of one rank and small ones, is what `steps` below works out host by host. Bytes that a rank sends
// across, buffer m, even hosts: all_reduce 2 m (H-1)/n, others m (H-1)/n; all_to_all m (H-1)/H.
//
// Worked example, all_reduce, hosts {0, 1} {2}, R = 1, H = 2, operands a b c: 1 sends b to 0; 0 and 2 reduce two blocks in a ring
// and gather them; 0 sends the sum to 1.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"
#include "Hosts.h"
#include <algorithm>

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::AllReduce || collective == Collective::ReduceScatter ||
                        collective == Collective::AllGather || collective == Collective::AllToAll ||
                        collective == Collective::Broadcast || collective == Collective::Reduce);
}

namespace {

struct Levels {
  Hosts hosts;
  int n, H, R, rank, host, place, size;
  Builder builder;

  Levels(Collective collective, int ranks, int rank, const StepOptions &options, const Hosts &given, int blocks)
      : hosts(given), n(ranks), H(given.count()), R(given.rails), rank(rank), host(given.hostOf(rank)),
        place(given.placeOf(rank)), size(given.size(host)), builder(collective, ranks, blocks, options.channels) {}

  bool onRail() const { return place < R; }
  int local(int other) const { return hosts.members[host][other]; }
  int across(int other) const { return hosts.members[other][place]; } ///< on this rank's rail
  int before(int step) const { return ((host - step) % H + H) % H; }

  /// Blocks of the ranks of `on` whose rail it is, but not that of rank `except`.
  std::vector<Range> blocksOn(int on, int rail, int except = -1) const {
    std::vector<Range> list;
    for (int other = rail; other < hosts.size(on); other += R)
      if (hosts.members[on][other] != except)
        list.push_back(blocksOf(hosts.members[on][other]));
    return list;
  }
  /// Of all hosts.
  std::vector<Range> blocksOnRail(int rail, int except = -1) const {
    std::vector<Range> list;
    for (int on = 0; on < H; ++on)
      for (const Range &range : blocksOn(on, rail, except))
        list.push_back(range);
    return list;
  }

  /// Everyone sends piece i to the i-th rank of the host, which adds them.
  template <class Piece> void addInside(Piece piece) {
    for (int d = 1; d < size; ++d)
      if (int other = (place + d) % size; other < R)
        builder.message(Action::Send, local(other), piece(other));
    for (int d = 1; d < size && onRail(); ++d)
      builder.message(Action::ReceiveReduce, local((place - d + size) % size), piece(place));
  }
  /// A turn of the ring of hosts, as in Ring.cpp.
  template <class Piece> void turn(int first, Action take, Piece piece) {
    for (int s = 0; s < H - 1 && onRail(); ++s) {
      builder.message(Action::Send, across((host + 1) % H), piece(((first - s) % H + H) % H));
      builder.message(take, across(before(1)), piece(((first - s - 1) % H + H) % H));
    }
  }
  /// The i-th rank gives piece(i, whom) to everyone else in the host.
  template <class Piece> void giveInside(Piece piece, int except = -1) {
    for (int d = 1; d < size && onRail(); ++d)
      if (int other = (place + d) % size; local(other) != except)
        builder.message(Action::Send, local(other), piece(place, local(other)));
    for (int d = 1; d < size && rank != except; ++d)
      if (int other = (place - d + size) % size; other < R)
        builder.message(Action::Receive, local(other), piece(other, rank));
  }
};

} // namespace

static void allReduce(Levels &l) {
  auto part = [&](int i) { return blocksOf(i * l.H, l.H); };
  auto block = [&](int host) { return blocksOf(l.place * l.H + host); };
  l.addInside(part);
  l.turn(l.host - 1, Action::ReceiveReduce, block);
  l.turn(l.host, Action::Receive, block);
  l.giveInside([&](int i, int) { return part(i); });
}

static void reduceScatter(Levels &l) {
  l.addInside([&](int i) { return l.blocksOnRail(i); });
  l.turn(l.host - 1, Action::ReceiveReduce, [&](int host) { return l.blocksOn(host, l.place); });
  for (int other = l.place + l.R; other < l.size && l.onRail(); other += l.R)
    l.builder.message(Action::Send, l.local(other), blocksOf(l.local(other)));
  if (!l.onRail())
    l.builder.message(Action::Receive, l.local(l.place % l.R), blocksOf(l.rank));
}

static void allGather(Levels &l) {
  if (!l.onRail())
    l.builder.message(Action::Send, l.local(l.place % l.R), blocksOf(l.rank));
  for (int other = l.place + l.R; other < l.size && l.onRail(); other += l.R)
    l.builder.message(Action::Receive, l.local(other), blocksOf(l.local(other)));
  l.turn(l.host, Action::Receive, [&](int host) { return l.blocksOn(host, l.place); });
  l.giveInside([&](int i, int to) { return l.blocksOnRail(i, to); });
}

static void allToAll(Levels &l) {
  // Scratch: what the host's other ranks send over this rail, by (source, target), and what comes for ranks beyond R.
  std::vector<int> targets, begin(l.H + 1); // on this rail, on other hosts, by host
  for (int h = 0; h < l.H; ++h, begin[h] = int(targets.size()))
    for (int other = l.place; other < l.hosts.size(h) && h != l.host; other += l.R)
      targets.push_back(l.hosts.members[h][other]);
  std::vector<int> beyond; // of this host, on this rail
  for (int other = l.place + l.R; other < l.size; other += l.R)
    beyond.push_back(l.local(other));
  int passing = l.onRail() ? l.size * int(targets.size()) : 0, away = l.n - l.size;
  std::vector<std::pair<int, int>> pairs;
  for (int source = 0; source < l.size && l.onRail(); ++source)
    for (int target : targets)
      pairs.push_back({l.local(source), target});
  for (size_t b = 0; b < beyond.size() && l.onRail(); ++b)
    for (int h = 0; h < l.H; ++h)
      for (int source = 0; source < l.hosts.size(h) && h != l.host; ++source)
        pairs.push_back({l.hosts.members[h][source], beyond[b]});
  l.builder.scratch(pairs);
  auto foreign = [&](int rail, int source) { // a rank's blocks for other hosts on a rail, in the order of targets
    std::vector<Range> list;
    for (int h = 0; h < l.H; ++h)
      for (int other = rail; other < l.hosts.size(h) && h != l.host; other += l.R)
        list.push_back({Range::Own, l.hosts.members[h][other], 1});
    return list;
  };
  for (int d = 1; d < l.size; ++d) {
    int other = (l.place + d) % l.size;
    std::vector<Range> list = {{Range::Own, l.local(other), 1}};
    if (other < l.R)
      for (const Range &range : foreign(other, l.rank))
        list.push_back(range);
    l.builder.message(Action::Send, l.local(other), list);
  }
  for (int d = 1; d < l.size; ++d) {
    int other = (l.place - d + l.size) % l.size;
    std::vector<Range> list = {blocksOf(l.local(other))};
    if (l.onRail())
      list.push_back({Range::Scratch, other * int(targets.size()), int(targets.size())});
    l.builder.message(Action::Receive, l.local(other), list);
  }
  if (l.onRail()) {
    for (int d = 1; d < l.H; ++d) { // one message to each other host
      int h = (l.host + d) % l.H;
      std::vector<Range> list;
      for (int source = 0; source < l.size; ++source)
        for (int t = begin[h]; t < begin[h + 1]; ++t)
          list.push_back(source == l.place ? Range{Range::Own, targets[t], 1}
                                           : Range{Range::Scratch, source * int(targets.size()) + t, 1});
      l.builder.message(Action::Send, l.across(h), list);
    }
    // What comes for this rank, and for those beyond R: slot (which of them, source's place among the ranks of other hosts).
    std::vector<int> firstOf(l.H);
    for (int h = 0, count = 0; h < l.H; ++h) {
      firstOf[h] = count;
      count += h == l.host ? 0 : l.hosts.size(h);
    }
    for (int d = 1; d < l.H; ++d) {
      int h = l.before(d);
      std::vector<Range> list;
      for (int source = 0; source < l.hosts.size(h); ++source) {
        list.push_back(blocksOf(l.hosts.members[h][source]));
        for (size_t b = 0; b < beyond.size(); ++b)
          list.push_back({Range::Scratch, passing + int(b) * away + firstOf[h] + source, 1});
      }
      l.builder.message(Action::Receive, l.across(h), list);
    }
    for (size_t b = 0; b < beyond.size() && away; ++b)
      l.builder.message(Action::Send, beyond[b], Range{Range::Scratch, passing + int(b) * away, away});
  } else if (away) {
    std::vector<Range> list;
    for (int h = 0; h < l.H; ++h)
      for (int source = 0; source < l.hosts.size(h) && h != l.host; ++source)
        list.push_back(blocksOf(l.hosts.members[h][source]));
    l.builder.message(Action::Receive, l.local(l.place % l.R), list);
  }
}

/// The binomial tree over hosts, seen from the root's: parent and children of a host's place v.
static int parentOf(int v) { return v & (v - 1); }
static int spanOf(int v, int H) { return v ? v & -v : 1 << ceilLog2(H); }

static void broadcast(Levels &l, int root) {
  int rootHost = l.hosts.hostOf(root), v = (l.host - rootHost + l.H) % l.H;
  auto at = [&](int other) { return l.across((other + rootHost) % l.H); };
  for (int i = 0; i < l.R && l.rank == root; ++i)
    if (l.local(i) != root)
      l.builder.message(Action::Send, l.local(i), blocksOf(i));
  if (l.host == rootHost && l.rank != root && l.onRail())
    l.builder.message(Action::Receive, root, blocksOf(l.place));
  if (l.onRail()) {
    if (v)
      l.builder.message(Action::Receive, at(parentOf(v)), blocksOf(l.place));
    for (int bit = spanOf(v, l.H) / 2; bit >= 1; bit /= 2)
      if (v + bit < l.H)
        l.builder.message(Action::Send, at(v + bit), blocksOf(l.place));
  }
  l.giveInside([&](int i, int) { return blocksOf(i); }, root);
}

static void reduce(Levels &l, int root) {
  int rootHost = l.hosts.hostOf(root), v = (l.host - rootHost + l.H) % l.H;
  auto at = [&](int other) { return l.across((other + rootHost) % l.H); };
  l.addInside([](int i) { return blocksOf(i); });
  if (l.onRail()) {
    for (int bit = 1; bit < spanOf(v, l.H); bit *= 2)
      if (v + bit < l.H)
        l.builder.message(Action::ReceiveReduce, at(v + bit), blocksOf(l.place));
    if (v)
      l.builder.message(Action::Send, at(parentOf(v)), blocksOf(l.place));
  }
  if (l.host == rootHost && l.rank != root && l.onRail())
    l.builder.message(Action::Send, root, blocksOf(l.place));
  for (int i = 0; i < l.R && l.rank == root; ++i)
    if (l.local(i) != root)
      l.builder.message(Action::Receive, l.local(i), blocksOf(i));
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  Hosts hosts(ranks, options);
  int blocks = collective == Collective::AllReduce ? hosts.rails * hosts.count()
               : inBlocks(collective)              ? ranks
                                                   : hosts.rails;
  Levels levels(collective, ranks, rank, options, hosts, blocks);
  levels.builder.program.ragged = options.ragged;
  switch (collective) {
  case Collective::AllReduce:
    allReduce(levels);
    break;
  case Collective::ReduceScatter:
    reduceScatter(levels);
    break;
  case Collective::AllGather:
    allGather(levels);
    break;
  case Collective::AllToAll:
    allToAll(levels);
    break;
  case Collective::Broadcast:
    broadcast(levels, options.root);
    break;
  default:
    reduce(levels, options.root);
  }
  return std::move(levels.builder.program);
}

//===- formulas -------------------------------------------------------------------------------------------------===//

/// Longest chain that reaches each host when it begins with before[h] at host h and goes around the ring for `turns` steps.
static std::vector<int64_t> afterRing(const std::vector<int64_t> &before, int64_t turns) {
  int64_t H = int64_t(before.size());
  std::vector<int64_t> after = before;
  for (int64_t from = 0; from < H; ++from)
    for (int64_t d = 0; d < H && d <= turns; ++d) // arrives after d, d + H, ... steps
      after[(from + d) % H] = std::max(after[(from + d) % H], before[from] + d + (turns - d) / H * H);
  return after;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  Hosts hosts(ranks, options);
  int H = hosts.count(), R = hosts.rails, rootHost = hosts.hostOf(options.root);
  bool kept = hosts.placeOf(options.root) < R; // a part stays with the root
  std::vector<int64_t> reached(H), last(H);
  for (int h = 0; h < H; ++h) {
    reached[h] = collective == Collective::AllGather ? hosts.size(h) > R : hosts.size(h) > 1;
    last[h] = collective == Collective::AllReduce || collective == Collective::AllGather ? hosts.size(h) > 1
                                                                                         : hosts.size(h) > R;
  }
  int64_t longest = 0;
  switch (collective) {
  case Collective::AllReduce:
  case Collective::ReduceScatter:
  case Collective::AllGather:
    reached = afterRing(reached, int64_t(collective == Collective::AllReduce ? 2 : 1) * (H - 1));
    break;
  case Collective::AllToAll: { // directly from every other host
    std::vector<int64_t> first = reached;
    for (int h = 0; h < H; ++h)
      for (int g = 0; g < H; ++g)
        if (g != h)
          reached[h] = std::max(reached[h], first[g] + 1);
    for (int h = 0; h < H; ++h)
      last[h] = last[h] && H > 1;
    break;
  }
  case Collective::Broadcast:
    for (int h = 0; h < H; ++h) {
      int v = (h - rootHost + H) % H;
      int64_t given = R - kept > 0; // some part makes a step inside the root's host first
      if (v == 0)                   // the root's own part goes out directly; another's only if somebody else is there
        longest = std::max({longest, given + (given && hosts.size(h) > 2), int64_t(hosts.size(h) > 1)});
      else
        longest = std::max(longest, given + __builtin_popcount(unsigned(v)) + (hosts.size(h) > 1));
    }
    return longest;
  default: { // reduce: the way of a broadcast backwards
    std::vector<int64_t> up(H);
    for (int v = H - 1; v >= 0; --v) {
      up[v] = std::max<int64_t>(up[v], hosts.size((v + rootHost) % H) > 1);
      if (v)
        up[parentOf(v)] = std::max(up[parentOf(v)], up[v] + 1);
    }
    return up[0] + (R - kept > 0);
  }
  }
  for (int h = 0; h < H; ++h)
    longest = std::max(longest, reached[h] + last[h]);
  return longest;
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  Hosts hosts(ranks, options);
  int64_t n = ranks, k = options.channels, R = hosts.rails, H = hosts.count(), sum = 0;
  switch (collective) {
  case Collective::AllReduce:
    return 2 * k * R * H * (n - 1);
  case Collective::ReduceScatter:
    return k * (n * (n - 1) + n - R * H);
  case Collective::AllGather:
    return k * n * (n - 1);
  case Collective::AllToAll:
    for (const std::vector<int> &host : hosts.members) {
      int64_t L = int64_t(host.size());
      sum += (L - 1) * n + L * (n - L) + (L - R) * (n - L);
    }
    return k * sum;
  case Collective::Broadcast:
    return k * R * (n - 1);
  default:
    return k * (R * (n - 1) + R - (hosts.placeOf(options.root) < R));
  }
}

static int64_t hops(int ranks, int source, int target, const StepOptions &options) {
  Hosts hosts(ranks, options);
  if (hosts.hostOf(source) == hosts.hostOf(target))
    return source != target;
  int place = hosts.placeOf(target), rail = place % hosts.rails;
  return (hosts.placeOf(source) != rail) + 1 + (place >= hosts.rails);
}

Algorithm hierarchical() {
  return {"hierarchical", serves, program, steps, wireChunks, Needs::Nothing, false, hops, true};
}

} // namespace braid::algorithms
