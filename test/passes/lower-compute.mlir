// Timed computation becomes a call with the bits of its seconds.
//
// RUN: braid-opt %s --braid-to-runtime --cse -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @buffers
func.func @buffers(%x: memref<4xf32>) {
  // 0.5 s, and 4602678819172646912 is 0x3fe0000000000000.
  // CHECK: %[[BITS:.*]] = arith.constant 4602678819172646912 : i64
  // CHECK: call @braid_module_compute(%[[BITS]], %{{.*}}) : (i64, i64) -> ()
  braid.compute "layer" for "0.5 s" outs(%x : memref<4xf32>)
  return
}

// -----

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{operands, expected buffers, got tensors: bufferize first}}
  %r = braid.compute "layer" for "1 us" outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
