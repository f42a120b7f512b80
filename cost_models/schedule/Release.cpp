//===- Release.cpp - when a collective that costs memory may start early ----------------------------------------===//
#include "schedule/Release.h"
#include "simulate/Liveness.h"
#include <algorithm>
#include <limits>

using namespace braid::cost;

/// What starting it costs until its first reader: a gather's results are larger than what it sends. (Operands are taken
/// to be free after it. Reductions, and gradients that wait for them, thus never cost anything.)
static Bytes growthOf(const Contraction &graph, int bucket) {
  Bytes growth;
  for (int task : graph.buckets[bucket].tasks)
    growth += graph.block.tasks[task].result - graph.block.tasks[task].spec.bytes;
  return growth;
}

Release::Release(const Program &program, int block, const Contraction &graph, Bytes limit,
                 const std::vector<Seconds> &durations, const std::vector<int> &base)
    : graph(graph), durations(durations), limit(limit), workBefore(graph.nodes.size()), needed(graph.buckets.size()),
      growth(graph.buckets.size()), place(graph.nodes.size()), lastUse(graph.buckets.size()) {
  double work = 0;
  BlockSchedule written;
  for (int node : base) {
    workBefore[node] = work;
    place[node] = int(written.order.size());
    if (graph.isBucket(node)) {
      written.order.push_back({Event::Start, node});
      written.order.push_back({Event::Wait, node});
    } else {
      written.order.push_back({Event::Run, graph.nodes[node].task});
      work += durations[node].value;
    }
  }
  int end = int(written.order.size());
  bool grows = false;
  for (auto node = base.rbegin(); node != base.rend(); ++node) {
    if (!graph.isBucket(*node))
      continue;
    growth[*node] = growthOf(graph, *node);
    grows |= growth[*node].value > 0;
    needed[*node] = work;
    lastUse[*node] = end;
    for (int reader : graph.nodes[*node].readers) {
      bool bucket = graph.isBucket(reader);
      needed[*node] = std::min(needed[*node], bucket ? needed[reader] - durations[reader].value : workBefore[reader]);
      lastUse[*node] = std::min(lastUse[*node], place[reader]);
    }
  }
  if (limit.value == 0 || !grows || end == 0)
    return;
  written.buckets = graph.buckets;
  highest.push_back(liveBytes(program, block, written, nullptr));
  for (int width = 1; 2 * width <= end; width *= 2) {
    const std::vector<Bytes> &half = highest.back();
    std::vector<Bytes> whole(end - 2 * width + 1);
    for (size_t i = 0; i < whole.size(); ++i)
      whole[i] = std::max(half[i], half[i + width]);
    highest.push_back(std::move(whole));
  }
}

void Release::setFabrics(const std::vector<int> &fabrics) {
  // Backwards in the order of need: each must be through before it is needed and before the next one must begin.
  std::vector<int> byNeed(needed.size());
  for (size_t b = 0; b < byNeed.size(); ++b)
    byNeed[b] = int(b);
  std::sort(byNeed.begin(), byNeed.end(),
            [&](int a, int b) { return needed[a] != needed[b] ? needed[a] > needed[b] : a > b; });
  double begin[2], longest[2] = {0, 0};
  begin[0] = begin[1] = std::numeric_limits<double>::infinity();
  for (int b : byNeed)
    longest[fabrics[b]] = std::max(longest[fabrics[b]], durations[b].value);
  latest.resize(needed.size());
  for (int b : byNeed) {
    double &next = begin[fabrics[b]];
    next = std::min(needed[b], next) - durations[b].value;
    latest[b] =
        next - durations[b].value - longest[fabrics[b]]; // margin: one of its own kind, and what may be in the way
  }
}

bool Release::allows(int bucket, Seconds kernel) const {
  if (growth[bucket].value <= 0)
    return true;
  if (workDone + kernel.value <= latest[bucket])
    return false; // the end of the next kernel is early enough
  if (highest.empty())
    return true;
  int from = std::min(reached, int(highest[0].size()) - 1), to = std::min(lastUse[bucket], int(highest[0].size()) - 1);
  if (place[bucket] <= from || to <= from)
    return true; // it is its turn
  size_t level = 0;
  while ((2 << level) <= to - from + 1)
    ++level;
  Bytes peak = std::max(highest[level][from], highest[level][to - (1 << level) + 1]);
  return ahead + growth[bucket] + peak <= limit;
}

void Release::started(int bucket) {
  if (highest.empty() || growth[bucket].value <= 0 || place[bucket] <= reached)
    return;
  ahead += growth[bucket];
  pending.push_back({place[bucket], growth[bucket]});
}

void Release::ran(int node) {
  if (!graph.isBucket(node))
    workDone += durations[node].value;
  if (place[node] <= reached)
    return;
  reached = place[node];
  for (size_t i = 0; i < pending.size();)
    if (pending[i].first <= reached) {
      ahead -= pending[i].second;
      pending[i] = pending.back();
      pending.pop_back();
    } else {
      ++i;
    }
}
