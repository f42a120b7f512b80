// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @one
func.func @one(%a: tensor<16xf32>) -> tensor<4xf32> {
  // CHECK: braid.reduce_scatter sum %{{.*}} dims = [0] groups = #braid.groups<{{\[\[}}0, 1, 2, 3]]> : (tensor<16xf32>) -> tensor<4xf32>
  %r = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<16xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @bucket
func.func @bucket(%a: tensor<16xbf16>, %b: tensor<3x?xbf16>) {
  // CHECK: %{{.*}}:2 = braid.reduce_scatter average %{{.*}}, %{{.*}} dims = [0, 1]
  // CHECK-SAME: groups = #braid.mesh_axes<["x" = 2, "y" = 4], axes = ["y"]> {accumulate = f32, reassociate}
  // CHECK-SAME: : (tensor<16xbf16>, tensor<3x?xbf16>) -> (tensor<4xbf16>, tensor<3x?xbf16>)
  %r:2 = braid.reduce_scatter average %a, %b dims = [0, 1] groups = #braid.mesh_axes<["x" = 2, "y" = 4], axes = ["y"]>
    {accumulate = f32, reassociate} : (tensor<16xbf16>, tensor<3x?xbf16>) -> (tensor<4xbf16>, tensor<3x?xbf16>)
  return
}

// CHECK-LABEL: func.func @combiner
func.func @combiner(%a: tensor<16xf32>) {
  // CHECK: groups = #braid.groups<{{\[\[}}0, 1]]> combiner {
  // CHECK: } : (tensor<16xf32>) -> tensor<8xf32>
  %r = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 1]]> combiner {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    cf.br ^bb1
  ^bb1:
    cf.br ^bb1
  } : (tensor<16xf32>) -> tensor<8xf32>
  return
}
