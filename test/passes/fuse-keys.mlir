// What may share a launch and what may not. Each pair below differs in exactly one thing.
//
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives | FileCheck %s

// Groups that mean the same are the same, however they are written: rows and ids permuted, padded, iota, mesh axes.
// CHECK-LABEL: func @groups_by_meaning
// CHECK: braid.all_reduce sum %arg0, %arg1, %arg2, %arg3 groups = #braid.groups<{{\[\[}}0, 1], [2, 3]]>
// CHECK-NOT: braid.all_reduce
func.func @groups_by_meaning(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[3, 2], [1, 0]]> : tensor<4xf32>
  %2 = braid.all_reduce sum %c groups = #braid.iota<[2, 2] from [4]> : tensor<4xf32>
  %3 = braid.all_reduce sum %d groups = #braid.mesh_axes<["x" = 2, "y" = 2], axes = ["y"]> : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// In an all_gather the order inside a group is the order of the result.
// CHECK-LABEL: func @order_inside_groups
// CHECK-DAG: braid.all_gather %arg0, %arg2 dims = [0, 1]
// CHECK-DAG: braid.all_gather %arg1 dims = [0]
func.func @order_inside_groups(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<2x3xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<2x6xf32>) {
  %0 = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1], [2, 3]]> : (tensor<4xf32>) -> tensor<8xf32>
  %1 = braid.all_gather %b dims = [0] groups = #braid.groups<[[1, 0], [2, 3]]> : (tensor<4xf32>) -> tensor<8xf32>
  %2 = braid.all_gather %c dims = [1] groups = #braid.groups<[[2, 3], [0, 1]]> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<2x6xf32>
}

// -----

// CHECK-LABEL: func @reduction
// CHECK-COUNT-2: braid.all_reduce
func.func @reduction(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %1 = braid.all_reduce max %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @element_type
// CHECK-COUNT-2: braid.all_reduce
func.func @element_type(%a: tensor<4xf32>, %b: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xbf16>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xbf16>
  return %0, %1 : tensor<4xf32>, tensor<4xbf16>
}

// -----

// CHECK-LABEL: func @accumulation_type
// CHECK-COUNT-2: braid.all_reduce
func.func @accumulation_type(%a: tensor<4xbf16>, %b: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {accumulate = f32} : tensor<4xbf16>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xbf16>
  return %0, %1 : tensor<4xbf16>, tensor<4xbf16>
}

// -----

// CHECK-LABEL: func @groups
// CHECK-COUNT-2: braid.all_reduce
func.func @groups(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 2], [1, 3]]> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The number of a channel is no identity, whether there is one is.
// CHECK-LABEL: func @channels
// CHECK-DAG: braid.all_reduce sum %arg0, %arg1 groups
// CHECK-DAG: braid.all_reduce sum %arg2 groups
func.func @channels(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {channel = 1 : i64} : tensor<4xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {channel = 2 : i64} : tensor<4xf32>
  %2 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The user's boundary.
// CHECK-LABEL: func @group_key
// CHECK-DAG: braid.all_reduce sum %arg0, %arg2 groups = {{.*}} {braid.group_key = "a"}
// CHECK-DAG: braid.all_reduce sum %arg1 groups = {{.*}} {braid.group_key = "b"}
func.func @group_key(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {braid.group_key = "a"} : tensor<4xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {braid.group_key = "b"} : tensor<4xf32>
  %2 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> {braid.group_key = "a"} : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @roots
// CHECK-DAG: braid.broadcast %arg0, %arg2 root = 0
// CHECK-DAG: braid.broadcast %arg1 root = 1
func.func @roots(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.broadcast %a root = 0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %1 = braid.broadcast %b root = 1 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %2 = braid.broadcast %c root = 0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @pairs
// CHECK-DAG: braid.permute %arg0, %arg2 pairs = {{\[\[}}0, 1], [1, 0]]
// CHECK-DAG: braid.permute %arg1 pairs = {{\[\[}}0, 1]]
func.func @pairs(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.permute %a pairs = [[0, 1], [1, 0]] : tensor<4xf32>
  %1 = braid.permute %b pairs = [[0, 1]] : tensor<4xf32>
  %2 = braid.permute %c pairs = [[1, 0], [0, 1]] : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Each all_to_all is its own launch: no consumer combines them.
// CHECK-LABEL: func @all_to_all
// CHECK-COUNT-2: braid.all_to_all
func.func @all_to_all(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_to_all %a split = [0] concat = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = braid.all_to_all %b split = [0] concat = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The same ids in different spaces are different groups.
// CHECK-LABEL: func @spaces
// CHECK-COUNT-3: braid.all_reduce
module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32} {
  func.func @spaces(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<replica>} : tensor<4xf32>
    %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<partition>} : tensor<4xf32>
    %2 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<replica_and_partition>} : tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
