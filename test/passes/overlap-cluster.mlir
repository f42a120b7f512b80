// With a cluster the order of starts is by predicted times: the large collective, which more work waits for at the end, does not
// hold up the small one that is needed soon.
//
// RUN: braid-opt %s --braid-overlap-collectives="cluster=%clusters/h100-ib-ndr-1x8.yaml" | FileCheck %s
// RUN: not braid-opt %s --braid-overlap-collectives="cluster=%clusters/h100-ib-ndr-16x8.yaml" 2>&1 | FileCheck %s --check-prefix=FEWER
// RUN: not braid-opt %s --braid-overlap-collectives="placement=packed" 2>&1 | FileCheck %s --check-prefix=ALONE

// FEWER: error: placement: {{.*}}
// ALONE: error: placement: expected a cluster with it, got none

// CHECK-LABEL: func @main
// CHECK: braid.start(%{{.*}} = %arg0)
// CHECK: tensor<16xf32>
// CHECK: "stablehlo.dot_general"
// CHECK: braid.wait
func.func @main(%small: tensor<16xf32>, %large: tensor<4096x4096xf32>) -> (tensor<16xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>) {
  %work = "stablehlo.dot_general"(%large, %large) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
    : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %0 = braid.all_reduce sum %small groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<16xf32>
  %1 = braid.all_reduce sum %large groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<4096x4096xf32>
  %used = arith.mulf %0, %0 : tensor<16xf32>
  return %used, %1, %work : tensor<16xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>
}
