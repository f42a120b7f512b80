// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @one
func.func @one(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: braid.permute %{{.*}} pairs = {{\[\[}}0, 1], [1, 2], [2, 0]] : tensor<4xf32>
  %r = braid.permute %a pairs = [[0, 1], [1, 2], [2, 0]] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @bucket
func.func @bucket(%a: tensor<4xf32>, %b: tensor<?xi1>) {
  // CHECK: braid.permute %{{.*}}, %{{.*}} pairs = {{\[\[}}3, 0]] {channel = 1 : i64, id_space = #braid.id_space<partition>} : tensor<4xf32>, tensor<?xi1>
  %r:2 = braid.permute %a, %b pairs = [[3, 0]] {channel = 1, id_space = #braid.id_space<partition>} : tensor<4xf32>, tensor<?xi1>
  // CHECK: braid.permute %{{.*}} pairs = [] : tensor<4xf32>
  %z = braid.permute %a pairs = [] : tensor<4xf32>
  return
}
