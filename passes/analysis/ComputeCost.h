//===- ComputeCost.h - how long computation takes ---------------------------------------------------------------===//
//
// A roofline over fused kernels from the cluster's device: a kernel takes the longer of its arithmetic at peak rate x
// efficiency and its memory traffic at bandwidth x efficiency, and one launch. Or a profile by location. An operation
// without a cost is collected, never silently zero.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_COMPUTECOST_H
#define BRAID_PASSES_ANALYSIS_COMPUTECOST_H

#include "analysis/FusedKernels.h"
#include "analysis/OpWork.h"
#include "braid/cost_models/Cluster.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::braid {

namespace cost = ::braid::cost;

class ComputeCost {
public:
  /// Without a device everything costs nothing (passes that need no cluster).
  ComputeCost(const cost::Device *device, ModuleFacts &facts) : device(device), facts(facts) {}

  /// Time of one kernel: a fused one, or one operation with its regions and callees.
  cost::Seconds kernel(const Unit &unit);
  /// Sum over the kernels of a block that does not communicate.
  cost::Seconds block(Block &block);

  /// Operations whose cost is not known, by name: the first one and how many.
  const llvm::MapVector<StringRef, std::pair<Operation *, int>> &uncosted() const { return unknown; }
  /// Loops whose trip count is not known; each was counted as one trip.
  ArrayRef<Operation *> unknownTrips() const { return unknownLoops; }

  /// What the time of all kernels seen so far is made of.
  struct Share {
    int64_t kernels = 0;
    cost::Seconds time;
  };
  Share matmuls, fusions, others;

private:
  cost::Seconds fused(const Unit &unit);
  cost::Seconds single(Operation *op);
  cost::Seconds callee(FunctionOpInterface function);
  cost::Seconds roofline(const OpWork &work) const;
  double peakRate(const OpWork &work) const;
  double flops(Operation *op);

  const cost::Device *device;
  ModuleFacts &facts;
  llvm::MapVector<StringRef, std::pair<Operation *, int>> unknown;
  SmallVector<Operation *> unknownLoops;
  llvm::DenseMap<Operation *, cost::Seconds> functionTimes;
};

} // namespace mlir::braid

#endif
