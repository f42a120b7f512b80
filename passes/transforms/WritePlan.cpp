//===- WritePlan.cpp - a candidate as a plan attribute ----------------------------------------------------------===//
#include "transforms/WritePlan.h"

#include "braid/passes/Fingerprint.h"

namespace mlir::braid {

void writePlan(CollectiveOpInterface op, cost::Engine engine, const cost::Candidate &candidate, StringRef clusterHash) {
  EngineKind kind = engine == cost::Engine::Nccl ? EngineKind::Nccl : EngineKind::Braid;
  // Braid's runtime runs the pipeline segments that were priced; NCCL cuts messages as it likes (0).
  int chunks = engine == cost::Engine::Braid ? candidate.chunks : 0;
  op.setPlanAttr(PlanAttr::get(op->getContext(), kind, candidate.algorithm, candidate.protocol, candidate.channels,
                               chunks, candidate.path, planFingerprint(op, clusterHash)));
}

std::string describe(const cost::Candidate &candidate) {
  return candidate.protocol.empty() ? candidate.algorithm : candidate.algorithm + "/" + candidate.protocol;
}

std::string describePath(const cost::Candidate &candidate) {
  for (const cost::PriceTerm &term : candidate.why.parts)
    if (!candidate.path.empty() && (term.name == "path" || term.name == "connections"))
      return term.how;
  return "";
}

} // namespace mlir::braid
