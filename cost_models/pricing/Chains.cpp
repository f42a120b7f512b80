//===- Chains.cpp - pipelines along a line of ranks ---------------------------------------------------------------===//
//
// One way: the first segment takes every hop, the others follow it at the pace of the slowest link or reducer. Exact: a line of
// queues with fixed times of service gives everyone out at the pace of the slowest.
//
// There and back (all_reduce): a rank d hops from the end has the round trip there, 2 d messages, between a segment on its way in
// and the same one on its way out. Beyond d = segments / 2 all segments have gone in before the first comes out: such a rank
// only hands on, and adds its two hops to the time. The part of the line where the two streams meet is played.
//
// scatter_allgather: rank w can send in the ring from t(w) on, when it has sent its children in the tree all that it has for them.
// Its stream moves on one rank per hop, or waits behind another at the pace of the slowest link. With span(v) the blocks that v
// has from the tree, the last one that it receives is the (n - span(v))-th:
//
//   time = max over w < v of t(w) + hops from w to v + (n - span(v) - (v - w)) x the pace
//
// The pace is that of the slowest link on the way; over the one into rank x only n - span(x) blocks go, the others x has itself.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/Kinds.h"
#include "pricing/Lines.h"
#include <algorithm>
#include <unordered_map>

namespace braid::cost {

namespace {

struct Hop {
  double latency = 0, hold = 0; ///< hold: of the slowest link
  double time() const { return latency + hold; }
};
Hop hopOf(const Topology::Path &way, double bytes, const std::vector<Topology::Link> &links) {
  Hop hop;
  for (int link : way) {
    hop.latency += links[link].latency.value;
    hop.hold = std::max(hop.hold, bytes / links[link].bandwidth.value);
  }
  return hop;
}

class Chain : public ClosedForm {
public:
  /// `meeting`: the ranks that both streams of an all_reduce pass at once; null: there is one stream.
  Chain(const FormQuestion &q, std::unique_ptr<KindProgram> meeting, int from)
      : kind(q.kind), ranks(q.ranks), segments(q.options.segments), meeting(std::move(meeting)), met(from) {
    std::vector<int> line = q.options.order;
    if (int(line.size()) != ranks) {
      line.resize(ranks);
      for (int place = 0; place < ranks; ++place)
        line[place] = place;
    }
    if (kind != CollectiveKind::AllReduce)
      std::rotate(line.begin(), std::find(line.begin(), line.end(), q.options.root), line.end());
    for (int place = met; place + 1 < ranks; ++place) {
      if (kind != CollectiveKind::Reduce)
        out.push_back(q.way(line[place], line[place + 1]));
      if (kind != CollectiveKind::Broadcast)
        in.push_back(q.way(line[place + 1], line[place]));
    }
  }

  bool shared() const {
    std::unordered_map<int, int> uses;
    for (const std::vector<Topology::Path> *ways : {&out, &in}) {
      uses.clear();
      for (const Topology::Path &way : *ways)
        for (int link : way)
          if (++uses[link] > 1)
            return true;
    }
    return false;
  }

  std::optional<Seconds> time(Bytes operand, const std::vector<Topology::Link> &links,
                              BytesPerSecond reduction) const override {
    double segment = double(operand.value) / segments;
    double reduce = kind == CollectiveKind::Broadcast || reduction.value <= 0 ? 0 : segment / reduction.value;
    double pace = reduce, sum = 0;
    for (const std::vector<Topology::Path> *ways : {&out, &in})
      for (const Topology::Path &way : *ways) {
        Hop hop = hopOf(way, segment, links);
        sum += hop.time() + (ways == &in ? reduce : 0);
        pace = std::max(pace, hop.hold);
      }
    if (!meeting)
      return Seconds{sum + (segments - 1) * pace};
    std::optional<Seconds> middle = meeting->play(operand, links, reduction);
    if (!middle)
      return std::nullopt;
    return *middle + Seconds{sum};
  }
  int players() const override { return meeting ? meeting->players() : ranks; }
  std::string how() const override { return "a line of ranks"; }

private:
  CollectiveKind kind;
  int ranks, segments;
  std::unique_ptr<KindProgram> meeting;
  int met; ///< the last place of those
  std::vector<Topology::Path> out, in;
};

class ScatterAllGather : public ClosedForm {
public:
  explicit ScatterAllGather(const FormQuestion &q) : n(q.ranks) {
    auto rankOf = [&](int v) { return (v + q.options.root) % n; };
    for (int v = 0; v < n; ++v) {
      ring.push_back(v + 1 < n ? q.way(rankOf(v), rankOf(v + 1)) : Topology::Path());
      for (int bit = reach(v) / 2; bit >= 1; bit /= 2)
        if (v + bit < n)
          tree.push_back(q.way(rankOf(v), rankOf(v + bit)));
    }
  }

