//===- Rings.cpp - rings as walks ---------------------------------------------------------------------------------===//
//
// In each of a ring's steps a rank sends to its neighbour what it got in the step before. When it is done is the longest walk
// through (rank, step) that ends there: with each step either on to the neighbour, for as long as the message is under way (and its
// reduction), or staying, for as long as the link or the reducer is busy with it:
//
//   latency counts    a walk around the ring, over every slow link
//   bandwidth counts  a walk that stays at the slowest link
//
// So a turn of `steps` that begins with start(u) at rank u is over at rank v after
//
//   steps x the longest stay + the largest of start(u) + sum over u .. v of (way - the longest stay)
//
// over the stretches u .. v that have a rank of the longest stay in them. Exact where no link is shared by two neighbours'
// messages, else an estimate. A step of several messages, as in rings of hosts, is as one whose bytes are reduced as they come.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/algorithms/Levels.h"
#include "pricing/Lines.h"
#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

namespace braid::cost {

namespace {

struct Ring {
  std::vector<int> members;
  std::vector<Topology::Path> ways; ///< from each member to the next
};

/// Rings that turn at once.
struct Turn {
  std::vector<Ring> rings;
  double part = 0;  ///< of the buffer: one message
  int messages = 1; ///< of a step
  bool reduces = false;
  std::unordered_map<int, int> shared = {}; ///< links that several messages of a step take: how many
};

struct Edge {
  double way, stay;
};

/// The largest of `values` in a window whose ends only move up.
class Window {
public:
  explicit Window(const std::vector<double> &values) : values(values) {}
  double largest(int from, int to) { // both included
    for (; next <= to; ++next) {
      while (!kept.empty() && values[kept.back()] <= values[next])
        kept.pop_back();
      kept.push_back(next);
    }
    while (!kept.empty() && kept.front() < from)
      kept.pop_front();
    return kept.empty() ? -1e30 : values[kept.front()];
  }

private:
  const std::vector<double> &values;
  std::deque<int> kept;
  int next = 0;
};

/// A turn of one ring, from when its members begin to when they are done; `free`: when their links out are.
void walk(const std::vector<Edge> &ring, std::vector<double> &times, std::vector<double> &free) {
  int m = int(ring.size()), steps = m - 1;
  double longest = 0, shortest = 1e30;
  bool uniform = true;
  for (int v = 0; v < m; ++v) {
    longest = std::max(longest, ring[v].stay);
    shortest = std::min(shortest, ring[v].stay);
    uniform &= ring[v].way == ring[0].way && ring[v].stay == ring[0].stay && times[v] == times[0];
  }
  free.assign(m, 0);
  if (uniform) {
    double begin = times[0];
    std::fill(times.begin(), times.end(), begin + steps * ring[0].way);
    std::fill(free.begin(), free.end(), begin + (steps - 1) * ring[0].way + ring[0].stay);
    return;
  }
  std::vector<double> before = times;
  std::fill(times.begin(), times.end(), 0);
  for (double stay : {longest, shortest}) {
    std::vector<double> sum(2 * m + 1), gain(2 * m);
    std::vector<int> slow(2 * m, -1); // the last rank up to here that stays so long
    for (int i = 0; i < 2 * m; ++i) {
      gain[i] = before[i % m] - sum[i];
      sum[i + 1] = sum[i] + ring[i % m].way - stay;
      slow[i] = ring[i % m].stay >= stay * (1 - 1e-12) ? i : i ? slow[i - 1] : -1;
    }
    Window arrives(gain), leaves(gain);
    for (int v = m; v < 2 * m; ++v) {
      double in = steps * stay + sum[v] + arrives.largest(v - steps, slow[v - 1]);
      double out = (steps - 1) * stay + sum[v] + leaves.largest(v - steps + 1, slow[v]) + ring[v - m].stay;
      times[v - m] = std::max(times[v - m], in);
      free[v - m] = std::max(free[v - m], out);
    }
    if (longest == shortest)
      break;
  }
}

class Rings : public ClosedForm {
public:
  Rings(CollectiveKind kind, int ranks, std::vector<Turn> turns, std::string text, bool isExact = true)
      : kind(kind), ranks(ranks), turns(std::move(turns)), text(std::move(text)), isExact(isExact) {}
  bool exact() const override { return isExact; }

