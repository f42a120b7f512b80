// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @one
func.func @one(%a: tensor<4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: braid.reduce sum %{{.*}} init %{{.*}} root = 1 groups = #braid.groups<{{\[\[}}0, 1], [2, 3]]> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = braid.reduce sum %a init %i root = 1 groups = #braid.groups<[[0, 1], [2, 3]]> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @bucket
func.func @bucket(%a: tensor<4xf16>, %b: tensor<?xf16>) {
  // CHECK: braid.reduce max %{{.*}}, %{{.*}} init %{{.*}}, %{{.*}} root = 0 groups = #braid.groups<{{\[\[}}0, 1], [2]]> {accumulate = f32, channel = 1 : i64, reassociate} : (tensor<4xf16>, tensor<?xf16>, tensor<4xf16>, tensor<?xf16>) -> (tensor<4xf16>, tensor<?xf16>)
  %r:2 = braid.reduce max %a, %b init %a, %b root = 0 groups = #braid.groups<[[0, 1], [2]]> {accumulate = f32, channel = 1, reassociate}
    : (tensor<4xf16>, tensor<?xf16>, tensor<4xf16>, tensor<?xf16>) -> (tensor<4xf16>, tensor<?xf16>)
  return
}
