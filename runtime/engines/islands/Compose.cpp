//===- Compose.cpp - a collective on islands, as collectives inside them and between them -----------------------------------===//
#include "engines/islands/Compose.h"
#include <numeric>

namespace braid::runtime::islands {

namespace {

class Composer {
public:
  Composer(const Request &request, const Layout &layout) : r(request), l(layout) {}

  Program run() {
    for (size_t i = 0; i < r.tensors.size(); ++i) {
      in = {int(2 * i), 0};
      out = {int(2 * i + 1), 0};
      count = r.tensors[i].count;
      tensor();
    }
    return std::move(program);
  }

private:
  void tensor() {
    switch (r.collective) {
    case BRAID_ALL_REDUCE:
      return allReduce();
    case BRAID_REDUCE:
      return reduce();
    case BRAID_REDUCE_SCATTER:
      return reduceScatter();
    case BRAID_ALL_GATHER:
      return allGather();
    case BRAID_ALL_TO_ALL:
      return allToAll();
    case BRAID_PERMUTE:
      return permute();
    case BRAID_BROADCAST:
      return broadcast();
    case BRAID_GATHER:
      return gather();
    case BRAID_SCATTER:
      return scatter();
    case BRAID_SEND:
    case BRAID_RECV:
      return pointToPoint();
    case BRAID_BARRIER:
      add(Neighbours, BRAID_BARRIER);
      if (l.leads())
        add(Leaders, BRAID_BARRIER);
      add(Neighbours, BRAID_BARRIER);
    }
  }

  Step &add(Who who, braid_collective collective) {
    Step step;
    step.who = who;
    step.collective = collective;
    program.steps.push_back(step);
    return program.steps.back();
  }
  Step &add(Who who, braid_collective collective, Place send, size_t sent, Place receive, size_t received,
            int root = 0) {
    Step &step = add(who, collective);
    step.send = sent ? send : Place();
    step.receive = received ? receive : Place();
    step.sendCount = sent;
    step.receiveCount = received;
    step.root = root;
    return step;
  }
  void copy(Place to, Place from, size_t elements) {
    Step step;
    step.copies = true;
    step.send = from;
    step.receive = to;
    step.sendCount = step.receiveCount = elements;
    if (elements)
      program.steps.push_back(step);
  }
  Place scratch(size_t elements) {
    program.scratch.push_back(elements);
    return {int(2 * r.tensors.size() + program.scratch.size()) - 1, 0};
  }
  /// The place `elements` further on.
  Place after(Place place, size_t elements) const { return {place.buffer, place.at + elements}; }
  size_t few() const { return l.neighbours().size(); }
  int rootIsland() const { return l.islandOf[size_t(r.options.root)]; }
  int rootIndex() const { return l.indexIn[size_t(r.options.root)]; }
  bool isRoot() const { return l.me == r.options.root; }

  /// To the leader, where it lies in `sum`.
  void reduceInside(Place sum, size_t elements) {
    add(Neighbours, BRAID_REDUCE, in, elements, sum, l.leads() ? elements : 0);
  }
  void broadcastInside(Place from, Place to, size_t elements, int root = 0) {
    bool mine = l.indexIn[size_t(l.me)] == root;
    add(Neighbours, BRAID_BROADCAST, from, mine ? elements : 0, to, elements, root);
  }
  /// From one neighbour to another.
  void pass(int from, int to, Place source, Place target, size_t elements) {
    int here = l.indexIn[size_t(l.me)];
    if (from == to) {
      if (here == from)
        copy(target, source, elements);
      return;
    }
    Place give = here == from ? source : scratch(elements), take = here == to ? target : scratch(elements);
    add(Neighbours, BRAID_PERMUTE, give, elements, take, elements).pairs = {from, to};
  }
  /// Blocks of an island's ranks: those of `all`, which has one of every rank, one after another in `some`; or back.
  void pack(Place some, Place all, int island) {
    for (size_t i = 0; i < l.islands[size_t(island)].ranks.size(); ++i)
      copy(after(some, i * count), after(all, size_t(l.islands[size_t(island)].ranks[i]) * count), count);
  }
  void unpack(Place all, Place some, int island) {
    for (size_t i = 0; i < l.islands[size_t(island)].ranks.size(); ++i)
      copy(after(all, size_t(l.islands[size_t(island)].ranks[i]) * count), after(some, i * count), count);
  }
  size_t blocksOf(int island) const { return l.islands[size_t(island)].ranks.size() * count; }

