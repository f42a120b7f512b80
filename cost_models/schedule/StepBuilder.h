//===- StepBuilder.h - writes a block anew, with other collectives and in the order of a system ------------------===//
#ifndef BRAID_COST_MODELS_SCHEDULE_STEPBUILDER_H
#define BRAID_COST_MODELS_SCHEDULE_STEPBUILDER_H

#include "braid/cost_models/Systems.h"
#include "schedule/Gradients.h"
#include <map>

namespace braid::cost {

/// Tasks are written in an order of the caller's, and the schedule with them: computation runs where it is written; a
/// collective starts there and is awaited before its first reader, before a nested block, or at the end.
/// Tasks of the block as it was are called old ones.
class StepBuilder {
public:
  StepBuilder(const Program &program, const DataParallelStep &step);

  /// Writes an old task; who reads a gradient's collective reads its reduction. Computation also reads `holds`.
  void copy(int old);
  /// The whole update, in the order of the text. `shards`: of how many parts a rank updates one; memory only.
  void copyUpdate(int shards);

  /// Starts collectives of one kind over parameters or gradients (numbers of DataParallelStep::gradients): one for each
  /// group and type, all tensors in it. Gives the new tasks. `reads`: new tasks.
  std::vector<int> start(CollectiveKind kind, const std::vector<int> &gradients, const std::vector<int> &reads = {});
  /// The same, reads the makers, and is the reduction of these gradients.
  std::vector<int> reduce(CollectiveKind kind, const std::vector<int> &gradients);
  /// New parameters: gathers what the update made of these gradients, which have been reduced.
  std::vector<int> gatherUpdated(const std::vector<int> &gradients);
  void wait(const std::vector<int> &collectives);
  const CollectiveSpec &specOf(int task) const { return block.tasks[task].spec; } ///< of a new one

  /// The program with the block replaced; all others have the schedule of per-tensor.
  SystemStep finish(const Pricer &pricer, std::string how) &&;

  std::vector<int> holds; ///< gathers of the parameters in use
  Bytes notHeld{};        ///< what a rank holds less of through the whole block

private:
  int push(Task task);
  std::vector<int> mapped(const std::vector<int> &operands) const;
  void startTask(Task task);
  void awaitAll();

  const Program &program;
  const DataParallelStep &step;
  const Block &before;
  std::vector<int> at;        // of each old task: its new number; of a gradient's collective: its reduction's
  std::vector<int> bucketOf;  // of each new task; -1: computation
  std::vector<char> inFlight; // of each new task
  std::map<int, std::vector<int>> readers; // of each gradient's collective: old tasks
  Block block;
  BlockSchedule schedule;
};

} // namespace braid::cost

#endif
