// Timed computation on buffers: its destination is its result, in place; where the destination is read later, a copy.
//
// RUN: braid-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @in_place
// CHECK-SAME: (%[[W:.*]]: memref<8xf32>, %[[X:.*]]: memref<4xf32>)
// CHECK-NEXT: braid.compute "layer" for "1 us" ins(%[[W]] : memref<8xf32>) outs(%[[X]] : memref<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @in_place(%w: tensor<8xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = braid.compute "layer" for "1 us" ins(%w : tensor<8xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @read_later
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>)
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: memref.copy %[[X]], %[[COPY]]
// CHECK: braid.compute "layer" for "1 us" outs(%[[COPY]] : memref<4xf32>)
// CHECK: return %[[COPY]], %[[X]]
func.func @read_later(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = braid.compute "layer" for "1 us" outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r, %x : tensor<4xf32>, tensor<4xf32>
}
