//===- Heads.cpp - longest paths, and one compute stream --------------------------------------------------------===//
#include "bounds/Heads.h"
#include <algorithm>

using namespace braid::cost;

bool braid::cost::onStream(const Task &task) { return task.kind != Task::Collective || !task.asynchronous; }

namespace {

/// A graph of which every edge goes to a lower number.
struct Graph {
  std::vector<std::vector<int>> before;
  std::vector<char> stream;      ///< keeps the compute stream
  std::vector<char> asked;       ///< the machine's bound is wanted
  std::vector<double> durations; ///< seconds
};

/// setting: most rows of bits, the ancestors of each node. Memory and time grow with the square.
constexpr size_t kMostWords = size_t(1) << 25; ///< 256 MiB
constexpr double kMostSteps = 4e7;             ///< over ancestors, a second or less

/// The earliest begin of each node; `from` as in Heads.
std::vector<double> earliest(const Graph &graph, std::vector<int> &from, std::vector<uint64_t> &above) {
  size_t count = graph.before.size(), words = (count + 63) / 64;
  size_t asked = size_t(std::count(graph.asked.begin(), graph.asked.end(), 1));
  bool machine = count * words <= kMostWords && double(asked) * double(count) <= kMostSteps;
  above.assign(machine ? count * words : 0, 0);
  std::vector<double> begins(count);
  from.assign(count, -1);
  std::vector<int> byBegin; // what keeps the stream, so far; earliest first
  for (size_t i = 0; i < count; ++i) {
    for (int before : graph.before[i]) {
      if (begins[before] + graph.durations[before] > begins[i]) {
        begins[i] = begins[before] + graph.durations[before];
        from[i] = before;
      }
      if (machine) {
        uint64_t *row = &above[i * words];
        const uint64_t *other = &above[size_t(before) * words];
        for (size_t w = 0; w < words; ++w)
          row[w] |= other[w];
        row[size_t(before) / 64] |= uint64_t(1) << (size_t(before) % 64);
      }
    }
    if (!machine)
      continue;
    if (graph.asked[i]) {
      double end = 0; // of all that must run before, one after another
      for (int other : byBegin)
        if (above[i * words + size_t(other) / 64] >> (size_t(other) % 64) & 1)
          end = std::max(end, begins[other]) + graph.durations[other];
      if (end > begins[i]) {
        begins[i] = end;
        from[i] = -2;
      }
    }
    if (graph.stream[i])
      byBegin.insert(
          std::upper_bound(byBegin.begin(), byBegin.end(), int(i), [&](int a, int b) { return begins[a] < begins[b]; }),
          int(i));
  }
  return begins;
}

} // namespace

Heads braid::cost::headsAndTails(const Block &block, int first, int last, const std::vector<Seconds> &durations) {
  int count = last - first;
  Graph forward, backward;
  for (Graph *graph : {&forward, &backward}) {
    graph->before.resize(count);
    graph->stream.resize(count);
    graph->asked.resize(count);
    graph->durations.resize(count);
  }
  // Small blocks ask for every task, large ones for collectives only.
  bool all = double(count) * count <= kMostSteps / 10;
  for (int i = 0; i < count; ++i) {
    const Task &task = block.tasks[first + i];
    int mirrored = count - 1 - i;
    for (int operand : task.operands)
      if (operand >= first) {
        forward.before[i].push_back(operand - first);
        backward.before[count - 1 - (operand - first)].push_back(mirrored);
      }
    forward.stream[i] = backward.stream[mirrored] = onStream(task);
    forward.asked[i] = backward.asked[mirrored] = all || task.kind == Task::Collective;
    forward.durations[i] = backward.durations[mirrored] = durations[first + i].value;
  }
  Heads heads;
  heads.head = earliest(forward, heads.from, heads.above);
  heads.words = heads.above.empty() ? 0 : (size_t(count) + 63) / 64;
  std::vector<int> unused;
  std::vector<uint64_t> below;
  heads.tail = earliest(backward, unused, below);
  std::reverse(heads.tail.begin(), heads.tail.end());
  for (int &from : heads.from)
    from += from >= 0 ? first : 0;
  return heads;
}