  std::optional<Seconds> time(Bytes operand, const std::vector<Topology::Link> &links, BytesPerSecond) const override {
    double block = double(operand.value) / n;
    std::vector<double> has(n), starts(n);
    size_t child = 0;
    std::vector<Hop> hops; // of the ring
    double pace = 0;
    for (int v = 0; v + 1 < n; ++v) {
      hops.push_back(hopOf(ring[v], block, links));
      pace = std::max(pace, hops.back().hold);
    }
    std::vector<double> sent(n);
    std::vector<char> fromAfar(n);
    for (int v = 0, host = 0; v < n; ++v) {
      if (v > 0 && fromAfar[v] == ring[v - 1].crossesHosts) {
        // The tree and the ring come in over the same link. A block of the ring may be on it when the tree's turn comes.
        double before = sent[v] - starts[v - 1], hold = hops[v - 1].hold;
        int blocks = int(before / hold);
        if (before > 0 && blocks < v - host)
          has[v] += (blocks + 1) * hold - before;
        starts[v - 1] = std::max(starts[v - 1], has[v] - hops[v - 1].latency);
      }
      host = v > 0 && ring[v - 1].crossesHosts ? v : host;
      double free[2] = {has[v], has[v]}; // its links out: to its host, and to others
      for (int bit = reach(v) / 2; bit >= 1; bit /= 2)
        if (v + bit < n) {
          const Topology::Path &way = tree[child++];
          Hop hop = hopOf(way, block * span(v + bit), links);
          sent[v + bit] = free[way.crossesHosts];
          has[v + bit] = sent[v + bit] + hop.time();
          fromAfar[v + bit] = way.crossesHosts;
          free[way.crossesHosts] += hop.hold;
        }
      starts[v] = free[ring[v].crossesHosts];
    }
    // From w over the last slow link, into x, to v: best is the largest t(w) + hops from w to x - (x - w) x pace.
    double best = -1e30, over = 0, last = 0;
    int x = -1;
    for (int v = 1; v < n; ++v) {
      best = std::max(best, starts[v - 1]) + hops[v - 1].time() - pace;
      double fast = hops[v - 1].hold, sum = 0;
      if (fast >= pace * (1 - 1e-12)) {
        x = v;
        over = best + (n - span(v)) * pace;
      }
      last = std::max({last, has[v], over});
      if (x == v)
        continue;
      if (x >= 0) { // on from x: a hop each, and the blocks that x had itself
        over += hops[v - 1].time();
        int left = (n - span(v)) - (n - span(x)) - (v - x);
        last = std::max(last, over + std::max(0, left) * fast);
      }
      for (int w = v - 1; w >= std::max(0, x); --w) { // from a rank beyond it
        sum += hops[w].time();
        last = std::max(last, starts[w] + sum + std::max(0, n - span(v) - (v - w)) * fast);
      }
    }
    return Seconds{last};
  }
  int players() const override { return n; }
  std::string how() const override { return "a tree, then a line of ranks"; }

private:
  /// Descendants of v in the tree with itself, if none were cut; and blocks that it has from it.
  int reach(int v) const {
    if (v)
      return v & -v;
    int power = 1;
    while (power < n)
      power *= 2;
    return power;
  }
  int span(int v) const { return v ? std::min(v & -v, n - v) : n; }

  int n;
  std::vector<Topology::Path> ring, tree;
};

} // namespace

std::unique_ptr<ClosedForm> chainForm(const FormQuestion &q) {
  bool ring = q.algorithm.name == "ring" && q.kind == CollectiveKind::Broadcast;
  if ((!ring && q.algorithm.name != "pipelined_chain") || q.options.channels != 1)
    return nullptr;
  std::unique_ptr<KindProgram> meeting;
  int last = 0, S = q.options.segments;
  if (q.kind == CollectiveKind::AllReduce && S > 1) {
    // The streams come in and go out over at least one link of each kind.
    int places = std::min(q.ranks, S / 2 + 2 + q.topology.cluster().devicesPerHost);
    if (!q.options.order.empty())
      return nullptr;
    meeting = KindProgram::everyone(q.algorithm, q.kind, places, q.options, q.topology, q.first);
    if (!meeting)
      return nullptr;
    last = places - 1;
  }
  auto chain = std::make_unique<Chain>(q, std::move(meeting), last);
  return chain->shared() ? nullptr : std::move(chain);
}

std::unique_ptr<ClosedForm> scatterAllGatherForm(const FormQuestion &q) {
  const Cluster &cluster = q.topology.cluster();
  bool apart = cluster.oversubscription <= 1 && cluster.routing == Routing::Static && cluster.planes == 1 &&
               cluster.topology != "three_tier" &&
               (cluster.hosts == 1 || cluster.nicsPerHost >= cluster.devicesPerHost);
  if (q.algorithm.name != "scatter_allgather" || q.ranks < 2 || q.options.channels != 1 || !apart)
    return nullptr;
  return std::make_unique<ScatterAllGather>(q);
}

} // namespace braid::cost
