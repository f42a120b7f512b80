//===- Fingerprint.cpp - hashes what a plan was made for --------------------------------------------------------===//
#include "braid/passes/Fingerprint.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

namespace mlir::braid {

std::string planFingerprint(CollectiveOpInterface op, StringRef clusterHash) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << stringifyCollectiveKind(op.getCollectiveKind()) << ';';
  if (auto reduction = op.getReductionKind())
    os << stringifyReductionKind(*reduction);
  os << ';' << stringifyIdSpace(op.getIdSpace()) << ';';
  for (Value operand : op.getCommOperands())
    os << operand.getType() << ',';
  os << ';' << op.getOperandBytes().value_or(-1) << ';';
  if (auto permute = dyn_cast<PermuteOp>(op.getOperation())) {
    for (auto [source, target] : permute.getPairList())
      os << source << '>' << target << ',';
  } else if (GroupsAttrInterface groups = op.getGroupsAttr()) {
    SmallVector<SmallVector<int64_t>> rows;
    groups.expand(rows);
    for (ArrayRef<int64_t> row : rows) {
      llvm::interleave(row, os, ",");
      os << '|';
    }
  }
  if (Attribute accumulate = op->getAttr("accumulate")) // decides what messages carry
    os << ';' << accumulate;
  os << ';' << clusterHash;
  std::string hex;
  llvm::raw_string_ostream(hex) << llvm::format_hex_no_prefix(llvm::xxh3_64bits(text), 16);
  return hex;
}

bool hasFreshPlan(CollectiveOpInterface op, StringRef clusterHash) {
  PlanAttr plan = op.getPlanAttr();
  return plan && plan.getFingerprint() == planFingerprint(op, clusterHash);
}

} // namespace mlir::braid
