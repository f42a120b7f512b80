//===- Workload.h - a job's step as a graph of timed computation and collectives --------------------------------===//
//
// What simulators and tracers write about a job has many forms and one meaning: kernels with times, collectives with bytes
// and groups, and what waits for what. Each reader makes this graph, one writer makes a module of it.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_SIM_WORKLOAD_WORKLOAD_H
#define BRAID_SIM_WORKLOAD_WORKLOAD_H

#include "braid/dialect/BraidDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::braid::sim {

/// Of one rank: all ranks do the same.
struct WorkloadNode {
  std::string name;
  double seconds = 0;                       ///< of computation; 0 for a collective
  std::optional<CollectiveKind> collective; ///< absent: computation
  int64_t bytes = 0; ///< the larger of what a rank gives and what it gets: the whole buffer, not a rank's block
  GroupsAttrInterface groups;
  int64_t groupSize = 1;
  std::vector<std::pair<int64_t, int64_t>> pairs; ///< of a permute, instead of groups
  std::vector<int> operands;                      ///< nodes that it waits for, each before it
};

struct Workload {
  std::vector<WorkloadNode> nodes; ///< in the order of the source
  std::string elementType = "f32"; ///< in which the source counts, unless it does not matter: f32, bf16
  std::vector<std::string> notes;  ///< what the source says and the graph does not hold
};

/// How ranks are numbered: tensor parallel ones are next to each other, then expert, then data, then pipeline stages.
struct Parallelism {
  int64_t ranks = 0; ///< 0: what the source says
  int64_t tensor = 0, expert = 0, pipeline = 0;
};

struct ReadOptions {
  Parallelism parallelism;
  double computeScale = 1;  ///< times of computation are multiplied by it
  int lastBottomLayer = -1; ///< DLRM: the layer before which embeddings are needed; -1: what the source says
  std::string edges;        ///< Piper: the file of its edges
  std::string groups;       ///< Chakra: a file with the ranks of each process group
};

/// Each prints one error ("FILE:LINE: error: ...") where a text is not what it says to be.
/// Rows of (forward, input gradient, weight gradient): ASTRA-sim 1.0, SimAI, and CSV with the same columns.
FailureOr<Workload> readLayers(MLIRContext *context, StringRef file, StringRef text, const ReadOptions &options);
/// A list of collectives in order (AICB).
FailureOr<Workload> readCollectiveList(MLIRContext *context, StringRef file, StringRef text,
                                       const ReadOptions &options);
/// Layers as a graph, with times by degree of tensor parallelism (Piper).
FailureOr<Workload> readPiper(MLIRContext *context, StringRef file, StringRef text, const ReadOptions &options);
/// Chakra execution trace of one rank, as JSON.
FailureOr<Workload> readChakra(MLIRContext *context, StringRef file, StringRef text, const ReadOptions &options);

/// Groups of the ranks that differ only in the given dimensions of `shape` (slowest first): the iota form.
/// worked example: shape {2, 3}, along {0}: [[0, 3], [1, 4], [2, 5]].
GroupsAttrInterface groupsAlong(MLIRContext *context, ArrayRef<int64_t> shape, ArrayRef<int64_t> along);

/// A function @main of braid.compute and collectives. Buffers whose bytes the element type or the group size does not
/// divide are rounded up; `rounded` counts them.
OwningOpRef<ModuleOp> writeProgram(MLIRContext *context, const Workload &workload, StringRef elementType, int &rounded);

/// The other way: a planned or unplanned program of one function, as a Chakra trace of one rank (JSON, `workload_graph`).
FailureOr<llvm::json::Value> writeChakra(ModuleOp module);

} // namespace mlir::braid::sim

#endif
