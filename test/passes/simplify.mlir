// RUN: braid-opt %s -split-input-file --braid-simplify | FileCheck %s

// CHECK-LABEL: func @alone
// CHECK-NOT: braid.
// CHECK: return %arg0, %arg1, %arg2
func.func @alone(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0], [1]]> : tensor<4xf32>
  %1 = braid.all_gather %b dims = [0] groups = #braid.iota<[2, 1] from [2]> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = braid.permute %c pairs = [[0, 0], [1, 1]] : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A rank that is no target gets zeros, so pairs of a rank with itself must be all of them.
// CHECK-LABEL: func @some_to_themselves
// CHECK: braid.permute
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @some_to_themselves(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = braid.permute %a pairs = [[0, 0], [1, 1]] : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// CHECK-LABEL: func @repeated
// CHECK: %[[MAX:.*]] = braid.all_reduce max %arg0
// CHECK-NOT: braid.all_reduce max
// CHECK: %[[SUM:.*]] = braid.all_reduce sum
// CHECK: %[[SUMS:.*]] = braid.all_reduce sum %[[SUM]]
// CHECK: return %[[MAX]], %[[SUMS]]
func.func @repeated(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce max %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %1 = braid.all_reduce max %0 groups = #braid.groups<[[1, 0]]> : tensor<4xf32>
  %2 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %3 = braid.all_reduce sum %2 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Equal on other ranks is not equal on these.
// CHECK-LABEL: func @repeated_elsewhere
// CHECK-COUNT-2: braid.all_reduce max
func.func @repeated_elsewhere(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = braid.all_reduce max %a groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>
  %1 = braid.all_reduce max %0 groups = #braid.groups<[[0, 2], [1, 3]]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @unread
// CHECK-NOT: braid.
func.func @unread(%a: tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %1 = braid.all_reduce sum %0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return
}

// -----

// Only where the source says that the order of additions may change.
// CHECK-LABEL: func @added
// CHECK: %[[X:.*]] = "stablehlo.add"(%arg0, %arg1)
// CHECK: %[[R:.*]] = braid.all_reduce sum %[[X]]
// CHECK: braid.all_reduce sum %arg2
// CHECK: braid.all_reduce sum %arg3
// CHECK: %[[Y:.*]] = "stablehlo.add"
// CHECK: return %[[R]], %[[Y]]
func.func @added(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {reassociate} : tensor<4xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {reassociate} : tensor<4xf32>
  %2 = "stablehlo.add"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %4 = braid.all_reduce sum %d groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %5 = "stablehlo.add"(%3, %4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %5 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Four micro-batches: a chain of additions becomes one reduction of their sum.
// CHECK-LABEL: func @micro_batches
// CHECK-COUNT-3: stablehlo.add
// CHECK-COUNT-1: braid.all_reduce
// CHECK-NOT: braid.all_reduce
// CHECK: return
func.func @micro_batches(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {reassociate} : tensor<4xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {reassociate} : tensor<4xf32>
  %2 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> {reassociate} : tensor<4xf32>
  %3 = braid.all_reduce sum %d groups = #braid.groups<[[0, 1]]> {reassociate} : tensor<4xf32>
  %4 = "stablehlo.add"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = "stablehlo.add"(%4, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = "stablehlo.add"(%5, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %6 : tensor<4xf32>
}
