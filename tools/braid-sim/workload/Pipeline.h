//===- Pipeline.h - a table of pipelines, and what each of their stages does ---------------------------------------===//
#ifndef BRAID_SIM_WORKLOAD_PIPELINE_H
#define BRAID_SIM_WORKLOAD_PIPELINE_H

#include "Workload.h"

namespace mlir::braid::sim {

/// A row: a model cut into stages, each on a rank of its own, through which micro-batches go forward and back.
struct Pipeline {
  std::string name;
  int stages = 0, microBatches = 0;
  double forward = 0, inputGradient = 0, weightGradient = 0; ///< seconds of one stage and micro-batch
  double message = 0;                                        ///< seconds from one stage to the next
  int64_t bytes = 0;                                         ///< of a message
  /// The share of a step in which the stage that takes longest computes nothing: (step - m (T_F + T_B + T_W)) / step.
  double bubble(double step) const;
};

/// A CSV whose head names, among others, the columns of Zero Bubble Pipeline Parallelism (Qi et al., ICLR 2024), Tables 3 and 5:
/// model, hidden, pp, microbatch, m, TF_ms, TB_ms, TW_ms, Tcomm_ms. A message is an activation of microbatch x 1024 x hidden
/// numbers in 16 bits, 1024 being the length of their sequences. Prints one error ("FILE:LINE: error: ...") and fails.
FailureOr<std::vector<Pipeline>> readPipelines(StringRef file, StringRef text);

/// What one stage does in a step of 1F1B (Narayanan et al., PipeDream, SOSP 2019, without its versions of weights): it runs forward as
/// many micro-batches as there are stages from it to the end, then backward and forward in turn, then backward what is left.
/// Input and weight gradient are one kernel. Messages are permutes from rank to rank, in the program of both.
Workload stageOf(const Pipeline &pipeline, int stage);

} // namespace mlir::braid::sim

#endif
