// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @one
func.func @one(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: braid.broadcast %{{.*}} root = 1 groups = #braid.groups<{{\[\[}}0, 1], [2, 3]]> : tensor<4xf32>
  %r = braid.broadcast %a root = 1 groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @bucket_uneven
func.func @bucket_uneven(%a: tensor<4xf32>, %b: tensor<?xi1>) {
  // CHECK: braid.broadcast %{{.*}}, %{{.*}} root = 0 groups = #braid.groups<{{\[\[}}0, 1], [2]]> {channel = 1 : i64} : tensor<4xf32>, tensor<?xi1>
  %r:2 = braid.broadcast %a, %b root = 0 groups = #braid.groups<[[0, 1], [2]]> {channel = 1} : tensor<4xf32>, tensor<?xi1>
  return
}
