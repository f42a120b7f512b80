//===- BraidEnums.td - kinds of reductions, collectives, id spaces and engines ------------------*- tablegen -*-===//
#ifndef BRAID_DIALECT_BRAIDENUMS_TD
#define BRAID_DIALECT_BRAIDENUMS_TD

include "braid/dialect/BraidBase.td"
include "mlir/IR/EnumAttr.td"

class Braid_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::braid";
  let genSpecializedAttr = 0;
}

def Braid_ReductionKind : Braid_Enum<"ReductionKind", "how the contributions of ranks are combined", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Product", 1, "product">,
  I32EnumAttrCase<"Min", 2, "min">,
  I32EnumAttrCase<"Max", 3, "max">,
  I32EnumAttrCase<"Average", 4, "average">,
  I32EnumAttrCase<"And", 5, "and">,
  I32EnumAttrCase<"Or", 6, "or">,
  I32EnumAttrCase<"Xor", 7, "xor">,
]>;

def Braid_CollectiveKind : Braid_Enum<"CollectiveKind", "what a collective does", [
  I32EnumAttrCase<"AllReduce", 0, "all_reduce">,
  I32EnumAttrCase<"ReduceScatter", 1, "reduce_scatter">,
  I32EnumAttrCase<"AllGather", 2, "all_gather">,
  I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
  I32EnumAttrCase<"Permute", 4, "permute">,
  I32EnumAttrCase<"Broadcast", 5, "broadcast">,
  I32EnumAttrCase<"Reduce", 6, "reduce">,
  I32EnumAttrCase<"Gather", 7, "gather">,
  I32EnumAttrCase<"Scatter", 8, "scatter">,
  I32EnumAttrCase<"Send", 9, "send">,
  I32EnumAttrCase<"Recv", 10, "recv">,
  I32EnumAttrCase<"Barrier", 11, "barrier">,
]>;

def Braid_IdSpace : Braid_Enum<"IdSpace", "what the ids in groups and pairs count", [
  I32EnumAttrCase<"Flattened", 0, "flattened">,
  I32EnumAttrCase<"Replica", 1, "replica">,
  I32EnumAttrCase<"Partition", 2, "partition">,
  I32EnumAttrCase<"ReplicaAndPartition", 3, "replica_and_partition">,
]>;

def Braid_EngineKind : Braid_Enum<"EngineKind", "who runs a collective", [
  I32EnumAttrCase<"Braid", 0, "braid">,
  I32EnumAttrCase<"Nccl", 1, "nccl">,
  I32EnumAttrCase<"Mpi", 2, "mpi">,
  I32EnumAttrCase<"Xla", 3, "xla">,
]>;

def Braid_ReductionKindAttr : EnumAttr<Braid_Dialect, Braid_ReductionKind, "reduction"> {
  let description = [{
    `sum`, `product`, `min`, `max` need numbers; `average` (the sum divided by the number of ranks in the group) needs
    floating point; `and`, `or`, `xor` are bitwise and need integers, of one bit too.
  }];
}

def Braid_CollectiveKindAttr : EnumAttr<Braid_Dialect, Braid_CollectiveKind, "collective">;

def Braid_IdSpaceAttr : EnumAttr<Braid_Dialect, Braid_IdSpace, "id_space"> {
  let description = [{
    A module that runs as R replicas of P partitions has R * P ranks. Ids count
    - `flattened` (the default): ranks, replica * P + partition;
    - `replica`: replicas; each group holds once for every partition;
    - `partition`: partitions; each group holds once for every replica;
    - `replica_and_partition`: replicas; each group contains all partitions of its replicas.
  }];
  let assemblyFormat = "`<` $value `>`";
}

#endif // BRAID_DIALECT_BRAIDENUMS_TD
