//===- Contraction.cpp - the dependence graph with each bucket as one node --------------------------------------===//
#include "schedule/Contraction.h"
#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

using namespace braid::cost;

std::vector<int> braid::cost::segmentsOf(const Block &block) {
  std::vector<int> segments(block.tasks.size());
  int current = 0;
  for (size_t i = 0; i < block.tasks.size(); ++i) {
    bool barrier = block.tasks[i].kind == Task::Barrier;
    current += barrier;
    segments[i] = current;
    current += barrier;
  }
  return segments;
}

std::vector<int> braid::cost::chainOf(const Block &block) {
  std::vector<int> before(block.tasks.size(), -1);
  int last = -1;
  for (size_t i = 0; i < block.tasks.size(); ++i) {
    const Task &task = block.tasks[i];
    if (task.kind != Task::Nested && !(task.kind == Task::Collective && task.ordered))
      continue;
    before[i] = last;
    last = int(i);
  }
  return before;
}

static void sortUnique(std::vector<int> &values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

Contraction::Contraction(const Block &block, std::vector<Bucket> given)
    : block(block), buckets(std::move(given)), nodeOf(block.tasks.size(), -1) {
  for (size_t b = 0; b < buckets.size(); ++b)
    for (int task : buckets[b].tasks)
      nodeOf[task] = int(b);
  for (size_t i = 0; i < block.tasks.size(); ++i)
    if (block.tasks[i].kind == Task::Collective && nodeOf[i] < 0) {
      nodeOf[i] = int(buckets.size());
      buckets.push_back({{int(i)}, 0});
    }
  nodes.resize(buckets.size());
  std::vector<int> segments = segmentsOf(block), before = chainOf(block);
  for (size_t i = 0; i < block.tasks.size(); ++i) {
    if (nodeOf[i] < 0) {
      nodeOf[i] = int(nodes.size());
      nodes.emplace_back();
      nodes.back().task = int(i);
    }
    Node &node = nodes[nodeOf[i]];
    node.position = int(i);
    node.segment = segments[i];
    node.blocking |= block.tasks[i].kind == Task::Collective && !block.tasks[i].asynchronous;
    for (int operand : block.tasks[i].operands)
      node.operands.push_back(nodeOf[operand]);
    if (before[i] >= 0 && nodeOf[before[i]] != nodeOf[i])
      node.chain.push_back(nodeOf[before[i]]);
  }
  for (size_t n = 0; n < nodes.size(); ++n) {
    sortUnique(nodes[n].operands);
    sortUnique(nodes[n].chain);
    for (int operand : nodes[n].operands)
      nodes[operand].readers.push_back(int(n));
    for (int earlier : nodes[n].chain)
      nodes[earlier].followers.push_back(int(n));
  }
}

std::vector<int> Contraction::programOrder() const {
  using Entry = std::tuple<int, int, int>; // segment, position, node
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  std::vector<int> missing(nodes.size()), order;
  order.reserve(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n)
    if ((missing[n] = int(nodes[n].operands.size() + nodes[n].chain.size())) == 0)
      ready.push({nodes[n].segment, nodes[n].position, int(n)});
  while (!ready.empty()) {
    int n = std::get<2>(ready.top());
    ready.pop();
    order.push_back(n);
    for (const std::vector<int> *next : {&nodes[n].readers, &nodes[n].followers})
      for (int m : *next)
        if (--missing[m] == 0)
          ready.push({nodes[m].segment, nodes[m].position, m});
  }
  return order;
}
