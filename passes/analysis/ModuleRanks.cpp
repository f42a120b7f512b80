//===- ProgramRanks.cpp - how many ranks run a module ------------------------------------------------------------===//
#include "analysis/ModuleRanks.h"

#include "braid/dialect/BraidOps.h"
#include "braid/passes/StablehloOp.h"

namespace mlir::braid {

/// The product of the axis sizes in the text of a mesh: `sdy.mesh<["x"=2, "y"=4]>`, with or without blanks, device ids
/// aside.
static int64_t meshSize(StringRef text) {
  size_t open = text.find('[');
  if (open == StringRef::npos)
    return 0;
  text = text.substr(open + 1).take_until([](char c) { return c == ']'; });
  int64_t product = 1;
  while (!text.empty()) {
    auto [axis, rest] = text.split(',');
    text = rest;
    int64_t size = 0;
    if (axis.rsplit('=').second.trim().getAsInteger(10, size) || size <= 0 ||
        __builtin_mul_overflow(product, size, &product))
      return 0;
  }
  return product;
}

static int64_t idsNeeded(CollectiveOpInterface op) {
  int64_t needed = 0;
  if (auto permute = dyn_cast<PermuteOp>(op.getOperation()))
    for (auto [source, target] : permute.getPairList())
      needed = std::max({needed, source + 1, target + 1});
  else if (GroupsAttrInterface groups = op.getGroupsAttr())
    needed = groups.getNumRanks();
  return needed;
}

ProgramRanks readModuleRanks(ModuleOp module) {
  ProgramRanks result;
  auto replicas = module->getAttrOfType<IntegerAttr>("mhlo.num_replicas");
  auto partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  if (replicas || partitions) {
    // As the dialect's verifiers read them: what is not positive says nothing.
    result.replicas = replicas ? std::max<int64_t>(replicas.getInt(), 1) : 1;
    result.partitions = partitions ? std::max<int64_t>(partitions.getInt(), 1) : 1;
    result.source = partitions ? "mhlo.num_partitions" : "mhlo.num_replicas";
    // 1 * 1 is what an exporter writes that does not know; groups below may know better.
    if (result.ranks() > 1)
      return result;
  }
  int64_t mesh = 0, byReplica = 0, byPartition = 0;
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() == "sdy.mesh") {
      if (Attribute attr = getSourceAttr(op, "mesh"))
        mesh = std::max(mesh, meshSize(spellingOf(attr)));
    } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      IdSpace space = collective.getIdSpace();
      bool countsReplicas = space == IdSpace::Replica || space == IdSpace::ReplicaAndPartition;
      int64_t &most = countsReplicas ? byReplica : byPartition;
      most = std::max(most, idsNeeded(collective));
    }
  });
  if (mesh > 1)
    return {1, mesh, "sdy.mesh"};
  // A module that counts in replicas only runs as replicas of one partition.
  if (byPartition > 1 || byReplica <= 1)
    return {1, byPartition, "the ids in groups"};
  return {byReplica, 1, "the ids in groups"};
}

} // namespace mlir::braid
