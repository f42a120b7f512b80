//===- Play.cpp - one step of a schedule ------------------------------------------------------------------------===//
#include "simulate/Flatten.h"

using namespace braid::cost;

namespace {

/// Fills the timeline.
class Recorder {
public:
  static constexpr int shownTrips = 64; // setting: that a timeline shows
  Recorder(const Program &program, const Schedule &schedule, std::vector<Interval> *timeline)
      : program(program), schedule(schedule), timeline(timeline), last(schedule.blocks.size()) {
    for (size_t b = 0; b < last.size(); ++b)
      last[b].resize(schedule.blocks[b].buckets.size());
  }

  void compute(int block, const FlatEvent &event, double begin, double end) {
    if (timeline && end > begin)
      timeline->push_back(
          {program.blocks[block].tasks[event.index].name, {begin}, {end}, -1, Fabric::Inter, block, {}});
  }
  void collective(int block, const FlatEvent &event, double begin, double end) {
    if (!timeline)
      return;
    const Block &body = program.blocks[block];
    const Bucket &bucket = schedule.blocks[block].buckets[event.index];
    std::string name = body.tasks[bucket.tasks.front()].name;
    if (bucket.tasks.size() > 1)
      name += " and " + std::to_string(bucket.tasks.size() - 1) + " more";
    name += ", " + toString(mergedSpec(body, bucket).bytes);
    last[block][event.index] = timeline->size();
    timeline->push_back({std::move(name), {begin}, {end}, event.index, Fabric(event.fabric), block});
  }
  void wait(int block, const FlatEvent &event, double begin, double end) {
    if (timeline)
      (*timeline)[last[block][event.index]].exposed = {end - begin};
  }

private:
  const Program &program;
  const Schedule &schedule;
  std::vector<Interval> *timeline;
  std::vector<std::vector<size_t>> last; ///< of each block's buckets: the latest interval
};

template <class Time>
Played playWith(const Program &program, const Schedule &schedule, const Pricer &pricer, Time time, bool timeline) {
  Played played;
  FlatProgram flat = flatten(program, schedule, pricer, /*merge=*/!timeline);
  FlatTimes times;
  if (timeline) {
    Recorder recorder(program, schedule, &played.timeline);
    times = StepPlayer<Time, Recorder>(flat, time, recorder).step();
  } else {
    NoWatcher nobody;
    times = StepPlayer<Time, NoWatcher>(flat, time, nobody).step();
  }
  played.total = {times.total};
  played.compute = {times.compute};
  played.exposed = {times.exposed};
  played.slowed = {times.slowed};
  return played;
}

} // namespace

Played braid::cost::play(const Program &program, const Schedule &schedule, const Pricer &pricer,
                         const CollectiveTime &time, bool timeline) {
  auto asked = [&](int block, const FlatEvent &event, const Candidate &, uint64_t operation, double) {
    return time(block, event.index, operation).value;
  };
  return playWith(program, schedule, pricer, asked, timeline);
}

Played braid::cost::playWithoutNoise(const Program &program, const Schedule &schedule, const Pricer &pricer,
                                     bool timeline) {
  auto price = [](int, const FlatEvent &event, const Candidate &, uint64_t, double) { return event.value; };
  return playWith(program, schedule, pricer, price, timeline);
}
