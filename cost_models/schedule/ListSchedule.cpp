//===- ListSchedule.cpp - list scheduling of one block on a simulated clock -------------------------------------===//
// One compute stream and one channel per fabric, played while the order is written. At every boundary between kernels:
//   1. a fabric with a free lane takes, of the collectives whose operands are there, the one with the longest tail
//      (longest path to the end of the block). Starting more than the channel can serve would gain nothing and hold
//      memory.
//   2. the compute stream takes the next task of the program whose operands are there, or the one with the longest tail.
//   3. if it has to wait for a collective, the clock jumps to the next end of one.
// A wait is written late: before the first reader, before a start that needs its lane, before a nested block or a
// barrier, or at the end of the block.
//
// Collectives that need more memory than they free (gathers of parameters, whose operands are there from the beginning)
// are released just in time: when the compute left before their first reader is what they, and all that must come after
// them on the channel, need, and a margin of one more collective. With a memory limit also only if they fit.
//
// "Placed": a compute task that has run, a collective that could be started. A task is a candidate when its
// predecessors are placed, since starting what it needs and waiting is always possible then.
//
// Cost: O((n + e) log n) for n tasks and e dependences, and for each boundary a look at the collectives that a memory limit
// holds back.
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/Contraction.h"
#include "schedule/Release.h"
#include "simulate/Slowdown.h"
#include <algorithm>
#include <queue>
#include <set>
#include <utility>

using namespace braid::cost;

namespace {

class Scheduler {
public:
  Scheduler(const Program &program, int block, const Contraction &graph, const Pricer &pricer,
            const ListOptions &options, const std::vector<Seconds> &durations, const std::vector<int> &base)
      : graph(graph), options(options), durations(durations), base(base), slowdown(pricer.cluster().compute),
        fabrics(graph.buckets.size()), release(program, block, graph, options.memoryLimit, durations, base),
        nodes(graph.nodes.size()), ready{Queue(Order{this}), Queue(Order{this})},
        startable{Queue(Order{this}), Queue(Order{this})}, late{Queue(Order{this}), Queue(Order{this})} {
    for (size_t b = 0; b < fabrics.size(); ++b)
      fabrics[b] = int(pricer.fabric(mergedSpec(graph.block, graph.buckets[b])));
    for (auto node = base.rbegin(); node != base.rend(); ++node) {
      double tail = 0;
      for (int reader : graph.nodes[*node].readers)
        tail = std::max(tail, durations[reader].value + nodes[reader].tail);
      nodes[*node].tail = tail;
      nodes[*node].missing = int(graph.nodes[*node].operands.size() + graph.nodes[*node].chain.size());
      for (const std::vector<int> *before : {&graph.nodes[*node].operands, &graph.nodes[*node].chain})
        for (int n : *before)
          nodes[*node].awaits += queued(*node) && queued(n);
    }
    release.setFabrics(fabrics);
    priority.resize(nodes.size());
    for (size_t n = 0; n < nodes.size(); ++n)
      priority[n] = graph.nodes[n].position;
    if (options.longestTail) {
      std::vector<int> byTail = base;
      std::stable_sort(byTail.begin(), byTail.end(), [&](int a, int b) { return nodes[a].tail > nodes[b].tail; });
      for (size_t rank = 0; rank < byTail.size(); ++rank)
        priority[byTail[rank]] = int(rank);
    }
    for (size_t n = graph.buckets.size(); options.feedChannel && n < nodes.size(); ++n)
      for (int reader : graph.nodes[n].readers)
        if (queued(reader) && durations[n] * double(graph.nodes[reader].operands.size()) <= durations[reader])
          priority[n] = graph.nodes[n].position - int(nodes.size()); // before all others
  }

  std::vector<Event> run() {
    for (size_t first = 0; first < base.size();) { // `base` goes segment by segment
      segment = graph.nodes[base[first]].segment;
      size_t last = first;
      for (; last < base.size() && graph.nodes[base[last]].segment == segment; ++last)
        if (nodes[base[last]].missing == 0)
          offer(base[last]);
      runSegment();
      first = last;
    }
    return std::move(order);
  }

  Seconds time() const { return {clock}; }

private:
  struct State {
    double tail = 0;
    int missing = 0;    // predecessors not placed
    int unfinished = 0; // operands that are collectives not yet at their end
    int awaits = 0;     // of a collective: operands not yet at their end, and earlier ones of its chain not yet started
    int looked = 0;     // the last stall that came by
    bool offered = false, started = false, finished = false, awaited = false;
    double end = 0; // of a collective in flight
  };
  struct Order { // of the queue: longest tail, then earliest in the program
    const Scheduler *scheduler;
    bool operator()(int a, int b) const {
      double ta = scheduler->nodes[a].tail, tb = scheduler->nodes[b].tail;
      return ta != tb ? ta > tb
                      : std::make_pair(scheduler->graph.nodes[a].position, a) <
                            std::make_pair(scheduler->graph.nodes[b].position, b);
    }
  };
  using Queue = std::set<int, Order>;
  using ByPriority = std::set<std::pair<int, int>>; // priority, node

