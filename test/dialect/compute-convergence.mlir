// Time passes where it stands: stock passes leave timed computation alone.
//
// RUN: braid-opt %s --canonicalize --cse --loop-invariant-code-motion --control-flow-sink --sccp --symbol-dce | FileCheck %s

// CHECK-LABEL: func.func @unused_and_equal
// CHECK: braid.compute "a" for "1 us"
// CHECK: braid.compute "a" for "1 us"
// CHECK: braid.compute "b" for "2 us"
func.func @unused_and_equal(%x: tensor<4xf32>) {
  braid.compute "a" for "1 us"
  braid.compute "a" for "1 us"
  %r = braid.compute "b" for "2 us" outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @in_a_loop
// CHECK: scf.for
// CHECK-NEXT: braid.compute "body" for "1 us"
func.func @in_a_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    braid.compute "body" for "1 us"
  }
  return
}

// CHECK-LABEL: func.func @before_a_branch
// CHECK-NEXT: braid.compute "before" for "1 us"
// CHECK-NEXT: scf.if
func.func @before_a_branch(%p: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = braid.compute "before" for "1 us" outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %s = scf.if %p -> tensor<4xf32> {
    %t = braid.compute "inside" for "1 us" outs(%r : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %s : tensor<4xf32>
}
