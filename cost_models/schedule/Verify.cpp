//===- Verify.cpp - checks a schedule, sharing no code with what made it ----------------------------------------===//
// The rules, in the order in which they are checked; a broken one is named with the tasks it concerns:
//   V1   each collective is in exactly one bucket, and nothing else is
//   V2   a bucket of several has one key (not -1), one kind, one group, only asynchronous members; its candidate exists
//   V3   each bucket is started once and awaited once, later; each other task runs once
//   V4   what a task reads has run, or been awaited, before it
//   V5   nothing crosses a barrier
//   V6   nothing is in flight across a nested block or a barrier
//   V7   ordered collectives and nested blocks keep the program's order
//   V8   a synchronous collective is awaited where it is started
//   V9   no more collectives in flight per fabric than allowed
//   V10  the peak memory is within the limit
// One total order per block means one compute stream and no cycle.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Schedule.h"
#include <algorithm>

using namespace braid::cost;

namespace {

class Verifier {
public:
  Verifier(const Program &program, const Schedule &schedule, const ListOptions &options, const Pricer *pricer)
      : program(program), schedule(schedule), options(options), pricer(pricer) {}

  std::string check() {
    if (schedule.blocks.size() != program.blocks.size())
      return "schedule, expected " + std::to_string(program.blocks.size()) + " blocks, got " +
             std::to_string(schedule.blocks.size());
    for (size_t b = 0; b < program.blocks.size(); ++b) {
      block = &program.blocks[b];
      part = &schedule.blocks[b];
      std::string error = checkBuckets();
      if (error.empty())
        error = checkEvents();
      if (error.empty())
        error = checkOrder();
      if (!error.empty())
        return "block " + block->name + ": " + error;
    }
    if (options.memoryLimit.value > 0) {
      Peak peak = peakMemory(program, schedule);
      if (peak.bytes > options.memoryLimit)
        return "V10: peak memory, expected at most " + toString(options.memoryLimit) + ", got " + toString(peak.bytes);
    }
    return "";
  }

private:
  const Task &task(int index) const { return block->tasks[index]; }
  std::string quoted(int index) const { return "'" + task(index).name + "' (task " + std::to_string(index) + ")"; }
  std::string bucketText(int index) const {
    const Bucket &bucket = part->buckets[index];
    return "bucket " + std::to_string(index) + " with " + quoted(bucket.tasks.front()) +
           (bucket.tasks.size() > 1 ? " and " + std::to_string(bucket.tasks.size() - 1) + " more" : std::string());
  }

  std::string checkBuckets() {
    int count = int(block->tasks.size());
    holder.assign(count, -1);
    for (size_t b = 0; b < part->buckets.size(); ++b) {
      const Bucket &bucket = part->buckets[b];
      if (bucket.tasks.empty())
        return "V1: bucket " + std::to_string(b) + " is empty";
      for (int member : bucket.tasks) {
        if (member < 0 || member >= count)
          return "V1: bucket " + std::to_string(b) + ", expected a task, got " + std::to_string(member);
        if (task(member).kind != Task::Collective)
          return "V1: " + quoted(member) + " is in a bucket, expected a collective";
        if (holder[member] >= 0)
          return "V1: " + quoted(member) + " is in two buckets";
        holder[member] = int(b);
      }
      if (!std::is_sorted(bucket.tasks.begin(), bucket.tasks.end()))
        return "V2: " + bucketText(int(b)) + ", expected members in program order";
      const Task &first = task(bucket.tasks.front());
      for (size_t i = 1; i < bucket.tasks.size(); ++i) {
        const Task &other = task(bucket.tasks[i]);
        if (other.key != first.key || first.key < 0)
          return "V2: " + quoted(bucket.tasks.front()) + " and " + quoted(bucket.tasks[i]) +
                 " share a bucket, expected one key, got " + std::to_string(first.key) + " and " +
                 std::to_string(other.key);
        if (other.spec.kind != first.spec.kind || other.spec.groups != first.spec.groups)
          return "V2: " + quoted(bucket.tasks.front()) + " and " + quoted(bucket.tasks[i]) +
                 " share a bucket, expected one kind and one group";
        if (!first.asynchronous || !other.asynchronous)
          return "V2: " + quoted(bucket.tasks[i]) + " shares a bucket, expected every member to be asynchronous";
      }
      if (bucket.candidate < 0 || (pricer && bucket.candidate >= int(pricer->candidates(mergedOf(bucket)).size())))
        return "V2: " + bucketText(int(b)) + ", expected a candidate, got number " + std::to_string(bucket.candidate);
    }
    for (int i = 0; i < count; ++i)
      if (task(i).kind == Task::Collective && holder[i] < 0)
        return "V1: " + quoted(i) + " is in no bucket";
    return "";
  }