  bool queued(int node) const { return graph.isBucket(node) && !graph.nodes[node].blocking; }

  /// Predecessors are placed. A collective is placed itself by that; a compute task becomes a candidate.
  void offer(int node) {
    std::vector<int> stack{node};
    while (!stack.empty()) {
      int n = stack.back();
      stack.pop_back();
      if (nodes[n].offered || graph.nodes[n].segment != segment)
        continue;
      nodes[n].offered = true;
      if (!queued(n)) {
        for (int operand : graph.nodes[n].operands)
          nodes[n].unfinished += queued(operand) && !nodes[operand].finished;
        (nodes[n].unfinished ? blocked : runnable).insert({priority[n], n});
        continue;
      }
      ready[fabrics[n]].insert(n);
      if (nodes[n].awaits == 0)
        canStart(n);
      place(n, stack);
    }
  }
  void place(int node, std::vector<int> &stack) {
    for (const std::vector<int> *next : {&graph.nodes[node].readers, &graph.nodes[node].followers})
      for (int m : *next)
        if (--nodes[m].missing == 0)
          stack.push_back(m);
  }
  void placeRun(int node) {
    std::vector<int> stack;
    place(node, stack);
    for (int m : stack)
      offer(m);
  }

  void finishUntil(double time) {
    while (!ends.empty() && ends.top().first <= time) {
      int bucket = ends.top().second;
      ends.pop();
      if (nodes[bucket].finished)
        continue;
      nodes[bucket].finished = true;
      if (!queued(bucket))
        continue;
      for (int reader : graph.nodes[bucket].readers)
        if (queued(reader)) {
          if (--nodes[reader].awaits == 0)
            canStart(reader);
        } else if (nodes[reader].offered && --nodes[reader].unfinished == 0) {
          std::pair<int, int> entry{priority[reader], reader};
          blocked.erase(entry);
          runnable.insert(entry);
        }
    }
  }

  void await(int bucket) {
    if (nodes[bucket].awaited)
      return;
    order.push_back({Event::Wait, bucket});
    nodes[bucket].awaited = true;
    std::vector<int> &flight = inFlight[fabrics[bucket]];
    flight.erase(std::find(flight.begin(), flight.end(), bucket));
    clock = std::max(clock, nodes[bucket].end);
    finishUntil(clock);
  }
  void awaitAll() {
    for (std::vector<int> &flight : inFlight)
      while (!flight.empty())
        await(flight.front());
  }

  /// Now, whatever must be started and awaited before it.
  void start(int bucket) {
    if (nodes[bucket].started)
      return;
    for (int earlier : graph.nodes[bucket].chain)
      if (queued(earlier))
        start(earlier);
    for (int operand : graph.nodes[bucket].operands)
      if (queued(operand)) {
        start(operand);
        await(operand);
      }
    int fabric = fabrics[bucket];
    while (int(inFlight[fabric].size()) >= std::max(1, options.inFlight))
      await(inFlight[fabric].front());
    order.push_back({Event::Start, bucket});
    nodes[bucket].started = true;
    ready[fabric].erase(bucket);
    startable[fabric].erase(bucket);
    late[fabric].erase(bucket);
    for (int follower : graph.nodes[bucket].followers)
      if (queued(bucket) && queued(follower) && --nodes[follower].awaits == 0)
        canStart(follower);
    inFlight[fabric].push_back(bucket);
    nodes[bucket].end = channelFree[fabric] = std::max(clock, channelFree[fabric]) + durations[bucket].value;
    ends.push({nodes[bucket].end, bucket});
    release.started(bucket);
  }

