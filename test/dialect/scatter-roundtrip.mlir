// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @one
func.func @one(%a: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK: braid.scatter %{{.*}} dims = [0] root = 1 groups = #braid.groups<{{\[\[}}0, 1], [2, 3]]> : (tensor<8x2xf32>) -> tensor<4x2xf32>
  %r = braid.scatter %a dims = [0] root = 1 groups = #braid.groups<[[0, 1], [2, 3]]> : (tensor<8x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @bucket
func.func @bucket(%a: tensor<8x2xi1>, %b: tensor<?xi1>) {
  // CHECK: braid.scatter %{{.*}}, %{{.*}} dims = [0, 0] root = 0 groups = #braid.groups<[]> {channel = 1 : i64} : (tensor<8x2xi1>, tensor<?xi1>) -> (tensor<4x2xi1>, tensor<?xi1>)
  %r:2 = braid.scatter %a, %b dims = [0, 0] root = 0 groups = #braid.groups<[]> {channel = 1} : (tensor<8x2xi1>, tensor<?xi1>) -> (tensor<4x2xi1>, tensor<?xi1>)
  return
}