  void allReduce() {
    Place sum = l.leads() ? scratch(count) : Place();
    reduceInside(sum, count);
    if (l.leads())
      add(Leaders, BRAID_ALL_REDUCE, sum, count, out, count);
    broadcastInside(out, out, count);
  }

  void reduce() {
    Place sum = scratch(count), whole = scratch(count);
    bool here = l.mine() == rootIsland();
    reduceInside(sum, count);
    if (l.leads())
      add(Leaders, BRAID_REDUCE, sum, count, whole, here ? count : 0, rootIsland());
    if (here)
      pass(0, rootIndex(), whole, out, count);
  }

  void reduceScatter() {
    size_t all = count * size_t(l.ranks());
    Place sum = l.leads() ? scratch(all) : Place(), own = l.leads() ? scratch(few() * count) : Place();
    reduceInside(sum, all);
    if (l.leads()) {
      add(Leaders, BRAID_ALL_REDUCE, sum, all, sum, all);
      pack(own, sum, l.mine());
    }
    add(Neighbours, BRAID_SCATTER, own, l.leads() ? few() * count : 0, out, count);
  }

  void allGather() {
    size_t all = count * size_t(l.ranks());
    Place own = l.leads() ? scratch(few() * count) : Place(), whole = l.leads() ? scratch(all) : Place();
    add(Neighbours, BRAID_GATHER, in, count, own, l.leads() ? few() * count : 0);
    for (int island = 0; island < int(l.islands.size()) && l.leads(); ++island) {
      bool mine = island == l.mine();
      Place theirs = mine ? own : scratch(blocksOf(island));
      add(Leaders, BRAID_BROADCAST, own, mine ? blocksOf(island) : 0, theirs, blocksOf(island), island);
      unpack(whole, theirs, island);
    }
    broadcastInside(whole, out, all);
  }

  void allToAll() {
    size_t n = size_t(l.ranks());
    std::vector<size_t> gives = r.ragged() ? r.gives : std::vector<size_t>(n, count);
    std::vector<size_t> takes = r.ragged() ? r.takes : std::vector<size_t>(n, count);
    for (bool inside : {true, false}) {
      Step step;
      step.who = inside ? Neighbours : Everybody;
      step.collective = BRAID_ALL_TO_ALL;
      std::vector<std::pair<size_t, size_t>> sent, received; // where each block lies, and its elements
      size_t from = 0, to = 0;
      for (size_t rank = 0; rank < n; ++rank) {
        bool near = l.islandOf[rank] == l.mine();
        if (!inside || near) {
          step.sendCounts.push_back(near == inside ? gives[rank] : 0);
          step.receiveCounts.push_back(near == inside ? takes[rank] : 0);
          sent.emplace_back(from, step.sendCounts.back());
          received.emplace_back(to, step.receiveCounts.back());
        }
        from += gives[rank];
        to += takes[rank];
      }
      auto sum = [](const std::vector<size_t> &all) { return std::accumulate(all.begin(), all.end(), size_t(0)); };
      step.sendCount = sum(step.sendCounts);
      step.receiveCount = sum(step.receiveCounts);
      step.send = scratch(step.sendCount);
      step.receive = scratch(step.receiveCount);
      size_t at = 0;
      for (auto [where, elements] : sent) {
        copy(after(step.send, at), after(in, where), elements);
        at += elements;
      }
      if (!r.ragged() && inside)
        step.sendCounts = step.receiveCounts = {};
      program.steps.push_back(step);
      at = 0;
      for (auto [where, elements] : received) {
        copy(after(out, where), after(step.receive, at), elements);
        at += elements;
      }
    }
  }