  /// That a task takes from now on, beside what is in flight.
  double elapsed(int node) const {
    double work = durations[node].value;
    return graph.isBucket(node) ? work : slowdown.elapsed(work, clock, channelFree);
  }
  bool laneFree(int fabric) const {
    return int(inFlight[fabric].size()) < std::max(1, options.inFlight) || nodes[inFlight[fabric].front()].end <= clock;
  }
  /// Without the compute stream losing time: its operands have ended, what it must follow has begun.
  bool canStartNow(int bucket) const { return nodes[bucket].awaits == 0; }
  /// It may stand in the queue from now on, or when the compute that is left asks for it.
  void canStart(int bucket) {
    if (!nodes[bucket].offered || nodes[bucket].started)
      return;
    if (release.heldUntil(bucket) <= 0)
      startable[fabrics[bucket]].insert(bucket);
    else if (late[fabrics[bucket]].insert(bucket).second)
      held.push({release.heldUntil(bucket), bucket});
  }
  int nextToStart(int fabric) {
    Queue &queue = startable[fabric], &others = late[fabric];
    if (runnable.empty()) { // nothing is computed meanwhile: the late ones may start, too
      for (auto one = queue.begin(), other = others.begin(); one != queue.end() || other != others.end();) {
        bool first = other == others.end() || (one != queue.end() && Order{this}(*one, *other));
        int bucket = first ? *one++ : *other++;
        if (release.allows(bucket, {1e300}))
          return bucket;
      }
      return -1;
    }
    Seconds kernel = durations[runnable.begin()->second];
    for (; !held.empty() && held.top().first < release.done() + kernel.value; held.pop())
      if (int bucket = held.top().second; late[fabrics[bucket]].erase(bucket))
        startable[fabrics[bucket]].insert(bucket);
    for (int bucket : queue)
      if (release.allows(bucket, kernel))
        return bucket;
    return -1;
  }
  void startReady() {
    for (int fabric : {0, 1})
      while (laneFree(fabric)) {
        int bucket = nextToStart(fabric);
        if (bucket < 0)
          break;
        start(bucket);
      }
  }

  /// The compute stream has nothing else to do: starts what `node` needs if a lane is free, else the clock goes on.
  void stall(int node) {
    bool started = false, free = false;
    for (int fabric : {0, 1})
      free |= laneFree(fabric) && !ready[fabric].empty();
    std::vector<int> stack;
    if (free)
      stack = graph.nodes[node].operands;
    ++stalls;
    while (!stack.empty()) {
      int n = stack.back();
      stack.pop_back();
      if (!queued(n) || nodes[n].started || std::exchange(nodes[n].looked, stalls) == stalls)
        continue;
      if (canStartNow(n) && laneFree(fabrics[n])) {
        start(n);
        started = true;
        continue;
      }
      for (const std::vector<int> *before : {&graph.nodes[n].operands, &graph.nodes[n].chain})
        stack.insert(stack.end(), before->begin(), before->end());
    }
    if (started)
      return;
    if (ends.empty()) { // everything in flight has ended, and a lane is held by it
      for (int operand : graph.nodes[node].operands)
        if (queued(operand))
          start(operand);
      return;
    }
    clock = std::max(clock, ends.top().first);
    finishUntil(clock);
  }

  /// True if the compute stream rather waits for a lane than to let a collective wait for the end of `node`.
  bool waitForLane(int node) {
    double after = clock + elapsed(node), until = 0;
    for (int fabric : {0, 1}) {
      if (laneFree(fabric))
        continue;
      double free = nodes[inFlight[fabric].front()].end;
      if (free < after && free - clock <= options.patience * (after - free) && nextToStart(fabric) >= 0)
        until = std::max(until, free);
    }
    if (until <= clock)
      return false;
    clock = until;
    finishUntil(clock);
    return true;
  }

  /// When the operands of a task will have ended; no end is known before they have been started.
  double released(int node) const {
    double end = clock;
    for (int operand : graph.nodes[node].operands)
      if (queued(operand) && !nodes[operand].finished)
        end = nodes[operand].started ? std::max(end, nodes[operand].end) : 1e300;
    return end;
  }
  /// The first of the runnable tasks that does not delay the blocked task of longest tail too much; -1: rather wait.
  int withoutOverrun() const {
    double release = 1e300;
    int looked = 0;
    for (auto first = blocked.begin(); first != blocked.end() && *first < *runnable.begin() && looked < 16;
         ++first, ++looked)
      release = std::min(release, released(first->second));
    for (const Queue &queue : ready) // the stream must be free to start a collective that waits for another
      for (auto bucket = queue.begin(), end = queue.end(); bucket != end && looked < 32; ++bucket, ++looked)
        if (nodes[*bucket].tail > nodes[runnable.begin()->second].tail && !canStartNow(*bucket))
          release = std::min(release, released(*bucket));
    looked = 0;
    for (auto &[rank, node] : runnable) {
      double late = clock + elapsed(node) - release;
      if (late <= options.overrun * (release - clock))
        return node;
      if (++looked == 64)
        break;
    }
    return -1;
  }

