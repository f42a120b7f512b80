//===- RankClocks.cpp - a schedule played with a clock for each rank -------------------------------------------------===//
#include "simulate/RankClocks.h"
#include <numeric>

using namespace braid::cost;

bool RankClocks::differ(const Program &program) {
  if (program.ranks > mostRanks)
    return false;
  for (const Block &block : program.blocks)
    for (const Task &task : block.tasks)
      if (task.kind == Task::Collective && task.spec.groups && task.spec.groups->groups.size() > 1)
        return true;
  return false;
}

RankClocks::RankClocks(const FlatProgram &flat, const Program &program, const Schedule &schedule, const Pricer &pricer)
    : flat(flat), pricer(pricer), ranks(size_t(program.ranks)), factors(ranks, 1.0) {
  std::vector<int> everyone(ranks);
  std::iota(everyone.begin(), everyone.end(), 0);
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    groups.emplace_back();
    inside.emplace_back();
    for (const Bucket &bucket : schedule.blocks[b].buckets) {
      Groups &of = groups.back().emplace_back();
      const auto &spec = program.blocks[b].tasks[bucket.tasks.front()].spec;
      if (spec.groups)
        for (const std::vector<int> &group : spec.groups->groups) {
          std::vector<int> &members = of.emplace_back();
          std::copy_if(group.begin(), group.end(), std::back_inserter(members),
                       [&](int rank) { return rank >= 0 && rank < program.ranks; });
        }
      if (of.empty()) // all ranks, or a permute
        of = {everyone};
      inside.back().push_back(
          insideHosts(mergedSpec(program.blocks[b], bucket), *flat.blocks[b].candidates[inside.back().size()], of));
    }
    ends.emplace_back(schedule.blocks[b].buckets.size(), Clocks(ranks));
  }
}

std::vector<double> RankClocks::insideHosts(const CollectiveSpec &spec, const Candidate &candidate,
                                            const Groups &of) const {
  std::vector<double> parts;
  if (flat.slowdown.absent() || of.size() < 2 || candidate.nodes < 2)
    return parts;
  bool any = false;
  for (const std::vector<int> &group : of) {
    CollectiveSpec own = spec;
    own.groups = std::make_shared<RankGroups>(RankGroups{{group}, {}});
    const std::vector<Candidate> &all = pricer.candidates(own);
    auto same = std::find_if(all.begin(), all.end(), [&](const Candidate &other) {
      return other.algorithm == candidate.algorithm && other.protocol == candidate.protocol &&
             other.chunks == candidate.chunks;
    });
    const Candidate &alone = same == all.end() ? all.front() : *same;
    bool stays = pricer.fabric(own) == Fabric::Intra && candidate.time.value > 0;
    parts.push_back(stays ? alone.time / candidate.time : 0);
    any |= stays;
  }
  return any ? parts : std::vector<double>();
}

double RankClocks::step(uint64_t seed, uint64_t job, uint64_t step) {
  place = {seed, job, step, 0};
  if (pricer.cluster().compute.skewed())
    for (size_t rank = 0; rank < ranks; ++rank)
      factors[rank] = pricer.computeFactor(int(rank), seed, job, step);
  Clocks clocks(ranks, 0.0);
  run(int(flat.blocks.size()) - 1, clocks);
  return *std::max_element(clocks.begin(), clocks.end());
}

void RankClocks::run(int number, Clocks &clocks) {
  Channels channels; // nothing is in flight when a block begins
  for (Clocks *all : {channels.free, channels.flying})
    all[0] = all[1] = Clocks(ranks);
  for (const FlatEvent &event : flat.blocks[number].events)
    switch (event.kind) {
    case FlatEvent::Compute:
      for (size_t rank = 0; rank < ranks; ++rank)
        clocks[rank] += flat.slowdown.elapsed(event.value * factors[rank], clocks[rank],
                                              {channels.flying[0][rank], channels.flying[1][rank]});
      break;
    case FlatEvent::Start:
      start(number, event, clocks, channels);
      break;
    case FlatEvent::Wait:
      for (const std::vector<int> &group : groups[number][event.index])
        for (int rank : group)
          clocks[rank] = std::max(clocks[rank], ends[number][event.index][rank]);
      break;
    case FlatEvent::Nested:
      nested(event, clocks);
      break;
    }
}

void RankClocks::start(int block, const FlatEvent &event, const Clocks &clocks, Channels &channels) {
  Clocks &end = ends[block][event.index], &free = channels.free[event.fabric];
  for (size_t rank = 0; rank < ranks; ++rank)
    end[rank] = std::max(clocks[rank], free[rank]);
  const Groups &of = groups[block][event.index];
  const std::vector<double> &parts = inside[block][event.index];
  Clocks begin = parts.empty() ? Clocks() : end;
  pricer.drawRanks(*flat.blocks[block].candidates[event.index], Fabric(event.fabric), place.seed, place.job, place.step,
                   place.operation++, of, end);
  for (size_t g = 0; g < of.size(); ++g) {
    bool stays = !parts.empty() && parts[g] > 0;
    double last = 0, ownLast = 0; // of the group, to begin
    Clocks &flying = channels.flying[stays ? int(Fabric::Intra) : event.fabric];
    for (int rank : of[g])
      if (stays) {
        last = std::max(last, begin[rank]);
        ownLast = std::max({ownLast, clocks[rank], flying[rank]});
      }
    for (int rank : of[g]) {
      free[rank] = end[rank];
      flying[rank] = std::max(flying[rank], stays ? ownLast + parts[g] * (end[rank] - last) : end[rank]);
    }
  }
}

/// As StepPlayer::nested: some trips are drawn, further ones take what those took in turn. Of these the last rank's progress counts for
/// all: what a rank waits in the first trip for one that came late to the loop is waited once, not in every round.
void RankClocks::nested(const FlatEvent &event, Clocks &clocks) {
  double trips = event.value;
  int distinct = flat.blocks[event.block].communicates ? drawnTrips : 1;
  int count = int(std::min<double>(distinct, std::ceil(trips)));
  double last = *std::max_element(clocks.begin(), clocks.end());
  std::vector<double> took; // how much later the last rank is
  for (int trip = 0; trip < count; ++trip) {
    Clocks after = clocks;
    run(event.block, after);
    for (size_t rank = 0; rank < ranks; ++rank)
      clocks[rank] += std::min(1.0, trips - trip) * (after[rank] - clocks[rank]);
    double latest = *std::max_element(clocks.begin(), clocks.end());
    took.push_back(latest - last);
    last = latest;
  }
  if (trips <= count)
    return;
  double rounds = std::floor((trips - count) / count), left = trips - count - rounds * count, further = 0;
  for (int trip = 0; trip < count; ++trip)
    further += (rounds + std::clamp(left - trip, 0.0, 1.0)) * took[trip];
  for (double &clock : clocks)
    clock += further;
}
