//===- Heuristic.cpp - the oracle's own first solutions ------------------------------------------------------------===//
//
// A solution is an order of events, each as early as those before it in the order allow. Every schedule of one stream is such an
// order. A move takes one event elsewhere, as far as what it reads and what reads it let it; or a collective into another bucket,
// or into one of its own.
//===------------------------------------------------------------------------------------------------------------===//
#include "Heuristic.h"
#include <algorithm>
#include <cmath>
#include <random>

using namespace braid::oracle;

namespace {

class Annealing {
public:
  Annealing(const Problem &problem, uint64_t seed)
      : problem(problem), random(seed), count(int(problem.items.size())), ends(count), places(count) {}

  Solution run(int64_t steps) {
    Solution best = current = first();
    play();
    best = current;
    int value = current.end;
    double mean = 0;
    for (const Item &item : problem.items)
      mean += double(item.duration) / count;
    double hot = 0.5 * mean, cold = 0.003 * mean;
    for (int64_t step = 0; step < steps; ++step) {
      double heat = hot * std::pow(cold / hot, double(step) / double(steps));
      keptOrder = order;
      keptLeader = current.leader;
      bool moved = !problem.groups.empty() && random() % 4 == 0 ? rebucket() : reorder();
      if (!moved || !play()) {
        order.swap(keptOrder);
        current.leader.swap(keptLeader);
        continue;
      }
      double rise = current.end - value;
      if (rise > 0 && double(random() >> 11) * 0x1p-53 >= std::exp(-rise / heat)) {
        order.swap(keptOrder);
        current.leader.swap(keptLeader);
        continue;
      }
      value = current.end;
      if (value < best.end)
        best = current;
    }
    return best;
  }

private:
  int node(int task) const { return problem.items[task].kernel ? task : current.leader[task]; }

  /// Longest tail first, each collective alone.
  Solution first() {
    Solution solution;
    solution.begin.resize(count);
    solution.leader.resize(count);
    std::vector<int> tail(count), missing(count);
    for (int i = count - 1; i >= 0; --i) {
      solution.leader[i] = i;
      for (int reader : problem.items[i].readers)
        tail[i] = std::max(tail[i], tail[reader]);
      tail[i] += problem.items[i].duration;
      missing[i] = int(problem.items[i].operands.size());
    }
    std::vector<int> ready;
    for (int i = 0; i < count; ++i)
      if (!missing[i])
        ready.push_back(i);
    while (!ready.empty()) {
      auto next = std::max_element(ready.begin(), ready.end(), [&](int a, int b) {
        bool x = !problem.items[a].kernel, y = !problem.items[b].kernel;
        return x != y ? x < y : tail[a] < tail[b];
      });
      int i = *next;
      ready.erase(next);
      order.push_back(i);
      for (int reader : problem.items[i].readers)
        if (!--missing[reader])
          ready.push_back(reader);
    }
    return solution;
  }

  /// As early as the order allows; false: something stands before what it reads.
  bool play() {
    for (size_t at = 0; at < order.size(); ++at)
      places[order[at]] = int(at);
    int clock = 0, end = 0, channel[2] = {0, 0};
    auto operandsOf = [&](int task) {
      for (int operand : problem.items[task].operands) {
        int before = node(operand);
        if (places[before] >= places[node(task)])
          return false;
        clock = std::max(clock, ends[before]);
      }
      return true;
    };
    for (int i : order) {
      const Item &item = problem.items[i];
      if (item.kernel) {
        if (!operandsOf(i))
          return false;
        current.begin[i] = clock;
        end = std::max(end, ends[i] = clock += item.duration);
        continue;
      }
      if (item.group < 0) {
        if (!operandsOf(i))
          return false;
      } else {
        for (int member : problem.groups[item.group].members)
          if (current.leader[member] == i && !operandsOf(member))
            return false;
      }
      clock = std::max(clock, channel[item.fabric]);
      current.begin[i] = clock;
      ends[i] = channel[item.fabric] = clock + durationOf(problem, current, i);
      end = std::max(end, ends[i]);
    }
    current.end = end;
    for (int i = 0; i < count; ++i)
      current.begin[i] = current.begin[node(i)];
    return true;
  }