  void runNode(int node) {
    runnable.erase({priority[node], node});
    for (int earlier : graph.nodes[node].chain)
      if (queued(earlier))
        start(earlier);
    for (int operand : graph.nodes[node].operands)
      if (queued(operand))
        await(operand);
    if (graph.isBucket(node)) { // a blocking one
      start(node);
      await(node);
    } else {
      const Task &task = graph.block.tasks[graph.nodes[node].task];
      if (task.kind == Task::Nested || task.kind == Task::Barrier)
        awaitAll();
      order.push_back({Event::Run, graph.nodes[node].task});
      clock += elapsed(node);
    }
    finishUntil(clock);
    release.ran(node);
    placeRun(node);
  }

  void runSegment() {
    while (true) {
      finishUntil(clock);
      startReady();
      int node = -1;
      if (!runnable.empty())
        node = runnable.begin()->second;
      if (!blocked.empty() &&
          (node < 0 || (!options.fillWaits && !options.longestTail && *blocked.begin() < *runnable.begin()))) {
        stall(blocked.begin()->second);
        continue;
      }
      if (node >= 0 && options.longestTail && options.overrun < 1e300) {
        node = withoutOverrun();
        if (node < 0) {
          clock = std::max(clock, ends.top().first);
          continue;
        }
      }
      if (node >= 0) {
        if (options.patience <= 0 || !waitForLane(node))
          runNode(node);
        continue;
      }
      bool left = false;
      for (Queue &queue : ready)
        if ((left = !queue.empty())) {
          start(*queue.begin());
          break;
        }
      if (!left)
        break;
    }
    awaitAll();
  }

  const Contraction &graph;
  const ListOptions &options;
  const std::vector<Seconds> &durations;
  const std::vector<int> &base;
  Slowdown slowdown;
  std::vector<int> fabrics; // of each bucket
  Release release;
  std::vector<State> nodes;
  int segment = 0;
  double clock = 0, channelFree[2] = {0, 0};
  Queue ready[2], startable[2],
      late[2];                  // collectives: placed; of these, what can start now, and what could but costs memory
  std::vector<int> inFlight[2]; // started and not awaited, in order
  std::vector<int> priority;    // of compute tasks: their place in the program, or by tail
  ByPriority runnable, blocked; // compute tasks; blocked ones wait for a collective's end
  using End = std::pair<double, int>;
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends;
  /// The late ones by the compute that is done when they may start; some have started since.
  std::priority_queue<End, std::vector<End>, std::greater<End>> held;
  int stalls = 0;
  std::vector<Event> order;
};

/// A guess for nested blocks whose time nobody gave: every collective at its cheapest, one after another with compute.
Seconds roughTime(const Program &program, int block, const Pricer &pricer) {
  Seconds total;
  for (const Task &task : program.blocks[block].tasks)
    if (task.kind == Task::Collective)
      total += pricer.candidates(task.spec).front().time;
    else if (task.kind == Task::Nested)
      total += task.trips * roughTime(program, task.block, pricer);
    else
      total += task.duration;
  return total;
}

} // namespace

BlockSchedule braid::cost::listSchedule(const Program &program, int block, std::vector<Bucket> buckets,
                                        const Pricer &pricer, const ListOptions &options) {
  const Block &body = program.blocks[block];
  Contraction graph(body, std::move(buckets));
  std::vector<Seconds> durations(graph.nodes.size());
  for (size_t n = 0; n < durations.size(); ++n) {
    if (graph.isBucket(int(n))) {
      const std::vector<Candidate> &candidates = pricer.candidates(mergedSpec(body, graph.buckets[n]));
      durations[n] = candidates[graph.buckets[n].candidate].time;
      continue;
    }
    const Task &task = body.tasks[graph.nodes[n].task];
    if (task.kind != Task::Nested)
      durations[n] = task.duration;
    else if (options.times && int(options.times->size()) > task.block)
      durations[n] = task.trips * (*options.times)[task.block];
    else
      durations[n] = task.trips * roughTime(program, task.block, pricer);
  }

  BlockSchedule schedule;
  std::vector<int> base = graph.programOrder();
  Seconds total;
  if (options.overlap) {
    Scheduler scheduler(program, block, graph, pricer, options, durations, base);
    schedule.order = scheduler.run();
    total = scheduler.time();
  } else {
    for (int node : base) {
      total += durations[node];
      if (!graph.isBucket(node)) {
        schedule.order.push_back({Event::Run, graph.nodes[node].task});
        continue;
      }
      schedule.order.push_back({Event::Start, node});
      schedule.order.push_back({Event::Wait, node});
    }
  }
  schedule.buckets = std::move(graph.buckets);
  if (options.times) {
    options.times->resize(std::max(options.times->size(), size_t(block) + 1));
    (*options.times)[block] = total;
  }
  return schedule;
}
