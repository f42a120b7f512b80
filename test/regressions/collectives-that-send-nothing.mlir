// REQUIRES: braid-run
// Groups of one rank and pairs of one rank with itself send nothing: their price has no algorithm, and the runtime is asked for none.
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=braid target=braid placement=0:0,0:1,0:2" -o %t.mlir
// RUN: FileCheck %s --check-prefix=PLAN < %t.mlir
// RUN: braid-run %t.mlir -n 3 | FileCheck %s
// RUN: braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=braid placement=0:0,0:1,0:2" | braid-run - -n 3 | FileCheck %s

// PLAN: algorithm = "none"
// CHECK: result 0: [0, 1]
// CHECK: result 1: [0, 0]
func.func @main(%a: tensor<2xi32> {braid.data = "iota"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %x = braid.all_reduce sum %a groups = #braid.groups<[[0], [1], [2]]> : tensor<2xi32>
  %y = braid.permute %x pairs = [[1, 1]] : tensor<2xi32>
  %z = braid.broadcast %y root = 0 groups = #braid.groups<[[0], [1, 2]]> : tensor<2xi32>
  return %x, %z : tensor<2xi32>, tensor<2xi32>
}
