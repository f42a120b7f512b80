// Rooted collectives, messages and barriers stay where they are: nothing is dropped, priced, fused or moved across them, and they count
// in the order that ranks compare.
//
// RUN: braid-opt %s --braid-simplify | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: braid-opt %s --braid-fuse-collectives | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: braid-opt %s --braid-overlap-collectives | FileCheck %s --check-prefixes=CHECK,OVERLAP
// RUN: braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=braid placement=0:0,0:1" | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=braid target=braid placement=0:0,0:1" --braid-verify-plan | FileCheck %s --check-prefixes=CHECK
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=braid target=braid placement=0:0,0:1" -o %t.planned
// RUN: sed "s/tag = 4/tag = 5/" %t.planned | not braid-opt --braid-verify-plan 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not braid-opt %s --braid-export 2>&1 | FileCheck %s --check-prefix=EXPORT

// ORDER: plan rule V5
// EXPORT: expected a collective that StableHLO has, got 'barrier'

#g = #braid.groups<[[0, 1]]>

// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<1024xf32>, %b: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>) {
  // KEEP: braid.all_reduce
  // OVERLAP: braid.start
  // OVERLAP: arith.mulf
  // OVERLAP: braid.wait
  %x = braid.all_reduce sum %a groups = #g : tensor<1024xf32>
  %m = arith.mulf %b, %b : tensor<1024xf32>
  // CHECK: braid.barrier
  braid.barrier groups = #g
  // CHECK: braid.send %{{.*}} peer = 1 tag = 4
  braid.send %m peer = 1 tag = 4 : tensor<1024xf32>
  // CHECK: braid.recv peer = 0 tag = 4
  %dead = braid.recv peer = 0 tag = 4 : tensor<1024xf32>
  // CHECK: braid.reduce sum
  %unread = braid.reduce sum %m init %b root = 0 groups = #g : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  // KEEP: braid.all_reduce
  %y = braid.all_reduce sum %m groups = #g : tensor<1024xf32>
  return %x, %y : tensor<1024xf32>, tensor<1024xf32>
}