  void permute() {
    std::vector<int32_t> inside, across;
    enum { Nobody, Near, Far } source = Nobody;
    for (auto [from, to] : r.options.pairs) {
      bool near = l.islandOf[size_t(from)] == l.islandOf[size_t(to)];
      if (to == l.me)
        source = near ? Near : Far;
      if (!near)
        across.insert(across.end(), {from, to});
      else if (l.islandOf[size_t(from)] == l.mine())
        inside.insert(inside.end(), {l.indexIn[size_t(from)], l.indexIn[size_t(to)]});
    }
    if (!inside.empty())
      add(Neighbours, BRAID_PERMUTE, in, count, source == Near ? out : scratch(count), count).pairs = inside;
    if (!across.empty())
      add(Everybody, BRAID_PERMUTE, in, count, source == Far ? out : scratch(count), count).pairs = across;
    if (source == Nobody)
      copy(out, Place(), count);
  }

  void broadcast() {
    bool here = l.mine() == rootIsland();
    if (here)
      broadcastInside(in, out, count, rootIndex());
    if (l.leads())
      add(Leaders, BRAID_BROADCAST, out, here ? count : 0, out, count, rootIsland());
    if (!here)
      broadcastInside(out, out, count);
  }

  void gather() {
    bool here = l.mine() == rootIsland();
    size_t all = count * size_t(l.ranks());
    Place own = l.leads() ? scratch(few() * count) : Place(), whole = l.leads() && here ? scratch(all) : Place();
    add(Neighbours, BRAID_GATHER, in, count, own, l.leads() ? few() * count : 0);
    if (l.leads() && !here)
      add(Leaders, BRAID_SEND, own, few() * count, Place(), 0).peer = rootIsland();
    for (int island = 0; island < int(l.islands.size()) && l.leads() && here; ++island) {
      Place theirs = island == l.mine() ? own : scratch(blocksOf(island));
      if (island != l.mine())
        add(Leaders, BRAID_RECV, Place(), 0, theirs, blocksOf(island)).peer = island;
      unpack(whole, theirs, island);
    }
    if (here)
      pass(0, rootIndex(), whole, out, all);
  }

  void scatter() {
    bool here = l.mine() == rootIsland();
    size_t all = count * size_t(l.ranks());
    Place own = l.leads() ? scratch(few() * count) : Place(), whole = l.leads() && here ? scratch(all) : Place();
    if (here)
      pass(rootIndex(), 0, in, whole, all);
    for (int island = 0; island < int(l.islands.size()) && l.leads() && here; ++island) {
      Place theirs = island == l.mine() ? own : scratch(blocksOf(island));
      pack(theirs, whole, island);
      if (island != l.mine())
        add(Leaders, BRAID_SEND, theirs, blocksOf(island), Place(), 0).peer = island;
    }
    if (l.leads() && !here)
      add(Leaders, BRAID_RECV, Place(), 0, own, few() * count).peer = rootIsland();
    add(Neighbours, BRAID_SCATTER, own, l.leads() ? few() * count : 0, out, count);
  }

  void pointToPoint() {
    bool near = l.islandOf[size_t(r.peer)] == l.mine(), sends = r.collective == BRAID_SEND;
    Step &step = add(near ? Neighbours : Everybody, r.collective, in, sends ? count : 0, out, sends ? 0 : count);
    step.peer = near ? l.indexIn[size_t(r.peer)] : r.peer;
    step.tag = r.tag;
  }

  const Request &r;
  const Layout &l;
  Program program;
  Place in, out;
  size_t count = 0; ///< elements of a block of this tensor
};

} // namespace

Program compose(const Request &request, const Layout &layout) { return Composer(request, layout).run(); }

} // namespace braid::runtime::islands