  std::optional<Seconds> time(Bytes operand, const std::vector<Topology::Link> &links,
                              BytesPerSecond reduction) const override {
    double buffer = double(algorithms::bufferBytes(kind, ranks, operand.value)), last = 0;
    std::vector<double> done(ranks), free[2] = {done, done}; // a rank, its link into its host, and that out of it
    std::vector<Edge> edges;
    std::vector<double> times, leaves;
    for (const Turn &turn : turns) {
      double bytes = buffer * turn.part;
      double reduce = turn.reduces && reduction.value > 0 ? bytes / reduction.value : 0;
      for (const Ring &ring : turn.rings) {
        edges.clear();
        times.clear();
        for (size_t i = 0; i < ring.members.size(); ++i) {
          double latency = 0, hold = 0, busy = reduce;
          for (int link : ring.ways[i]) {
            double own = bytes / links[link].bandwidth.value;
            auto others = turn.shared.find(link);
            latency += links[link].latency.value;
            hold = std::max(hold, own);
            busy = std::max(busy, others == turn.shared.end() ? own : own * others->second);
          }
          edges.push_back({latency + hold + (turn.messages - 1) * busy + reduce, turn.messages * busy});
          int rank = ring.members[i];
          times.push_back(std::max(done[rank], free[ring.ways[i].crossesHosts][rank]));
        }
        walk(edges, times, leaves);
        for (size_t i = 0; i < ring.members.size(); ++i) {
          done[ring.members[i]] = times[i];
          free[ring.ways[i].crossesHosts][ring.members[i]] = leaves[i];
          last = std::max(last, times[i]);
        }
      }
    }
    return Seconds{last};
  }
  int players() const override { return ranks; }
  std::string how() const override { return text; }

private:
  CollectiveKind kind;
  int ranks;
  std::vector<Turn> turns;
  std::string text;
  bool isExact;
};

void add(Turn &turn, const FormQuestion &q, const std::vector<int> &members) {
  Ring ring{members, {}};
  for (size_t i = 0; i < members.size(); ++i)
    ring.ways.push_back(q.way(members[i], members[(i + 1) % members.size()]));
  if (members.size() > 1)
    turn.rings.push_back(std::move(ring));
}

/// Which links are. Neighbours' messages that meet on one come to take turns, so that the step is as long as all of them.
bool findShared(Turn &turn) {
  for (const Ring &ring : turn.rings)
    for (const Topology::Path &way : ring.ways)
      for (int link : way)
        ++turn.shared[link];
  for (auto use = turn.shared.begin(); use != turn.shared.end();)
    use = use->second > 1 ? std::next(use) : turn.shared.erase(use);
  return !turn.shared.empty();
}

} // namespace

std::unique_ptr<ClosedForm> ringForm(const FormQuestion &q) {
  if (q.algorithm.name != "ring" || q.kind == CollectiveKind::Broadcast || q.ranks < 2 || q.options.channels != 1)
    return nullptr;
  std::vector<int> order = q.options.order;
  if (int(order.size()) != q.ranks) {
    order.resize(q.ranks);
    for (int rank = 0; rank < q.ranks; ++rank)
      order[rank] = rank;
  }
  Turn turn{{}, 1.0 / q.ranks};
  add(turn, q, order);
  bool meet = findShared(turn);
  if (meet && q.ranks <= mostRanksOfPlays)
    return nullptr;
  std::vector<Turn> turns;
  if (q.kind != CollectiveKind::AllGather) {
    turns.push_back(turn);
    turns.back().reduces = true;
  }
  if (q.kind != CollectiveKind::ReduceScatter)
    turns.push_back(turn);
  return std::make_unique<Rings>(q.kind, q.ranks, std::move(turns), "walks around the ring", !meet);
}

std::unique_ptr<ClosedForm> ringsForm(const FormQuestion &q) {
  if (q.algorithm.name != "hierarchical_ring" || q.ranks < 2 || q.options.channels != 1)
    return nullptr;
  // As HierarchicalRing.cpp deals them: the hosts if they are even, else the largest divisor.
  std::map<int, std::vector<int>> byHost;
  for (int rank = 0; rank < int(q.options.hosts.size()); ++rank)
    byHost[q.options.hosts[rank]].push_back(rank);
  std::vector<std::vector<int>> hosts;
  for (auto &[host, members] : byHost)
    hosts.push_back(members);
  bool even = !hosts.empty() && std::all_of(hosts.begin(), hosts.end(), [&](const std::vector<int> &members) {
    return members.size() == hosts[0].size();
  });
  bool known = even || q.options.hosts.empty();
  if (!known && q.ranks <= mostPlayedRanks)
    return nullptr; // what one turn and the next have on a link at once counts in small rings, and a little in large ones
  if (!even) {
    int L = algorithms::dealtPerHost(q.ranks);
    hosts.assign(q.ranks / L, {});
    for (int rank = 0; rank < q.ranks; ++rank)
      hosts[rank / L].push_back(rank);
  }
  int H = int(hosts.size()), L = int(hosts[0].size());
  Turn inside{{}, 1.0 / (L * H), H}, across{{}, 1.0 / (L * H)};
  for (const std::vector<int> &members : hosts)
    add(inside, q, members);
  for (int member = 0; member < L; ++member) {
    std::vector<int> rail;
    for (const std::vector<int> &members : hosts)
      rail.push_back(members[member]);
    add(across, q, rail);
  }
  bool insideMeet = findShared(inside), meet = findShared(across) || insideMeet;
  if (known && meet && q.ranks <= mostRanksOfPlays)
    return nullptr;
  std::vector<Turn> turns;
  for (bool back : {false, true}) {
    if (back && H > 1)
      turns.push_back(across);
    if (L > 1)
      turns.push_back(inside);
    if (!back && H > 1)
      turns.push_back(across);
  }
  for (size_t i = 0; i < turns.size() / 2; ++i)
    turns[i].reduces = true;
  return std::make_unique<Rings>(q.kind, q.ranks, std::move(turns), "walks around the rings", known && !meet);
}

} // namespace braid::cost
