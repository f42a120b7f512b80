//===- Bucketize.cpp - which collectives are one launch, by the rules people use --------------------------------===//
// Legality is by dependence, not by adjacency: collectives of one key may share a bucket if neither reaches the other
// in the graph in which every bucket formed so far is one node. Looking at single tensors would not do: with a1 after
// b0 and b1 after a0, the buckets {a0, a1} and {b0, b1} hold no dependent pair, and wait for each other.
//
// The two rules, from the sources:
//   XLA  (collective_combiner_utils.h) Walk the program; one bucket is open. It closes before the first collective that
//        would make it larger than the threshold, and at the first that depends on it. A collective larger than the
//        threshold is left alone.
//   DDP  (c10d/reducer.cpp) Walk in the order of readiness; the tensor that reaches the cap is the bucket's last. The
//        first bucket has a smaller cap, so that communication begins early.
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/Contraction.h"
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

using namespace braid::cost;

CollectiveSpec braid::cost::mergedSpec(const Block &block, const Bucket &bucket) {
  CollectiveSpec merged = block.tasks[bucket.tasks.front()].spec;
  for (size_t i = 1; i < bucket.tasks.size(); ++i) {
    const CollectiveSpec &spec = block.tasks[bucket.tasks[i]].spec;
    merged.bytes += spec.bytes;
    merged.tensors += spec.tensors;
  }
  return merged;
}

namespace {

/// The graph of a block with the buckets so far as nodes, and one bucket that is open. Keeps a topological order (a
/// place for each task; the members of a closed bucket share one), so that whether a collective depends on the open
/// bucket is a search among the places between the two. What a search has found stays for the next collective: each
/// task is expanded at most once per bucket and direction, and closing a bucket costs the places it spans.
class Frontier {
public:
  explicit Frontier(const Block &block)
      : place(block.tasks.size()), at(block.tasks.size()), next(block.tasks.size()), marks(block.tasks.size()) {
    size_t count = block.tasks.size();
    std::vector<int> before = chainOf(block);
    auto eachEdge = [&](auto use) {
      for (size_t i = 0; i < count; ++i) {
        for (int operand : block.tasks[i].operands)
          use(operand, int(i));
        if (before[i] >= 0)
          use(before[i], int(i));
      }
    };
    for (Edges *edges : {&after, &prior})
      edges->begin.assign(count + 1, 0);
    eachEdge([&](int from, int to) {
      ++after.begin[from + 1];
      ++prior.begin[to + 1];
    });
    for (Edges *edges : {&after, &prior}) {
      std::partial_sum(edges->begin.begin(), edges->begin.end(), edges->begin.begin());
      edges->to.resize(edges->begin.back());
    }
    std::vector<int> fillAfter = after.begin, fillPrior = prior.begin;
    eachEdge([&](int from, int to) {
      after.to[fillAfter[from]++] = to;
      prior.to[fillPrior[to]++] = from;
    });
    for (size_t i = 0; i < count; ++i)
      place[i] = at[i] = next[i] = int(i);
  }

  void open(int task) {
    ++bucket;
    below.clear();
    above.clear();
    members.clear();
    lowest = highest = place[task];
    add(task);
  }

  /// `task` depends on a member, or a member on it.
  bool related(int task) {
    int here = place[task];
    if (here > lowest)
      searchBelow(here);
    if (here < highest)
      searchAbove(here);
    return marks[task].below == bucket || marks[task].above == bucket;
  }

  void add(int task) {
    members.push_back(task);
    lowest = std::min(lowest, place[task]);
    highest = std::max(highest, place[task]);
    expand(task, after, true);
    expand(task, prior, false);
  }

  /// The members become one node: behind what is not below them of the places they span, in front of what is.
  void close() {
    if (members.size() < 2)
      return;
    searchBelow(highest + 1);
    for (size_t i = 0; i < members.size(); ++i) {
      next[members[i]] = members[(i + 1) % members.size()];
      at[place[members[i]]] = -1;
    }
    std::vector<int> later;
    int free = lowest;
    auto put = [&](int task) {
      at[free] = task;
      int each = task;
      do
        place[each] = free;
      while ((each = next[each]) != task);
      ++free;
    };
    for (int i = lowest; i <= highest; ++i) {
      int task = at[i];
      at[i] = -1;
      if (task < 0)
        continue;
      if (marks[task].below == bucket)
        later.push_back(task);
      else
        put(task);
    }
    put(members.front());
    for (int task : later)
      put(task);
    work += highest - lowest;
  }

  int64_t work = 0; ///< edges and places looked at so far

private:
  struct Edges { // of task t: to[begin[t]] .. to[begin[t + 1]]
    std::vector<int> begin, to;
  };
  struct Marks { // the last bucket it was found above or below of
    int below = 0, above = 0;
  };
  using Found = std::pair<int, int>; // place (negative if above), task: heaps, the nearest to the bucket first

