// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @one
func.func @one(%a: tensor<8x4xf32>) -> tensor<2x16xf32> {
  // CHECK: braid.all_to_all %{{.*}} split = [0] concat = [1] groups = #braid.groups<{{\[\[}}0, 1, 2, 3]]> : (tensor<8x4xf32>) -> tensor<2x16xf32>
  %r = braid.all_to_all %a split = [0] concat = [1] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<8x4xf32>) -> tensor<2x16xf32>
  return %r : tensor<2x16xf32>
}

// CHECK-LABEL: func.func @bucket
func.func @bucket(%a: tensor<8x4xf32>, %b: tensor<?x3xi32>) {
  // CHECK: braid.all_to_all %{{.*}}, %{{.*}} split = [0, 0] concat = [0, 1] groups = #braid.iota<[1, 4] from [4]>
  // CHECK-SAME: : (tensor<8x4xf32>, tensor<?x3xi32>) -> (tensor<8x4xf32>, tensor<?x12xi32>)
  %r:2 = braid.all_to_all %a, %b split = [0, 0] concat = [0, 1] groups = #braid.iota<[1, 4] from [4]>
    : (tensor<8x4xf32>, tensor<?x3xi32>) -> (tensor<8x4xf32>, tensor<?x12xi32>)
  return
}
