//===- BraidBase.td - the dialect itself and what its definitions share -------------------------*- tablegen -*-===//
//
// The dialect, the resource that makes communication convergent, and the base class of operations.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_DIALECT_BRAIDBASE_TD
#define BRAID_DIALECT_BRAIDBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Braid_Dialect : Dialect {
  let name = "braid";
  let cppNamespace = "::mlir::braid";
  let summary = "communication of distributed programs: collectives, their overlap, and plans for them";
  let description = [{
    A program in this dialect is *single program, multiple data*: every rank runs the same module, and a collective is
    one step that all ranks of a group take together. Operations have value semantics on ranked tensors.

    **Convergence.** Every collective, `braid.start` and `braid.wait` writes to a communication resource. So no stock
    pass drops one whose result is unused (its partners would wait for ever), merges two equal ones, hoists one out of
    a loop or sinks one into a branch. Only passes that prove that all ranks still agree on the order may move them.

    **Groups.** Which ranks take part is one attribute with several spellings: explicit lists (`#braid.groups`), the
    compressed form of HLO (`#braid.iota`) and axes of a mesh (`#braid.mesh_axes`). All are read through
    `GroupsAttrInterface`.

    **Optional attributes** of every collective, written in its dictionary: `id_space` (what ids count, see
    `#braid.id_space`), `channel` (the source's number for it), `plan` (how it will be run, see `#braid.plan`), `source`
    (facts that only an export back to the source needs; dropped freely).

    **Discardable attributes** of the dialect: `braid.group_key` (string, on a collective: collectives of different keys
    are never fused), `braid.size_hint` (`array<i64: ...>`, on a collective: bytes of each operand, used where
    dimensions are dynamic), `braid.cluster` (string, on a module: path of the cluster file), `braid.certificate` (on a
    module).
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();

    /// Collectives of different keys are never fused (string, discardable).
    static constexpr ::llvm::StringLiteral getGroupKeyAttrName() { return "braid.group_key"; }
    /// Bytes of each operand, for dynamic dimensions (array<i64>, discardable).
    static constexpr ::llvm::StringLiteral getSizeHintAttrName() { return "braid.size_hint"; }
    /// Path of the cluster file (string, on the module).
    static constexpr ::llvm::StringLiteral getClusterAttrName() { return "braid.cluster"; }
    /// The proof that a plan carries (on the module).
    static constexpr ::llvm::StringLiteral getCertificateAttrName() { return "braid.certificate"; }
  }];
}

/// What collectives, start and wait write to: the reason why stock passes leave them where they are.
def Braid_CommunicationResource : Resource<"::mlir::braid::CommunicationResource">;
def Braid_Convergent : MemoryEffects<[MemWrite<Braid_CommunicationResource>]>;

class Braid_Op<string mnemonic, list<Trait> traits = []> : Op<Braid_Dialect, mnemonic, traits>;

#endif // BRAID_DIALECT_BRAIDBASE_TD