  void expand(int task, const Edges &edges, bool down) {
    std::vector<Found> &heap = down ? below : above;
    int each = task;
    do {
      work += edges.begin[each + 1] - edges.begin[each] + 1;
      for (int e = edges.begin[each]; e < edges.begin[each + 1]; ++e) {
        int to = edges.to[e];
        int &mark = down ? marks[to].below : marks[to].above;
        if (mark == bucket)
          continue;
        int member = to;
        do
          (down ? marks[member].below : marks[member].above) = bucket;
        while ((member = next[member]) != to);
        heap.push_back({down ? place[to] : -place[to], to});
        std::push_heap(heap.begin(), heap.end(), std::greater<Found>());
      }
    } while ((each = next[each]) != task);
  }
  void search(std::vector<Found> &heap, int until, const Edges &edges, bool down) {
    while (!heap.empty() && heap.front().first < until) {
      int task = heap.front().second;
      std::pop_heap(heap.begin(), heap.end(), std::greater<Found>());
      heap.pop_back();
      expand(task, edges, down);
    }
  }
  void searchBelow(int until) { search(below, until, after, true); }
  void searchAbove(int until) { search(above, -until, prior, false); }

  std::vector<int> place, at; // of each task; the task at each place (a bucket: one of its members), or -1
  std::vector<int> next;      // members of a closed bucket, in a ring
  std::vector<Marks> marks;
  Edges after, prior;
  int bucket = 0; // number of the open one
  std::vector<int> members;
  int lowest = 0, highest = 0;
  std::vector<Found> below, above;
};

/// setting: programs whose collectives depend on each other in long chains could be scanned for ever: from the first limit of
/// work on, buckets close at dependents; from the second on, no more are formed.
constexpr int64_t scanLimit = int64_t(1) << 23, mergeLimit = int64_t(1) << 25;

} // namespace

std::vector<Bucket> braid::cost::bucketize(const Block &block, const BucketRule &rule, int64_t *looked) {
  std::vector<int> collectives; // tasks
  for (size_t i = 0; i < block.tasks.size(); ++i)
    if (block.tasks[i].kind == Task::Collective)
      collectives.push_back(int(i));
  bool ddp = rule.firstCap.value > 0;

  // The walk, one per key: collectives by number, in the order of the text or of readiness. (The operands of a
  // dependent collective come later than those of the one it depends on, so both orders respect dependence.)
  std::vector<int> segments = segmentsOf(block), walk(collectives.size());
  for (size_t c = 0; c < walk.size(); ++c)
    walk[c] = int(c);
  if (ddp || rule.byReadiness) {
    auto readiness = [&](int c) {
      const Task &task = block.tasks[collectives[c]];
      return std::make_tuple(segments[collectives[c]], task.operands.empty() ? -1 : task.operands.back(), c);
    };
    std::sort(walk.begin(), walk.end(), [&](int a, int b) { return readiness(a) < readiness(b); });
  }
  std::map<int, std::vector<int>> walkOfKey;
  for (int c : walk) {
    const Task &task = block.tasks[collectives[c]];
    if (task.key >= 0 && task.asynchronous)
      walkOfKey[task.key].push_back(c);
  }

  std::vector<Bucket> buckets;
  std::vector<char> taken(collectives.size());
  std::set<int> begun; // keys whose first bucket is formed
  std::map<int, size_t> cursor;
  bool any = rule.cap.value > 0 && rule.countCap > 1 && !walkOfKey.empty();
  std::optional<Frontier> graph;
  if (any)
    graph.emplace(block);
  for (int seed : walk) {
    if (taken[seed])
      continue;
    taken[seed] = 1;
    const Task &first = block.tasks[collectives[seed]];
    std::vector<int> members{seed};
    Bytes size = first.spec.bytes;
    int key = first.asynchronous ? first.key : -1;
    Bytes cap = ddp && begun.insert(key).second ? rule.firstCap : rule.cap;
    bool open = any && key >= 0 && (ddp ? size < cap : size <= cap);
    if (open && graph->work < mergeLimit) {
      graph->open(collectives[seed]);
      const std::vector<int> &same = walkOfKey[key];
      size_t &from = cursor[key]; // everything before it is taken
      while (from < same.size() && taken[same[from]])
        ++from;
      for (size_t i = from; i < same.size() && open; ++i) {
        int c = same[i];
        const Task &task = block.tasks[collectives[c]];
        if (taken[c] || (!ddp && task.spec.bytes > cap))
          continue;
        if (segments[collectives[c]] != segments[collectives[seed]])
          break;
        ++graph->work;
        if (graph->related(collectives[c])) {
          if (rule.scanPastDependents && graph->work < scanLimit)
            continue;
          break;
        }
        if (!ddp && size + task.spec.bytes > cap)
          break;
        graph->add(collectives[c]);
        members.push_back(c);
        taken[c] = 1;
        size += task.spec.bytes;
        open = int(members.size()) < rule.countCap && (!ddp || size < cap);
      }
      graph->close();
    }
    std::sort(members.begin(), members.end());
    Bucket bucket;
    for (int c : members)
      bucket.tasks.push_back(collectives[c]);
    buckets.push_back(std::move(bucket));
  }
  if (looked && graph)
    *looked += graph->work;
  std::sort(buckets.begin(), buckets.end(), [](const Bucket &a, const Bucket &b) { return a.tasks < b.tasks; });
  return buckets;
}
