//===- main.cpp - braid-sim: prices and plays programs on a cluster ---------------------------------------------===//
//
// A table of subcommands; each has a file of its own.
//===------------------------------------------------------------------------------------------------------------===//
#include "../command/Command.h"
#include "Subcommands.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir::braid::sim;

int main(int argc, char **argv) {
  braid::command::Tool tool("braid-sim");
  llvm::InitLLVM init(argc, argv);
  return tool.run(
      {{"price", runPrice, "what one collective costs on a cluster, by size, and why"},
       {"compare", runCompare, "a program under the usual policies beside Braid's plan"},
       {"advise", runAdvise, "settings of PyTorch, DeepSpeed, Megatron-LM, XLA and NCCL, and what each gains"},
       {"play", runPlay, "a program's timeline under one policy"},
       {"explain", runExplain, "why each collective of the plan is as it is"},
       {"diff", runDiff, "why two plans differ: buckets, algorithms, starts, and the key that made them so"},
       {"report", runReport, "the plan, its timelines and its reasons on one page"},
       {"profile", runProfile, "a profiler's trace (XLA, Kineto) as a compute profile"},
       {"emit", runEmit, "choices for others: NCCL's tuner and environment, Open MPI's rules, XLA's flags"},
       {"emit-profile", runEmitProfile, "a cluster as the runtime's emulated fabric reads it (JSON)"},
       {"import", runImport, "a simulator's workload or a Chakra trace as a program of timed computation"},
       {"emit-trace", runEmitTrace, "such a program as a Chakra trace (JSON)"},
       {"pipeline", runPipeline, "steps of pipelines (1F1B) by the times of their stages"}},
      argc, argv);
}
