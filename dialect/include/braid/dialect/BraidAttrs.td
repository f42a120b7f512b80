//===- BraidAttrs.td - groups in their spellings, and plans -------------------------------------*- tablegen -*-===//
#ifndef BRAID_DIALECT_BRAIDATTRS_TD
#define BRAID_DIALECT_BRAIDATTRS_TD

include "braid/dialect/BraidBase.td"
include "braid/dialect/BraidEnums.td"
include "braid/dialect/BraidInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

class Braid_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Braid_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Braid_GroupsBase<string name, string attrMnemonic, list<string> overridden = []>
    : Braid_Attr<name, attrMnemonic, [DeclareAttrInterfaceMethods<GroupsAttrInterface, overridden>]>;

def Braid_GroupsAttr : Braid_GroupsBase<"Groups", "groups", ["isUniform"]> {
  let summary = "groups as lists of ids";
  let description = [{
    The list is kept as it is written: rows and ids are not sorted. Rows may differ in length; a shorter one may be
    written short or padded with -1 at its end. The empty list is one group of all ranks.

    ```mlir
    #braid.groups<[[0, 1], [2, 3]]>
    #braid.groups<[[0, 1, 2], [3]]>
    #braid.groups<[]>
    ```

    Constraints:
    - (C1) every group has at least one id;
    - (C2) ids are not negative, except for -1 at the end of a row.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t", "rows one after another, each padded with -1 to the width">:$ids,
    "int64_t":$width
  );
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<::llvm::SmallVector<int64_t>>":$rows)>,
  ];
  let extraClassDeclaration = [{
    /// The ids of one group, without padding.
    ::llvm::ArrayRef<int64_t> getRow(int64_t row) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Braid_IotaGroupsAttr : Braid_GroupsBase<"IotaGroups", "iota", ["isPermutationByConstruction"]> {
  let summary = "groups in HLO's compressed form";
  let description = [{
    `[G, S] from [d0, d1, ...] T(p0, p1, ...)`, in HLO's text `[G,S]<=[d0,d1,...]T(p0,p1,...)`: count from 0 up to the
    product of d, shape the numbers as d, transpose by p, and read them as G groups of S ids. Without `T` nothing is
    transposed. One number instead of `G, S` is one group, or an order of devices. A group of 16,384 ranks costs a
    handful of integers.

    ```mlir
    #braid.iota<[2, 4] from [8]>              // [[0, 1, 2, 3], [4, 5, 6, 7]]
    #braid.iota<[2, 4] from [4, 2] T(1, 0)>   // [[0, 2, 4, 6], [1, 3, 5, 7]]
    ```

    Constraints:
    - (C1) all sizes are positive, and there are one or two on the left;
    - (C2) the product on the left equals that on the right;
    - (C3) the transposition is a permutation of the dimensions on the right.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "groups and size">:$shape,
    ArrayRefParameter<"int64_t", "how the numbers are shaped before the transposition">:$reshapeDims,
    OptionalArrayRefParameter<"int64_t", "the transposition; empty: none">:$transpose
  );
  let extraClassDeclaration = [{
    /// All ids, group after group.
    void expandFlat(::llvm::SmallVectorImpl<int64_t> &ids) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Braid_MeshAxesAttr : Braid_GroupsBase<"MeshAxes", "mesh_axes", ["isPermutationByConstruction"]> {
  let summary = "groups as axes of a mesh of devices";
  let description = [{
    A mesh gives every device one coordinate on each axis; the last axis counts fastest. `axes` names the axes along
    which the devices of a group differ, the one that counts fastest last. A part of an axis is written `"x":(p)s`: the
    axis is split into p, s and the rest, p counting slowest, and the part is the middle one (as in Shardy). Position k
    of the mesh is device k, or the k-th of `device_ids`, a list or a `#braid.iota`. Without that order, programs whose
    mesh is permuted would be read wrongly.

    ```mlir
    #braid.mesh_axes<["x" = 2, "y" = 4], axes = ["y"]>        // [[0, 1, 2, 3], [4, 5, 6, 7]]
    #braid.mesh_axes<["x" = 2, "y" = 4], axes = ["x"]>        // [[0, 4], [1, 5], [2, 6], [3, 7]]
    #braid.mesh_axes<["x" = 8], axes = ["x":(1)2]>            // [[0, 4], [1, 5], [2, 6], [3, 7]]
    #braid.mesh_axes<["x" = 2, "y" = 2], axes = ["y"], device_ids = [0, 2, 1, 3]>   // [[0, 2], [1, 3]]
    ```

    Constraints:
    - (C1) axis sizes are positive and names are given once;
    - (C2) every axis in `axes` is one of the mesh, and no part of an axis is named twice;
    - (C3) pre-size and size of a part divide the axis;
    - (C4) `device_ids` is a permutation of the positions.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"::mlir::braid::MeshAxis">:$mesh,
    OptionalArrayRefParameter<"::mlir::braid::AxisRef">:$axes,
    OptionalParameter<"::mlir::Attribute", "null, DenseI64ArrayAttr or IotaGroupsAttr">:$deviceIds
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Braid_PlanAttr : Braid_Attr<"Plan", "plan"> {
  let summary = "how a collective will be run";
  let description = [{
    What a planner decided for one collective: the engine, and the algorithm, protocol, number of channels and number of
    chunks that the engine is asked to use (0 and the empty string: the engine's own choice). The `path` says which
    connections carry what a rank sends to another: `x4`, four of them between any two ranks; or, where the planner knows
    how switches hash, the source ports of each flow, `to4791;0-1:50003.50007` (from rank 0 to rank 1, one port for each
    connection, `RAIL/PORT` where devices have several NICs; `to`: the destination port). The `fingerprint` names
    what the decision was made for: a hash of the bytes, the element type, the groups and the cluster. A plan whose
    fingerprint no longer fits its collective is stale; a lowering refuses it, other passes remark on it, none uses it.
    The algorithm `reduce_scatter+all_gather` of an all_reduce asks its consumer to run these two.

    ```mlir
    #plan = #braid.plan<engine = nccl, algorithm = "ring", protocol = "Simple", channels = 16, chunks = 1,
                         fingerprint = "5eed">
    ```

    Constraints:
    - (C1) the algorithm is named;
    - (C2) channels and chunks are not negative;
    - (C3) the path is empty, or `x` and a number from 1 to 64, or flows between two ranks, each once, with ports from 1
      to 65535.
  }];
  let parameters = (ins
    EnumParameter<Braid_EngineKind>:$engine,
    StringRefParameter<"the engine's name for it">:$algorithm,
    StringRefParameter<"the engine's name for it", [{""}]>:$protocol,
    DefaultValuedParameter<"int64_t", "0">:$channels,
    DefaultValuedParameter<"int64_t", "0">:$chunks,
    StringRefParameter<"connections and source ports of its flows", [{""}]>:$path,
    StringRefParameter<"hash of what the plan was made for", [{""}]>:$fingerprint
  );
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // BRAID_DIALECT_BRAIDATTRS_TD
