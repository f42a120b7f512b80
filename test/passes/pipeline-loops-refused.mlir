// What stays in its trip, and why; and where a wait goes in front of what it must not be in flight with.
// RUN: braid-opt %s -allow-unregistered-dialect --braid-pipeline-loops -split-input-file --remarks-filter=braid-pipeline-loops -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir

#g = #braid.groups<[[0, 1, 2, 3]]>

// All computation of the next trip waits for it.
// REMARK-DAG: Remark="stays in its trip of the loop: all computation of the next trip waits for it"
// CHECK-LABEL: func.func @needed_at_once
// CHECK-NOT: braid.start
func.func @needed_at_once(%w: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %r = scf.for %i = %zero to %nine step %one iter_args(%p = %w) -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %x = linalg.exp ins(%p : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %x groups = #g : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Nothing crosses what is not known, behind the collective or in front of what reads it: the wait of the second loop stands there.
#g = #braid.groups<[[0, 1, 2, 3]]>
// REMARK-DAG: Remark="stays in its trip of the loop: nothing is in flight across unknown.effect, which stands behind it in the loop"
// CHECK-LABEL: func.func @barrier
// CHECK: scf.for
// CHECK-NOT: braid.wait
// CHECK: unknown.effect
// CHECK: scf.for
// CHECK: linalg.exp
// CHECK: braid.wait
// CHECK: unknown.effect
// CHECK: linalg.mul
func.func @barrier(%w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.for %i = %zero to %nine step %one iter_args(%p = %w) -> (tensor<4xf32>) {
    %x = linalg.exp ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %y = linalg.mul ins(%x, %p : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %y groups = #g : tensor<4xf32>
    "unknown.effect"() : () -> ()
    scf.yield %s : tensor<4xf32>
  }
  %q = scf.for %i = %zero to %nine step %one iter_args(%p = %w) -> (tensor<4xf32>) {
    %x = linalg.exp ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    "unknown.effect"() : () -> ()
    %y = linalg.mul ins(%x, %p : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %y groups = #g : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r, %q : tensor<4xf32>, tensor<4xf32>
}

// -----

// Pairs and all ranks share two: the sum over all behind it keeps the first in its trip, the one in front is begun when it is over.
// REMARK-DAG: Remark="stays in its trip of the loop: it shares two ranks or more with braid.all_reduce at {{.*}}, so that the two must not be in flight together"
// CHECK-LABEL: func.func @shared_ranks
// CHECK: scf.for
// CHECK: braid.wait
// CHECK-NEXT: braid.all_reduce sum {{.*}}<{{\[\[}}0, 1], [2, 3]]>
// CHECK: scf.for
// CHECK: linalg.exp
// CHECK: braid.wait
// CHECK-NEXT: braid.all_reduce sum {{.*}}<{{\[\[}}0, 1, 2, 3]]>
func.func @shared_ranks(%w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %e = tensor.empty() : tensor<4xf32>
  %r:2 = scf.for %i = %zero to %nine step %one iter_args(%p = %w, %q = %w) -> (tensor<4xf32>, tensor<4xf32>) {
    %x = linalg.exp ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %y = linalg.mul ins(%x, %p : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %y groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>
    %t = braid.all_reduce sum %x groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
    %u = linalg.mul ins(%t, %q : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %v = braid.reduce_scatter sum %u dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<4xf32>) -> tensor<1xf32>
    %z = braid.all_gather %v dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<1xf32>) -> tensor<4xf32>
    %zz = linalg.mul ins(%z, %p : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %again = braid.all_reduce sum %zz groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
    scf.yield %s, %again : tensor<4xf32>, tensor<4xf32>
  }
  %f = scf.for %i = %zero to %nine step %one iter_args(%p = %w) -> (tensor<4xf32>) {
    %x = linalg.exp ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %t = braid.all_reduce sum %x groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
    %y = linalg.mul ins(%t, %p : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %y groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r#0, %f : tensor<4xf32>, tensor<4xf32>
}

// -----

// No trip, or one; a while that data ends; what decides whether a while goes on.
#g = #braid.groups<[[0, 1, 2, 3]]>
// REMARK-DAG: Remark="not pipelined: it is not known to make two trips"
// REMARK-DAG: Remark="not pipelined: it is no scf.for, and no while whose trips are counted by a number that is known"
// REMARK-DAG: Remark="stays in its trip of the loop: the next trip does not get what it gives"
// CHECK-LABEL: func.func @few_trips
// CHECK-NOT: braid.start
func.func @few_trips(%w: tensor<4xf32>, %p0: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.for %i = %zero to %one step %one iter_args(%p = %w) -> (tensor<4xf32>) {
    %x = linalg.exp ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %y = linalg.mul ins(%x, %p : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %y groups = #g : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  %u = scf.for %i = %zero to %two step %one iter_args(%p = %w) -> (tensor<4xf32>) {
    %s = braid.all_reduce sum %p groups = #g : tensor<4xf32>
    %x = linalg.exp ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %x : tensor<4xf32>
  }
  %d:2 = "stablehlo.while"(%p0, %u) ({
  ^bb0(%go: tensor<i1>, %p: tensor<4xf32>):
    "stablehlo.return"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%go: tensor<i1>, %p: tensor<4xf32>):
    %s = braid.all_reduce sum %p groups = #g : tensor<4xf32>
    "stablehlo.return"(%p0, %s) : (tensor<i1>, tensor<4xf32>) -> ()
  }) : (tensor<i1>, tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>)
  return %r, %d#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What calls itself is not put into the body of the loop.
// REMARK-DAG: Remark="not put into the body of its loop: it calls itself, or becomes more than 20000 operations"
// CHECK-LABEL: func.func @calls
// CHECK: func.call @there
// CHECK-LABEL: func.func private @there
func.func @calls(%a: tensor<2xi32>) -> tensor<2xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %r = scf.for %i = %zero to %nine step %one iter_args(%p = %a) -> tensor<2xi32> {
    %s = func.call @there(%p) : (tensor<2xi32>) -> tensor<2xi32>
    scf.yield %s : tensor<2xi32>
  }
  return %r : tensor<2xi32>
}
func.func private @there(%p: tensor<2xi32>) -> tensor<2xi32> {
  %s = func.call @back(%p) : (tensor<2xi32>) -> tensor<2xi32>
  return %s : tensor<2xi32>
}
func.func private @back(%p: tensor<2xi32>) -> tensor<2xi32> {
  %s = braid.all_reduce sum %p groups = #braid.groups<[[0, 1]]> : tensor<2xi32>
  %t = func.call @there(%s) : (tensor<2xi32>) -> tensor<2xi32>
  return %t : tensor<2xi32>
}
