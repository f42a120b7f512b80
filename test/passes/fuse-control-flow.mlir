// Collectives stay in the loop, branch or function they are in; a function called from two places is merged once.
//
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives | FileCheck %s

// CHECK-LABEL: func @loop
// CHECK: scf.for
// CHECK: braid.all_reduce sum %{{.*}}, %{{.*}} groups
// CHECK: scf.yield
// CHECK: braid.all_reduce sum %{{.*}}, %{{.*}} groups
// CHECK-NOT: braid.all_reduce
// CHECK: return
func.func @loop(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %lower = arith.constant 3 : index
  %upper = arith.constant 11 : index
  %step = arith.constant 2 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    %1 = arith.addf %0, %0 : tensor<4xf32>
    %2 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    scf.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
  %3 = braid.all_reduce sum %r#0 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %4 = braid.all_reduce sum %r#1 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %3, %4 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @main
// CHECK: call @layer
// CHECK: call @layer
// CHECK-LABEL: func private @layer
// CHECK: braid.all_reduce sum %arg0, %arg1 groups
// CHECK-NOT: braid.all_reduce
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = call @layer(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1:2 = call @layer(%0#0, %0#1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %1#0, %1#1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @layer(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Both sides of a branch are merged inside, none is merged out of it.
// CHECK-LABEL: func @branch
// CHECK: scf.if
// CHECK: braid.all_reduce sum %arg0, %arg1 groups
// CHECK: else
// CHECK: braid.all_reduce max %arg0, %arg1 groups
// CHECK-NOT: braid.all_reduce
func.func @branch(%a: tensor<4xf32>, %b: tensor<4xf32>, %p: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = scf.if %p -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    scf.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  } else {
    %0 = braid.all_reduce max %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    %1 = braid.all_reduce max %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    scf.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// optimization_barrier is an operation with operands: what reads its results stays behind it, what does not may move.
// CHECK-LABEL: func @optimization_barrier
// CHECK: braid.all_reduce sum %arg0, %arg2 groups
// CHECK: "stablehlo.optimization_barrier"
// CHECK: braid.all_reduce sum
func.func @optimization_barrier(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %1:2 = "stablehlo.optimization_barrier"(%0, %b) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = braid.all_reduce sum %1#1 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %3 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %1#0, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A loop with an effect inside is a barrier outside; a loop without one is not.
// CHECK-LABEL: func @pure_inside
// CHECK: scf.for
// CHECK: braid.all_reduce sum %arg0, %arg1 groups
// CHECK-NOT: braid.all_reduce sum %arg1
func.func @pure_inside(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %lower = arith.constant 0 : index
  %upper = arith.constant 2 : index
  %step = arith.constant 1 : index
  %r = scf.for %i = %lower to %upper step %step iter_args(%x = %a) -> (tensor<4xf32>) {
    %1 = braid.all_reduce max %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %2 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %0, %r, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @effect_inside
// CHECK: braid.all_reduce sum %arg0 groups
// CHECK: scf.for
// CHECK: braid.all_reduce sum %arg1 groups
func.func @effect_inside(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %lower = arith.constant 0 : index
  %upper = arith.constant 2 : index
  %step = arith.constant 1 : index
  %r = scf.for %i = %lower to %upper step %step iter_args(%x = %a) -> (tensor<4xf32>) {
    "stablehlo.custom_call"() <{call_target_name = "print", has_side_effect = true}> : () -> ()
    %1 = braid.all_reduce max %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %2 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %0, %r, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
