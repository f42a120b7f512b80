// RUN: braid-opt %s -split-input-file --braid-split-collectives="pieces=2 pipeline" | FileCheck %s

// Rows of the product and of the sum before, and of the difference after; each whole is gone.
// CHECK-LABEL: func @rows
// CHECK: %[[X:.*]] = "stablehlo.slice"(%arg0) {{.*}} -> tensor<4x16xf32>
// CHECK: %[[M:.*]] = "stablehlo.dot_general"(%[[X]], %arg1) {{.*}} -> tensor<4x8xf32>
// CHECK: %[[B:.*]] = "stablehlo.slice"(%arg2) {{.*}} -> tensor<4x8xf32>
// CHECK: %[[S:.*]] = "stablehlo.add"(%[[M]], %[[B]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: "stablehlo.slice"(%arg0) {{.*}}start_indices = array<i64: 4, 0>
// CHECK: %[[R:.*]] = braid.all_reduce sum %[[S]]
// CHECK: %[[D:.*]] = "stablehlo.subtract"(%{{.*}}, %[[R]])
// CHECK: "stablehlo.concatenate"(%[[D]], %{{.*}}) <{dimension = 0 : i64}>
// CHECK-NOT: tensor<8x8xf32>) -> tensor<8x8xf32>
func.func @rows(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8x8xf32>, %old: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = "stablehlo.add"(%0, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = braid.all_reduce sum %1 groups = #braid.groups<[[0, 1]]> : tensor<8x8xf32>
  %3 = "stablehlo.subtract"(%old, %2) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// -----

// A gradient: the rows of the result are columns of the left operand. Batches are of both. A transpose moves the dimension.
// CHECK-LABEL: func @dimensions
// CHECK: "stablehlo.slice"(%arg0) {{.*}} -> tensor<16x4xf32>
// CHECK: "stablehlo.dot_general"{{.*}} : (tensor<16x4xf32>, tensor<16x6xf32>) -> tensor<4x6xf32>
// CHECK: "stablehlo.slice"(%arg2) {{.*}} -> tensor<2x5x3xf32>
// CHECK: "stablehlo.slice"(%arg3) {{.*}} -> tensor<2x3x7xf32>
// CHECK: "stablehlo.dot_general"{{.*}} -> tensor<2x5x7xf32>
// CHECK: %[[T:.*]] = "stablehlo.slice"(%arg0) {{.*}} -> tensor<16x4xf32>
// CHECK: "stablehlo.transpose"(%[[T]]) {{.*}} -> tensor<4x16xf32>
func.func @dimensions(%x: tensor<16x8xf32>, %dy: tensor<16x6xf32>, %p: tensor<4x5x3xf32>, %q: tensor<4x3x7xf32>) -> (tensor<8x6xf32>, tensor<4x5x7xf32>, tensor<8x16xf32>) {
  %0 = "stablehlo.dot_general"(%x, %dy) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<16x8xf32>, tensor<16x6xf32>) -> tensor<8x6xf32>
  %1 = braid.all_reduce sum %0 groups = #braid.groups<[[0, 1]]> : tensor<8x6xf32>
  %2 = "stablehlo.dot_general"(%p, %q) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<4x5x3xf32>, tensor<4x3x7xf32>) -> tensor<4x5x7xf32>
  %3 = braid.all_reduce sum %2 groups = #braid.groups<[[0, 1]]> : tensor<4x5x7xf32>
  %4 = "stablehlo.transpose"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %5 = braid.all_reduce sum %4 groups = #braid.groups<[[0, 1]]> : tensor<8x16xf32>
  return %1, %3, %5 : tensor<8x6xf32>, tensor<4x5x7xf32>, tensor<8x16xf32>
}

// -----

// The reader is a product: rows of a gathered left operand are rows of the result, columns of a right one columns.
// CHECK-LABEL: func @readers
// CHECK: %[[A:.*]] = braid.all_gather
// CHECK: %[[B:.*]] = braid.all_gather
// CHECK: %[[L:.*]] = "stablehlo.dot_general"(%[[A]], %arg1) {{.*}} -> tensor<2x5xf32>
// CHECK: %[[M:.*]] = "stablehlo.dot_general"(%[[B]], %arg1) {{.*}} -> tensor<2x5xf32>
// CHECK: "stablehlo.concatenate"(%[[L]], %[[M]]) <{dimension = 0 : i64}>
// CHECK: "stablehlo.dot_general"(%arg1, %{{.*}}) {{.*}} -> tensor<16x2xf32>
// CHECK: "stablehlo.concatenate"({{.*}}) <{dimension = 1 : i64}>
func.func @readers(%x: tensor<4x8xf32>, %w: tensor<16x5xf32>) -> (tensor<4x5xf32>, tensor<16x4xf32>) {
  %0 = braid.all_gather %x dims = [1] groups = #braid.groups<[[0, 1]]> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %1 = "stablehlo.dot_general"(%0, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x16xf32>, tensor<16x5xf32>) -> tensor<4x5xf32>
  %2 = "stablehlo.slice"(%x) <{limit_indices = array<i64: 4, 5>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %3 = braid.all_reduce sum %2 groups = #braid.groups<[[0, 1]]> : tensor<4x5xf32>
  %4 = "stablehlo.dot_general"(%w, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<16x5xf32>, tensor<4x5xf32>) -> tensor<16x4xf32>
  return %1, %4 : tensor<4x5xf32>, tensor<16x4xf32>
}

// -----

// Somebody else reads the sum, or it is contracted: whole, and sliced.
// CHECK-LABEL: func @shared
// CHECK: %[[S:.*]] = "stablehlo.add"(%arg0, %arg0) : (tensor<4x4xf32>
// CHECK: "stablehlo.slice"(%[[S]])
// CHECK: %[[C:.*]] = "stablehlo.concatenate"
// CHECK: "stablehlo.dot_general"(%[[C]], %[[S]])
func.func @shared(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.add"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = braid.all_reduce sum %0 groups = #braid.groups<[[0, 1]]> : tensor<4x4xf32>
  %2 = "stablehlo.dot_general"(%1, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Upstream's structured operations are tiled.
// CHECK-LABEL: func @structured
// CHECK-COUNT-2: linalg.matmul {{.*}} -> tensor<32x16xf32>
// CHECK: arith.addf {{.*}} : tensor<32x16xf32>
// CHECK: tensor.concat dim(0)
func.func @structured(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %e = tensor.empty() : tensor<64x16xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%e : tensor<64x16xf32>) -> tensor<64x16xf32>
  %2 = braid.all_reduce sum %m groups = #braid.groups<[[0, 1]]> : tensor<64x16xf32>
  %3 = arith.addf %2, %2 : tensor<64x16xf32>
  return %3 : tensor<64x16xf32>
}
