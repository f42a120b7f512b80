//===- SingleProcess.cpp - one process for all cards of a host: torch.nn.DataParallel ----------------------------===//
//
// Weights are broadcast from card 0 before the forward pass, gradients reduced to it behind the backward pass, both in
// buffers, and card 0 updates. Nothing overlaps: one autograd node stands for all weights, and it runs when every gradient
// is there. That the inputs are dealt out and the outputs gathered is not in the program.
// Source: torch/nn/parallel (replicate, comm.broadcast_coalesced, comm.reduce_add_coalesced: buffers of 10485760 bytes).
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/StepBuilder.h"

using namespace braid::cost;

/// Gradients in a row, split into buffers.
static std::vector<std::vector<int>> buffersOf(const DataParallelStep &step, Bytes size) {
  std::vector<std::vector<int>> buffers;
  Bytes filled;
  for (size_t g = 0; g < step.gradients.size(); ++g) {
    Bytes bytes = step.gradients[g].spec.bytes;
    if (buffers.empty() || filled + bytes > size) {
      buffers.emplace_back();
      filled = {};
    }
    buffers.back().push_back(int(g));
    filled += bytes;
  }
  return buffers;
}

Result<SystemStep> braid::cost::singleProcessStep(const Program &program, const Pricer &pricer,
                                                  const SingleProcessOptions &options) {
  Result<DataParallelStep> step = dataParallelStep(program);
  if (!step)
    return step.error();
  for (const Gradient &gradient : step->gradients) {
    if (gradient.ranks != program.ranks)
      return Error{"gradients are reduced over " + std::to_string(gradient.ranks) + " of " +
                       std::to_string(program.ranks) + " ranks, expected one process whose cards all do the same",
                   ""};
    if (pricer.fabric(gradient.spec) != Fabric::Intra)
      return Error{"the " + std::to_string(program.ranks) + " ranks are on several hosts, expected one process", ""};
  }
  StepBuilder builder(program, *step);
  std::vector<std::vector<int>> buffers = buffersOf(*step, options.buffer);
  for (auto buffer = buffers.rbegin(); buffer != buffers.rend(); ++buffer)
    builder.wait(builder.start(CollectiveKind::Broadcast, *buffer));
  for (size_t task = 0; task < step->update.size(); ++task)
    if (!step->update[task] && !step->reduction[task])
      builder.copy(int(task));
  for (const std::vector<int> &buffer : buffers)
    builder.wait(builder.reduce(CollectiveKind::Reduce, buffer));
  builder.copyUpdate(1);
  SystemStep result = std::move(builder).finish(
      pricer, std::to_string(buffers.size()) + (buffers.size() == 1 ? " buffer each way" : " buffers each way"));
  result.updateSaves = {}; // card 0 updates everything
  return result;
}
