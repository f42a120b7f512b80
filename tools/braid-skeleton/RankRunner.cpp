//===- RankRunner.cpp - one rank of a skeleton ------------------------------------------------------------------===//
#include "tools/braid-skeleton/RankRunner.h"
#include "braid/runtime/algorithms/Levels.h"
#include <algorithm>
#include <numeric>

namespace braid::skeleton {

/// A step program's channels are the lanes of its track.
static int channelsOf(const SkeletonCollective &c) { return 2 * c.channels; } // a double tree uses two each

int RankRunner::lanesNeeded(const SkeletonSchedule &schedule) {
  int widest = 1;
  for (const SkeletonCollective &c : schedule.collectives)
    widest = std::max(widest, channelsOf(c));
  return 2 * widest;
}

RankRunner::RankRunner(const SkeletonSchedule &schedule, int rank, int ranks, runtime::Transport &transport)
    : schedule(schedule), transport(transport), clock(*transport.clock()) {
  int lanes = lanesNeeded(schedule) / 2;
  std::vector<int> hostOf = transport.hosts();
  for (const SkeletonCollective &c : schedule.collectives) {
    Operation operation;
    operation.track = c.crossesHosts ? 1 : 0;
    algorithms::StepOptions options;
    options.channels = c.channels;
    options.segments = c.segments;
    std::vector<std::vector<int>> groups = c.groups;
    if (c.kind == algorithms::Collective::Permute) {
      groups.assign(1, std::vector<int>(size_t(ranks)));
      std::iota(groups[0].begin(), groups[0].end(), 0);
      options.pairs = c.pairs;
    }
    for (const std::vector<int> &group : groups) {
      auto me = std::find(group.begin(), group.end(), rank);
      int n = int(group.size());
      if (me == group.end() || !c.algorithm || !c.algorithm->serves(c.kind, n))
        continue;
      options.hosts.clear();
      for (int member : hostOf.empty() ? std::vector<int>() : group)
        options.hosts.push_back(hostOf[size_t(member)]);
      options.hosts = algorithms::levels(std::move(options.hosts));
      algorithms::StepProgram program = c.algorithm->program(c.kind, n, int(me - group.begin()), options);
      int64_t buffer = algorithms::bufferBytes(c.kind, n, c.bytes);
      int64_t chunks = std::max(1, program.chunks);
      operation.driver = std::make_unique<StepDriver>(transport, std::move(program), group,
                                                      size_t((buffer + chunks - 1) / chunks), operation.track * lanes);
    }
    operations.push_back(std::move(operation));
  }
}

bool RankRunner::step(uint64_t number) {
  stepNumber = number;
  executed = 0;
  return run(schedule.blocks.size() - 1);
}

bool RankRunner::run(size_t block) {
  for (const SkeletonEvent &event : schedule.blocks[block]) {
    bool fine = true;
    switch (event.kind) {
    case SkeletonEvent::Compute:
      fine = compute(event.seconds);
      break;
    case SkeletonEvent::Start: {
      Operation &operation = operations[size_t(event.index)];
      fine = wait(operation); // its last execution, in a loop
      operation.pending = true;
      operation.number = executed++;
      tracks[operation.track].queue.push_back(&operation);
      progress();
      break;
    }
    case SkeletonEvent::Wait:
      fine = wait(operations[size_t(event.index)]);
      break;
    case SkeletonEvent::Run:
      for (int64_t trip = 0; trip < event.trips && fine; ++trip)
        fine = run(size_t(event.index));
      break;
    }
    if (!fine)
      return false;
  }
  return true;
}

bool RankRunner::compute(double seconds) {
  double end = clock.now() + seconds;
  for (unsigned spins = 0; clock.now() < end;) {
    if (transport.fault())
      return false;
    if (progress()) {
      spins = 0;
      continue;
    }
    clock.wakeAt(end);
    transport.idle(spins++);
  }
  return true;
}

bool RankRunner::wait(Operation &operation) {
  for (unsigned spins = 0; operation.pending;) {
    if (transport.fault())
      return false;
    if (progress())
      spins = 0;
    else if (operation.pending)
      transport.idle(spins++);
  }
  return true;
}

bool RankRunner::progress() {
  bool moved = false;
  for (Track &track : tracks)
    moved |= advance(track);
  if (!moved)
    transport.progress();
  return moved;
}

/// True: something was done.
bool RankRunner::advance(Track &track) {
  if (track.queue.empty())
    return false;
  Operation &operation = *track.queue.front();
  if (!track.running) {
    if (!track.launching) {
      track.launching = true;
      track.launchedAt = clock.launched();
    }
    if (clock.now() < track.launchedAt) {
      clock.wakeAt(track.launchedAt);
      return false;
    }
    track.launching = false;
    track.running = true;
    if (operation.driver)
      operation.driver->begin(stepNumber, operation.number);
  }
  bool moved = operation.driver && operation.driver->advance();
  if (operation.driver && !operation.driver->done())
    return moved;
  operation.pending = false;
  track.running = false;
  track.queue.pop_front();
  return true;
}

} // namespace braid::skeleton
