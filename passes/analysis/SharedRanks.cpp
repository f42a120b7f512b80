//===- SharedRanks.cpp - keeps conflicting collectives apart ----------------------------------------------------===//
#include "analysis/SharedRanks.h"

#include "analysis/RankSets.h"

namespace mlir::braid {

bool SharedRanks::conflict(const std::shared_ptr<const cost::RankGroups> &a,
                           const std::shared_ptr<const cost::RankGroups> &b) {
  if (a == b || !a || !b)
    return false;
  auto [it, inserted] = known.try_emplace(std::minmax<const void *>(a.get(), b.get()), false);
  if (inserted)
    it->second = shareTwoRanks(*a, *b);
  return it->second;
}

bool separateConflicts(const cost::Block &block, cost::BlockSchedule &schedule, SharedRanks &shared) {
  auto groupsOf = [&](int bucket) { return block.tasks[schedule.buckets[bucket].tasks.front()].spec.groups; };
  std::vector<cost::Event> order;
  std::vector<int> flight;
  std::vector<char> awaited(schedule.buckets.size(), 0);
  bool moved = false;
  auto await = [&](int bucket) {
    order.push_back({cost::Event::Wait, bucket});
    awaited[bucket] = 1;
    flight.erase(std::find(flight.begin(), flight.end(), bucket));
  };
  for (const cost::Event &event : schedule.order) {
    if (event.kind == cost::Event::Start) {
      for (size_t index = 0; index < flight.size();) {
        if (shared.conflict(groupsOf(flight[index]), groupsOf(event.index))) {
          await(flight[index]);
          moved = true;
        } else {
          ++index;
        }
      }
      flight.push_back(event.index);
      order.push_back(event);
    } else if (event.kind == cost::Event::Wait) {
      if (!awaited[event.index])
        await(event.index);
    } else {
      order.push_back(event);
    }
  }
  schedule.order = std::move(order);
  return moved;
}

} // namespace mlir::braid
