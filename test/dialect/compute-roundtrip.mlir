// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @time_alone
func.func @time_alone() {
  // CHECK: braid.compute "softmax" for "3.2 us"
  braid.compute "softmax" for "3.2 us"
  return
}

// CHECK-LABEL: func.func @on_tensors
func.func @on_tensors(%w: tensor<8xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: braid.compute "layer 3" for "1.25 ms" ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
  %g = braid.compute "layer 3" for "1.25 ms" ins(%w : tensor<8xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// CHECK-LABEL: func.func @on_buffers
func.func @on_buffers(%w: memref<8xf32>, %x: memref<4xf32>) {
  // CHECK: braid.compute "layer 3" for "0 ns" ins(%{{.*}} : memref<8xf32>) outs(%{{.*}} : memref<4xf32>)
  braid.compute "layer 3" for "0 ns" ins(%w : memref<8xf32>) outs(%x : memref<4xf32>)
  return
}
