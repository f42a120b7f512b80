// Two chains, a1 after a0 and b1 after b0: the four collectives become two launches of two tensors, {a0, b0} and {a1, b1}, in
// any textual order. Merging neighbours only would miss it; so would a bucket that closes at the first dependent collective.
//
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives=scan-past-dependents=false | FileCheck %s --check-prefix=CLOSED
//
// The control: with closing buckets the second order keeps three launches.

// CHECK-LABEL: func @a0_b0_a1_b1
// CHECK-COUNT-2: braid.all_reduce sum %{{.*}}, %{{.*}} groups
// CHECK-NOT: braid.all_reduce
// CHECK: return
func.func @a0_b0_a1_b1(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %b0 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %a1 = braid.all_reduce sum %a0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %b1 = braid.all_reduce sum %b0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %a1, %b1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @a0_a1_b0_b1
// CHECK: %[[FIRST:.*]]:2 = braid.all_reduce sum %arg0, %arg1 groups
// CHECK: %[[SECOND:.*]]:2 = braid.all_reduce sum %[[FIRST]]#0, %[[FIRST]]#1 groups
// CHECK-NOT: braid.all_reduce
// CHECK: return %[[SECOND]]#0, %[[SECOND]]#1
// CLOSED-LABEL: func @a0_a1_b0_b1
// CLOSED-COUNT-3: braid.all_reduce
func.func @a0_a1_b0_b1(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %a1 = braid.all_reduce sum %a0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %b0 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %b1 = braid.all_reduce sum %b0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %a1, %b1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @b0_a0_a1_b1
// CHECK-COUNT-2: braid.all_reduce sum %{{.*}}, %{{.*}} groups
// CHECK-NOT: braid.all_reduce
// CHECK: return
func.func @b0_a0_a1_b1(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %b0 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %a0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %a1 = braid.all_reduce sum %a0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %b1 = braid.all_reduce sum %b0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %a1, %b1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Work between the collectives of a chain, and chains of different shapes.
// CHECK-LABEL: func @work_between
// CHECK: %[[FIRST:.*]]:2 = braid.all_reduce sum %arg0, %arg1 groups
// CHECK-DAG: %[[A:.*]] = arith.mulf %[[FIRST]]#0, %[[FIRST]]#0
// CHECK-DAG: %[[B:.*]] = arith.addf %[[FIRST]]#1, %[[FIRST]]#1
// CHECK: braid.all_reduce sum %[[A]], %[[B]] groups
// CHECK-NOT: braid.all_reduce
func.func @work_between(%x: tensor<4xf32>, %y: tensor<8x2xf32>) -> (tensor<4xf32>, tensor<8x2xf32>) {
  %a0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %a = arith.mulf %a0, %a0 : tensor<4xf32>
  %a1 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %b0 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<8x2xf32>
  %b = arith.addf %b0, %b0 : tensor<8x2xf32>
  %b1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<8x2xf32>
  return %a1, %b1 : tensor<4xf32>, tensor<8x2xf32>
}

// -----

// Three chains give two launches of three tensors.
// CHECK-LABEL: func @three_chains
// CHECK: braid.all_reduce sum %arg0, %arg2, %arg1 groups
// CHECK: braid.all_reduce sum %{{.*}}#0, %{{.*}}#1, %{{.*}}#2 groups
// CHECK-NOT: braid.all_reduce
// CHECK: return
func.func @three_chains(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %a1 = braid.all_reduce sum %a0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %c0 = braid.all_reduce sum %z groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %b0 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %c1 = braid.all_reduce sum %c0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %b1 = braid.all_reduce sum %b0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %a1, %b1, %c1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A cross: a1 needs b0, b1 needs a0. {a0, a1} and {b0, b1} would wait for each other although no pair depends on itself.
// CHECK-LABEL: func @crossed
// CHECK: %[[FIRST:.*]]:2 = braid.all_reduce sum %arg0, %arg1 groups
// CHECK: %[[SECOND:.*]]:2 = braid.all_reduce sum %[[FIRST]]#1, %[[FIRST]]#0 groups
// CHECK: return %[[SECOND]]#0, %[[SECOND]]#1
func.func @crossed(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %b0 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %a1 = braid.all_reduce sum %b0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %b1 = braid.all_reduce sum %a0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %a1, %b1 : tensor<4xf32>, tensor<4xf32>
}