  CollectiveSpec mergedOf(const Bucket &bucket) const {
    CollectiveSpec spec = task(bucket.tasks[0]).spec;
    spec.bytes = {};
    spec.tensors = 0;
    for (int member : bucket.tasks) {
      spec.bytes += task(member).spec.bytes;
      spec.tensors += task(member).spec.tensors;
    }
    return spec;
  }

  std::string checkEvents() {
    begin.assign(block->tasks.size(), -1);
    end.assign(block->tasks.size(), -1);
    for (int e = 0; e < int(part->order.size()); ++e) {
      const Event &event = part->order[e];
      int limit = int(event.kind == Event::Run ? block->tasks.size() : part->buckets.size());
      if (event.index < 0 || event.index >= limit)
        return "V3: event " + std::to_string(e) + ", expected an index below " + std::to_string(limit) + ", got " +
               std::to_string(event.index);
      if (event.kind == Event::Run) {
        if (task(event.index).kind == Task::Collective)
          return "V3: collective " + quoted(event.index) + " is run, expected a start";
        if (begin[event.index] >= 0)
          return "V3: " + quoted(event.index) + " runs twice";
        begin[event.index] = end[event.index] = e;
        continue;
      }
      for (int member : part->buckets[event.index].tasks) {
        if (event.kind == Event::Start && begin[member] >= 0)
          return "V3: " + bucketText(event.index) + " is started twice";
        if (event.kind == Event::Wait && begin[member] < 0)
          return "V3: " + bucketText(event.index) + " is awaited before it is started";
        if (event.kind == Event::Wait && end[member] >= 0)
          return "V3: " + bucketText(event.index) + " is awaited twice";
        (event.kind == Event::Start ? begin : end)[member] = e;
      }
    }
    for (int i = 0; i < int(block->tasks.size()); ++i) {
      if (begin[i] < 0)
        return "V3: " + quoted(i) + (task(i).kind == Task::Collective ? " is never started" : " never runs");
      if (end[i] < 0)
        return "V3: " + bucketText(holder[i]) + " is never awaited";
    }
    return "";
  }

  std::string checkOrder() {
    int chained = -1, lastEnd = -1, lastTask = -1, barrier = -1;
    for (int i = 0; i < int(block->tasks.size()); ++i) {
      const Task &current = task(i);
      for (int operand : current.operands)
        if (end[operand] >= begin[i])
          return "V4: " + quoted(i) + " reads " + quoted(operand) + ", expected it to be complete before";
      if (barrier >= 0 && begin[i] <= begin[barrier])
        return "V5: " + quoted(i) + " is before barrier " + quoted(barrier) + ", expected it after";
      if (current.kind == Task::Barrier) {
        barrier = i;
        if (lastEnd >= begin[i])
          return "V5: " + quoted(lastTask) + " is not complete at barrier " + quoted(i);
      }
      if (end[i] > lastEnd) {
        lastEnd = end[i];
        lastTask = i;
      }
      if (current.kind == Task::Nested || (current.kind == Task::Collective && current.ordered)) {
        if (chained >= 0 && begin[chained] > begin[i])
          return "V7: " + quoted(i) + " is before " + quoted(chained) + ", expected the program's order";
        chained = i;
      }
      if ((!current.asynchronous || !options.overlap) && current.kind == Task::Collective && end[i] != begin[i] + 1)
        return "V8: synchronous " + quoted(i) + ", expected to be awaited at once";
    }

    std::vector<int> flying[2]; // buckets; without a pricer all count as one fabric
    int cap = std::max(1, options.inFlight) * (pricer ? 1 : 2);
    for (const Event &event : part->order) {
      if (event.kind == Event::Run) {
        bool alone = task(event.index).kind == Task::Nested || task(event.index).kind == Task::Barrier;
        for (auto &list : flying)
          if (alone && !list.empty())
            return "V6: " + bucketText(list.front()) + " is in flight across " + quoted(event.index);
        continue;
      }
      std::vector<int> &list = flying[pricer ? int(pricer->fabric(mergedOf(part->buckets[event.index]))) : 0];
      if (event.kind == Event::Wait) {
        list.erase(std::find(list.begin(), list.end(), event.index));
        continue;
      }
      list.push_back(event.index);
      if (int(list.size()) > cap)
        return "V9: " + bucketText(event.index) + " is started with " + std::to_string(list.size() - 1) +
               " in flight, expected at most " + std::to_string(cap) + " together";
    }
    return "";
  }

  const Program &program;
  const Schedule &schedule;
  const ListOptions &options;
  const Pricer *pricer;
  const Block *block = nullptr;
  const BlockSchedule *part = nullptr;
  std::vector<int> holder;     // task -> bucket
  std::vector<int> begin, end; // task -> events
};

} // namespace

std::string braid::cost::verifySchedule(const Program &program, const Schedule &schedule, const ListOptions &options,
                                        const Pricer *pricer) {
  return Verifier(program, schedule, options, pricer).check();
}
