// A collective among single ranks is no communication: all ranks see that in the attributes, so all of them drop it.
// RUN: braid-opt %s --canonicalize --split-input-file | FileCheck %s

#single = #braid.groups<[[0], [1], [2]]>

// CHECK-LABEL: func.func @all_kinds
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @all_kinds(%a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: return %[[A]], %[[B]], %[[A]], %[[A]], %[[A]], %[[A]]
  %0:2 = braid.all_reduce sum %a, %b groups = #single : tensor<4xf32>, tensor<4xf32>
  %1 = braid.reduce_scatter average %a dims = [0] groups = #single : (tensor<4xf32>) -> tensor<4xf32>
  %2 = braid.all_gather %a dims = [0] groups = #braid.iota<[3, 1] from [3]> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = braid.all_to_all %a split = [0] concat = [0] groups = #braid.mesh_axes<["x" = 3], axes = []> : (tensor<4xf32>) -> tensor<4xf32>
  %4 = braid.broadcast %a root = 0 groups = #single : tensor<4xf32>
  return %0#0, %0#1, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// One group of two ranks is enough to keep it, for all ranks.
// CHECK-LABEL: func.func @one_larger_group
func.func @one_larger_group(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: braid.all_reduce
  %r = braid.all_reduce sum %a groups = #braid.groups<[[0], [1, 2]]> : tensor<4xf32>
  return %r : tensor<4xf32>
}

// How many ranks "all" is nobody says.
// CHECK-LABEL: func.func @all_ranks
func.func @all_ranks(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: braid.all_reduce
  %r = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<4xf32>
  return %r : tensor<4xf32>
}

// A dynamic size on one side only: the types differ, so the operand can't stand for the result.
// CHECK-LABEL: func.func @types_differ
func.func @types_differ(%a: tensor<?xf32>) -> tensor<4xf32> {
  // CHECK: braid.all_gather
  %r = braid.all_gather %a dims = [0] groups = #single : (tensor<?xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// A rank that is no target gets zeros, and how many ranks there are nobody says.
// CHECK-LABEL: func.func @permute_to_itself
func.func @permute_to_itself(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: braid.permute
  %r = braid.permute %a pairs = [[0, 0]] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @in_flight
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>)
func.func @in_flight(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[A]]
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #single : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return %w : tensor<4xf32>
}

// Where the token goes somewhere else nothing is folded, in the body neither.
// CHECK-LABEL: func.func @token_escapes
func.func @token_escapes(%a: tensor<4xf32>) -> !braid.token {
  // CHECK: braid.start
  // CHECK-NEXT: braid.all_reduce
  // CHECK-NEXT: braid.yield
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #single : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  return %token : !braid.token
}

// -----

// CHECK-LABEL: module attributes {mhlo.num_partitions = 2
module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32} {
  // A group of one replica in which both partitions take part.
  // CHECK-LABEL: func.func @replica_and_partition
  func.func @replica_and_partition(%a: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: braid.all_reduce
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0], [1]]> {id_space = #braid.id_space<replica_and_partition>} : tensor<4xf32>
    return %r : tensor<4xf32>
  }
  // CHECK-LABEL: func.func @replica
  func.func @replica(%a: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: return
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0], [1]]> {id_space = #braid.id_space<replica>} : tensor<4xf32>
    return %r : tensor<4xf32>
  }
  // CHECK-LABEL: func.func @permute_all_to_themselves
  func.func @permute_all_to_themselves(%a: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: return
    %r = braid.permute %a pairs = [[0, 0], [1, 1], [3, 3], [2, 2]] : tensor<4xf32>
    return %r : tensor<4xf32>
  }
  // CHECK-LABEL: func.func @permute_all_but_one
  func.func @permute_all_but_one(%a: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: braid.permute
    %r = braid.permute %a pairs = [[0, 0], [1, 1], [2, 2]] : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
