//===- Lean.cpp - a schedule of little memory -------------------------------------------------------------------===//
//
// Nothing overlaps, and what costs memory comes as late as it can: a gather of parameters just before what reads it first, however early
// the text has it.
//
//   text:  f1 = gather w1; f2 = gather w2; h1 = x f1; h2 = h1 f2        lean:  f1; h1; f2; h2
//
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/Search.h"

using namespace braid::cost;

namespace {

class LeanOrder {
public:
  explicit LeanOrder(const Block &block) : block(block), isLate(block.tasks.size()), isDone(block.tasks.size()) {}

  BlockSchedule run() {
    std::vector<int> readers(block.tasks.size());
    for (const Task &task : block.tasks)
      for (int operand : task.operands)
        ++readers[operand];
    for (size_t index = 0; index < block.tasks.size(); ++index)
      isLate[index] = mayBeLate(int(index), readers);
    for (size_t index = 0; index < block.tasks.size(); ++index) {
      if (block.tasks[index].kind == Task::Barrier)
        all(int(index)); // what is before it stays before it
      if (!isLate[index])
        add(int(index));
    }
    all(int(block.tasks.size()));
    return std::move(schedule);
  }

private:
  /// A collective that needs more than it frees, and what is computed of such a one alone (a conversion of what was gathered).
  bool mayBeLate(int index, const std::vector<int> &readers) const {
    const Task &task = block.tasks[index];
    if (task.kind == Task::Compute)
      return task.operands.size() == 1 && isLate[task.operands.front()];
    if (task.kind != Task::Collective || task.ordered || !task.asynchronous)
      return false;
    Bytes freed;
    for (int operand : task.operands)
      if (readers[operand] == 1 && !block.tasks[operand].escapes)
        freed += block.tasks[operand].result;
    return task.result > freed;
  }

  void all(int end) {
    for (int index = 0; index < end; ++index)
      add(index);
  }

  void add(int index) {
    std::vector<int> work = {index};
    while (!work.empty()) {
      int next = work.back();
      if (isDone[next]) {
        work.pop_back();
        continue;
      }
      const Task &task = block.tasks[next];
      size_t before = work.size();
      for (bool isCollective : {true, false}) // the last one is the next: gathers after what is computed
        for (auto operand = task.operands.rbegin(); operand != task.operands.rend(); ++operand)
          if (!isDone[*operand] && (block.tasks[*operand].kind == Task::Collective) == isCollective)
            work.push_back(*operand);
      if (work.size() > before)
        continue; // they come first
      work.pop_back();
      isDone[next] = 1;
      if (task.kind != Task::Collective) {
        schedule.order.push_back({Event::Run, next});
        continue;
      }
      int bucket = int(schedule.buckets.size());
      schedule.buckets.push_back({{next}, 0});
      schedule.order.push_back({Event::Start, bucket});
      schedule.order.push_back({Event::Wait, bucket});
    }
  }

  const Block &block;
  BlockSchedule schedule;
  std::vector<char> isLate, isDone;
};

} // namespace

Schedule braid::cost::leanSchedule(const Program &program) {
  Schedule schedule;
  for (const Block &block : program.blocks)
    schedule.blocks.push_back(LeanOrder(block).run());
  return schedule;
}
