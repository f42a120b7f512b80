//===- WritePlan.cpp - a candidate as a plan attribute ----------------------------------------------------------===//
#include "transforms/WritePlan.h"

#include "braid/passes/Fingerprint.h"

namespace mlir::braid {

void writePlan(CollectiveOpInterface op, cost::Engine engine, const cost::Candidate &candidate, StringRef clusterHash) {
  EngineKind kind = engine == cost::Engine::Nccl ? EngineKind::Nccl : EngineKind::Braid;
  // How many chunks a message is cut into is the engine's own choice (0).
  op.setPlanAttr(PlanAttr::get(op->getContext(), kind, candidate.algorithm, candidate.protocol, candidate.channels,
                               /*chunks=*/0, planFingerprint(op, clusterHash)));
}

std::string describe(const cost::Candidate &candidate) {
  return candidate.protocol.empty() ? candidate.algorithm : candidate.algorithm + "/" + candidate.protocol;
}

} // namespace mlir::braid
