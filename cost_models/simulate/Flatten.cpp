//===- Flatten.cpp - a schedule as flat arrays ------------------------------------------------------------------===//
#include "simulate/Flatten.h"

using namespace braid::cost;

FlatProgram braid::cost::flatten(const Program &program, const Schedule &schedule, const Pricer &pricer, bool merge) {
  FlatProgram flat{{}, Slowdown(pricer.cluster().compute)};
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    const Block &block = program.blocks[b];
    const BlockSchedule &order = schedule.blocks[b];
    FlatBlock out;
    std::vector<int> fabrics;
    for (const Bucket &bucket : order.buckets) {
      CollectiveSpec spec = mergedSpec(block, bucket);
      out.candidates.push_back(&pricer.candidates(spec)[bucket.candidate]);
      fabrics.push_back(int(pricer.fabric(spec)));
      out.communicates = true;
    }
    for (const Event &event : order.order) {
      if (event.kind == Event::Start) {
        out.events.push_back(
            {FlatEvent::Start, event.index, fabrics[event.index], -1, out.candidates[event.index]->time.value});
        continue;
      }
      if (event.kind == Event::Wait) {
        out.events.push_back({FlatEvent::Wait, event.index, fabrics[event.index], -1, 0});
        continue;
      }
      const Task &task = block.tasks[event.index];
      if (task.kind == Task::Nested) {
        out.communicates |= flat.blocks[task.block].communicates;
        out.events.push_back({FlatEvent::Nested, event.index, 0, task.block, task.trips});
      } else if (merge && !out.events.empty() && out.events.back().kind == FlatEvent::Compute) {
        out.events.back().value += task.duration.value;
      } else {
        out.events.push_back({FlatEvent::Compute, event.index, 0, -1, task.duration.value});
      }
    }
    flat.blocks.push_back(std::move(out));
  }
  return flat;
}
