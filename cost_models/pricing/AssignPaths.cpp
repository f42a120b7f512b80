//===- AssignPaths.cpp - flows onto equal links, such that those at once collide least ----------------------------===//
#include "pricing/AssignPaths.h"
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace braid::cost {

namespace {

// setting: effort of the search
constexpr double tiny = 1e-9;
constexpr long stepsOfUnit = 4000;     ///< of chains that make room for one connection
constexpr long stepsOfAll = 200000;    ///< and for all
constexpr size_t fewUnits = 16;        ///< that are searched through, if need be, ...
constexpr long nodesOfSearch = 200000; ///< ... within so many nodes

/// Links, in one round, where flows meet.
struct Slot {
  int round = 0;
  double load = 0;
  std::vector<int> units; ///< that are on it, in the order they came
};

class Assigner {
public:
  Assigner(const std::vector<PathFlow> &flows, int connections, const Topology &topology) : topology(topology) {
    for (const PathFlow &flow : flows)
      for (const auto &[round, amount] : flow.sent) {
        rounds = std::max(rounds, round + 1);
        largest = std::max(largest, amount / connections);
      }
    for (const PathFlow &flow : flows)
      addContested(flow);
    for (size_t flow = 0; flow < flows.size(); ++flow)
      for (int connection = 0; connection < connections && !flows[flow].choices.empty(); ++connection)
        addUnit(int(flow), flows[flow], connections);
    bounds.assign(size_t(rounds), 0);
    findBounds(flows, connections);
    targets = bounds;
  }

  PathAssignment assign(size_t flows) {
    std::vector<int> order(units.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return units[size_t(a)].all > units[size_t(b)].all; });
    for (int unit : order)
      place(unit);
    PathAssignment found;
    found.optimal = cost() <= sum(bounds) + tiny;
    if (!found.optimal && units.size() <= fewUnits)
      found.optimal = searchAll(order);
    found.choice = chosen(flows);
    found.most = cost() / std::max(largest, tiny);
    found.bound = sum(bounds) / std::max(largest, tiny);
    return found;
  }

  double costOf(const std::vector<std::vector<int>> &choice) {
    std::vector<size_t> next(choice.size());
    for (size_t unit = 0; unit < units.size(); ++unit)
      put(int(unit), choice[size_t(units[unit].flow)][next[size_t(units[unit].flow)]++]);
    return cost() / std::max(largest, tiny);
  }

private:
  /// One connection of a flow.
  struct Unit {
    int flow;
    double all = 0; ///< over its rounds
    int choice = -1;
    std::vector<int> ways;                                  ///< of its choices
    std::vector<std::vector<std::pair<int, double>>> slots; ///< choice -> (slot, amount)
  };

  static double sum(const std::vector<double> &values) { return std::accumulate(values.begin(), values.end(), 0.0); }

  /// Links that only some choices of a flow take; what all take is no question, unless another flow has a choice there.
  void addContested(const PathFlow &flow) {
    std::map<int, size_t> times;
    for (const Topology::PortedPath &choice : flow.choices)
      for (int link : choice.path)
        ++times[link];
    for (auto [link, count] : times)
      if (count < flow.choices.size())
        contested.insert(link);
  }

  void addUnit(int number, const PathFlow &flow, int connections) {
    Unit unit{number};
    for (const auto &[round, amount] : flow.sent)
      unit.all += amount / connections;
    for (const Topology::PortedPath &choice : flow.choices) {
      unit.ways.push_back(choice.way);
      auto &own = unit.slots.emplace_back();
      for (int link : choice.path)
        if (contested.count(link))
          for (const auto &[round, amount] : flow.sent) {
            auto [slot, isNew] = slotOf.try_emplace({round, link}, int(slots.size()));
            if (isNew)
              slots.push_back({round});
            own.push_back({slot->second, amount / connections});
          }
    }
    units.push_back(std::move(unit));
  }

  /// Of the contested links out of a switch, or into it, over one of which some flows go whatever is chosen: the (k L + 1)-th largest
  /// of the flows on L links meets k others that are no smaller.
  void findBounds(const std::vector<PathFlow> &flows, int connections) {
    struct Bundle {
      std::set<int> links;
      std::map<int, std::vector<double>> amounts; ///< by round
    };
    std::map<std::pair<int, bool>, Bundle> bundles; ///< (vertex, out of it)
    for (const PathFlow &flow : flows) {
      std::map<std::pair<int, bool>, std::set<int>> own; // links of its choices by their ends
      std::map<std::pair<int, bool>, int> times;
      for (const Topology::PortedPath &choice : flow.choices)
        for (int link : choice.path)
          if (contested.count(link))
            for (bool out : {true, false}) {
              const Topology::Link &l = topology.links()[size_t(link)];
              own[{out ? l.from : l.to, out}].insert(link);
              ++times[{out ? l.from : l.to, out}];
            }
      for (const auto &[end, links] : own)
        if (times[end] == int(flow.choices.size())) { // whatever is chosen, it passes here
          Bundle &bundle = bundles[end];
          bundle.links.insert(links.begin(), links.end());
          for (const auto &[round, amount] : flow.sent)
            bundle.amounts[round].insert(bundle.amounts[round].end(), size_t(connections), amount / connections);
        }
    }
    for (auto &[end, bundle] : bundles)
      for (auto &[round, amounts] : bundle.amounts) {
        std::sort(amounts.rbegin(), amounts.rend());
        double least = sum(amounts) / double(bundle.links.size());
        for (size_t k = 0; k * bundle.links.size() < amounts.size(); ++k)
          least = std::max(least, double(k + 1) * amounts[k * bundle.links.size()]);
        bounds[size_t(round)] = std::max(bounds[size_t(round)], least);
      }
  }

  void put(int number, int choice) {
    Unit &unit = units[size_t(number)];
    unit.choice = choice;
    for (auto [slot, amount] : unit.slots[size_t(choice)]) {
      slots[size_t(slot)].load += amount;
      slots[size_t(slot)].units.push_back(number);
    }
  }
  void takeAway(int number) {
    Unit &unit = units[size_t(number)];
    for (auto [slot, amount] : unit.slots[size_t(unit.choice)]) {
      Slot &s = slots[size_t(slot)];
      s.units.erase(std::find(s.units.begin(), s.units.end(), number));
      s.load = s.units.empty() ? 0 : s.load - amount;
    }
    unit.choice = -1;
  }
  bool isFull(const Slot &slot) const { return slot.load > targets[size_t(slot.round)] + tiny; }
  /// Slots that would carry too much.
  int collisions(const Unit &unit, int choice) const {
    int count = 0;
    for (auto [slot, amount] : unit.slots[size_t(choice)])
      count += slots[size_t(slot)].load + amount > targets[size_t(slots[size_t(slot)].round)] + tiny;
    return count;
  }

  /// Choices with the fewest collisions first; of equal ones the way that somebody has just left, then by number.
  std::vector<int> preferred(const Unit &unit, int left) const {
    std::vector<std::array<int, 3>> keyed;
    for (int choice = 0; choice < int(unit.ways.size()); ++choice)
      keyed.push_back({collisions(unit, choice), unit.ways[size_t(choice)] != left, choice});
    std::sort(keyed.begin(), keyed.end());
    std::vector<int> order;
    for (const auto &key : keyed)
      order.push_back(key[2]);
    return order;
  }

  /// Puts a unit on a choice and moves others out of its way; `left`: the way that it comes from. False: all is as before.
  bool makeRoom(int number, int choice, int left) {
    if (--steps < 0)
      return false;
    size_t before = trail.size();
    trail.push_back({number, -1});
    put(number, choice);
    moving[size_t(number)] = 1;
    for (auto [slot, amount] : units[size_t(number)].slots[size_t(choice)])
      while (isFull(slots[size_t(slot)]))
        if (!moveOne(slots[size_t(slot)].units, left)) {
          undo(before);
          return false;
        }
    return true;
  }

  bool moveOne(std::vector<int> candidates, int left) {
    for (int other : candidates) {
      if (moving[size_t(other)])
        continue;
      int old = units[size_t(other)].choice, way = units[size_t(other)].ways[size_t(old)];
      size_t before = trail.size();
      trail.push_back({other, old});
      takeAway(other);
      for (int choice : preferred(units[size_t(other)], left))
        if (choice != old && makeRoom(other, choice, way))
          return true;
      undo(before);
      if (steps < 0)
        return false;
    }
    return false;
  }

  /// Takes back what was done since: (unit, its choice before; -1: it had none).
  void undo(size_t before) {
    for (; trail.size() > before; trail.pop_back()) {
      auto [number, old] = trail.back();
      if (units[size_t(number)].choice >= 0)
        takeAway(number);
      if (old >= 0)
        put(number, old);
      moving[size_t(number)] = 0;
    }
  }

  void place(int number) {
    moving.assign(units.size(), 0);
    steps = std::min(stepsOfUnit, left);
    long given = steps;
    Unit &unit = units[size_t(number)];
    std::vector<int> order = preferred(unit, -1);
    bool placed = false;
    for (size_t i = 0; i < order.size() && !placed; ++i) {
      trail.clear();
      placed = makeRoom(number, order[i], -1);
    }
    left -= given - std::max(0l, steps);
    if (placed)
      return;
    auto worst = [&](int choice) { // what the most loaded round grows by
      double grows = 0;
      for (auto [slot, amount] : unit.slots[size_t(choice)])
        grows = std::max(grows, slots[size_t(slot)].load + amount - targets[size_t(slots[size_t(slot)].round)]);
      return grows;
    };
    put(number, *std::min_element(order.begin(), order.end(), [&](int a, int b) { return worst(a) < worst(b); }));
    for (auto [slot, amount] : unit.slots[size_t(unit.choice)]) {
      double &target = targets[size_t(slots[size_t(slot)].round)];
      target = std::max(target, slots[size_t(slot)].load);
    }
  }

  double cost() const {
    std::vector<double> most(size_t(rounds), 0);
    for (const Slot &slot : slots)
      most[size_t(slot.round)] = std::max(most[size_t(slot.round)], slot.load);
    return sum(most);
  }

  /// Branch and bound; whether it came to an end.
  bool searchAll(const std::vector<int> &order) {
    double best = cost();
    std::vector<int> found;
    for (int number : order) {
      found.push_back(units[size_t(number)].choice);
      takeAway(number);
    }
    long nodes = nodesOfSearch;
    std::vector<int> now;
    auto search = [&](auto &&again) -> void {
      if (--nodes < 0 || cost() >= best - tiny)
        return;
      if (now.size() == order.size()) {
        best = cost();
        found = now;
        return;
      }
      int number = order[now.size()];
      for (int choice = 0; choice < int(units[size_t(number)].ways.size()); ++choice) {
        put(number, choice);
        now.push_back(choice);
        again(again);
        now.pop_back();
        takeAway(number);
      }
    };
    search(search);
    for (size_t i = 0; i < order.size(); ++i)
      put(order[i], found[i]);
    return nodes >= 0;
  }

  std::vector<std::vector<int>> chosen(size_t flows) const {
    std::vector<std::vector<int>> all(flows);
    for (const Unit &unit : units)
      all[size_t(unit.flow)].push_back(unit.choice);
    return all;
  }

  const Topology &topology;
  int rounds = 0;
  double largest = 0;
  std::set<int> contested; ///< links
  std::vector<Unit> units;
  std::map<std::pair<int, int>, int> slotOf; ///< (round, link)
  std::vector<Slot> slots;
  std::vector<double> bounds, targets; ///< by round
  std::vector<std::pair<int, int>> trail;
  std::vector<char> moving;
  long steps = 0, left = stepsOfAll;
};

} // namespace

PathAssignment assignPaths(const std::vector<PathFlow> &flows, int connections, const Topology &topology) {
  return Assigner(flows, connections, topology).assign(flows.size());
}

double mostLoaded(const std::vector<PathFlow> &flows, const std::vector<std::vector<int>> &choice,
                  const Topology &topology) {
  size_t connections = 1;
  for (const std::vector<int> &own : choice)
    connections = std::max(connections, own.size());
  return Assigner(flows, int(connections), topology).costOf(choice);
}

} // namespace braid::cost
