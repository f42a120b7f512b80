// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK: module attributes
module attributes {
  // CHECK-SAME: g.all = #braid.groups<[]>
  g.all = #braid.groups<[]>,
  // CHECK-SAME: g.ragged = #braid.groups<{{\[\[}}0, 1, 2], [3]]>
  g.ragged = #braid.groups<[[0, 1, 2], [3, -1, -1]]>,
  // Rows and ids stay as they are written.
  // CHECK-SAME: g.spelled = #braid.groups<{{\[\[}}3, 1], [2, 0]]>
  g.spelled = #braid.groups<[[3, 1], [2, 0]]>,
  // Padding in every row is kept: the width is part of what was written.
  // CHECK-SAME: g.wide = #braid.groups<{{\[\[}}0, -1], [1, -1]]>
  g.wide = #braid.groups<[[0, -1], [1, -1]]>,
  // CHECK-SAME: i.one = #braid.iota<[8] from [2, 4] T(1, 0)>
  i.one = #braid.iota<[8] from [2, 4] T(1, 0)>,
  // CHECK-SAME: i.two = #braid.iota<[2, 4] from [8]>
  i.two = #braid.iota<[2, 4] from [8]>,
  // CHECK-SAME: m.device_list = #braid.mesh_axes<["x" = 2, "y" = 2], axes = ["y"], device_ids = [0, 2, 1, 3]>
  m.device_list = #braid.mesh_axes<["x" = 2, "y" = 2], axes = ["y"], device_ids = [0, 2, 1, 3]>,
  // CHECK-SAME: m.iota = #braid.mesh_axes<["x" = 2, "y" = 2], axes = ["x", "y"], device_ids = #braid.iota<[4] from [2, 2] T(1, 0)>>
  m.iota = #braid.mesh_axes<["x" = 2, "y" = 2], axes = ["x", "y"], device_ids = #braid.iota<[4] from [2, 2] T(1, 0)>>,
  // CHECK-SAME: m.none = #braid.mesh_axes<["x" = 2], axes = []>
  m.none = #braid.mesh_axes<["x" = 2], axes = []>,
  // CHECK-SAME: m.parts = #braid.mesh_axes<["x" = 8], axes = ["x":(4)2, "x":(1)2]>
  m.parts = #braid.mesh_axes<["x" = 8], axes = ["x":(4)2, "x":(1)2]>,
  // CHECK-SAME: t.t = !braid.token
  t.t = !braid.token
} {}