  /// A node goes earlier, with what it reads in between, or later, with what reads it; seldom far.
  bool reorder() {
    int size = int(order.size()), at = int(random() % order.size());
    int reach = int(std::pow(double(size), double(random() >> 11) * 0x1p-53));
    bool later = random() % 2;
    int first = later ? at : std::max(0, at - reach), last = later ? std::min(size - 1, at + reach) : at;
    if (first == last)
      return false;
    std::vector<int> window(order.begin() + first, order.begin() + last + 1);
    std::vector<char> along(window.size());
    for (size_t k = 0; k < window.size(); ++k)
      places[size_t(window[k])] = int(k);
    auto mark = [&](int task) {
      int k = places[size_t(node(task))];
      if (k >= 0 && k < int(window.size()) && window[size_t(k)] == node(task))
        along[size_t(k)] = 1;
    };
    auto markNeighbours = [&](int task) {
      for (int other : later ? problem.items[size_t(task)].readers : problem.items[size_t(task)].operands)
        mark(other);
    };
    along[later ? 0 : window.size() - 1] = 1;
    for (size_t step = 0; step < window.size(); ++step) {
      size_t k = later ? step : window.size() - 1 - step;
      if (!along[k])
        continue;
      const Item &item = problem.items[size_t(window[k])];
      if (item.kernel || item.group < 0)
        markNeighbours(window[k]);
      else
        for (int member : problem.groups[size_t(item.group)].members)
          if (current.leader[size_t(member)] == window[k])
            markNeighbours(member);
    }
    auto next = order.begin() + first;
    for (char front : {char(!later), char(later)})
      for (size_t k = 0; k < window.size(); ++k)
        if (along[k] == front)
          *next++ = window[k];
    return true;
  }

  bool rebucket() {
    const Problem::Group &group = problem.groups[random() % problem.groups.size()];
    int member = group.members[random() % group.members.size()];
    int other = group.members[random() % group.members.size()];
    int from = current.leader[member], to = member == other ? -1 : current.leader[other];
    if (from == to)
      return false;
    bool whole = to >= 0 && random() % 2; // the whole bucket goes
    std::vector<int> moving, staying;
    for (int i : group.members)
      if (current.leader[i] == from)
        (i == member || whole ? moving : staying).push_back(i);
    if (to < 0 && staying.empty())
      return false;
    int at = int(std::find(order.begin(), order.end(), from) - order.begin());
    order.erase(order.begin() + at);
    if (!staying.empty()) {
      for (int i : staying)
        current.leader[i] = staying.front();
      order.insert(order.begin() + at, staying.front());
    }
    if (to < 0) {
      current.leader[member] = member;
      order.insert(order.begin() + int(random() % (order.size() + 1)), member);
      return true;
    }
    int place = int(std::find(order.begin(), order.end(), to) - order.begin());
    order.erase(order.begin() + place);
    int leader = std::min(to, moving.front());
    for (int i : group.members)
      if (current.leader[i] == to || std::find(moving.begin(), moving.end(), i) != moving.end())
        current.leader[i] = leader;
    // Where the later of the two was, or later.
    place = std::min(int(order.size()), std::max(at, place) + int(random() % 3));
    order.insert(order.begin() + place, leader);
    return true;
  }

  const Problem &problem;
  std::mt19937_64 random;
  int count;
  Solution current;
  std::vector<int> order, keptOrder, keptLeader, ends, places;
};

} // namespace

Solution braid::oracle::anneal(const Problem &problem, uint64_t seed, int64_t steps) {
  return Annealing(problem, seed).run(steps);
}
