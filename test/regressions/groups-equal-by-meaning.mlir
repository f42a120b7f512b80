// Collectives whose groups are spelled in another order, but mean the same, share a bucket. A plan says so too: the order of
// groups never says anything, and that inside a group nothing for a reduction.
//
// RUN: braid-opt %s --braid-fuse-collectives | FileCheck %s
// RUN: braid-opt %s --braid-plan=cluster=%clusters/h100-ib-ndr-1x8.yaml --braid-verify-plan | FileCheck %s --check-prefix=PLAN
// RUN: braid-opt %s --braid-select-algorithms=cluster=%clusters/h100-ib-ndr-1x8.yaml --braid-overlap-collectives --braid-verify-plan -o %t

// CHECK-LABEL: func @main
// CHECK: braid.all_reduce sum %{{.*}}, %{{.*}} groups
// CHECK-NOT: braid.all_reduce
// CHECK: braid.all_gather %{{.*}}, %{{.*}} dims
// CHECK-NOT: braid.all_gather
// PLAN: braid.all_reduce sum %{{.*}}, %{{.*}} groups
// PLAN-NOT: braid.all_reduce
// PLAN: braid.all_gather
func.func @main(%a: tensor<256xf32>, %b: tensor<64xf32>) -> (tensor<256xf32>, tensor<64xf32>, tensor<1024xf32>, tensor<256xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<256xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[7, 6, 5, 4, 3, 2, 1, 0]]> : tensor<64xf32>
  %2 = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1, 2, 3], [4, 5, 6, 7]]> : (tensor<256xf32>) -> tensor<1024xf32>
  %3 = braid.all_gather %b dims = [0] groups = #braid.groups<[[4, 5, 6, 7], [0, 1, 2, 3]]> : (tensor<64xf32>) -> tensor<256xf32>
  return %0, %1, %2, %3 : tensor<256xf32>, tensor<64xf32>, tensor<1024xf32>, tensor<256xf32>
}
