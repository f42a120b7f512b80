// The same for loops of scf, unrolled by a transform script: the sequence of a body, twice in each new body.
// RUN: braid-opt %s --transform-interpreter --canonicalize | FileCheck %s --implicit-check-not="step ="
// RUN: sed -e 's/"first"/"x"/' -e 's/"second"/"first"/' -e 's/"x"/"second"/' %s > %t.swapped.mlir
// RUN: braid-opt %t.swapped.mlir --transform-interpreter --canonicalize > %t.swapped.out
// RUN: not FileCheck %s --implicit-check-not="step =" --input-file=%t.swapped.out

// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: step = "first"
// CHECK: step = "second"
// CHECK: step = "first"
// CHECK: step = "second"
// CHECK: scf.yield
func.func @loop(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %y = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> {step = "first"} : tensor<4xf32>
    %z = braid.permute %y pairs = [[0, 1], [1, 0]] {step = "second"} : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loop = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %loop {factor = 2} : !transform.any_op
    transform.yield
  }
}
