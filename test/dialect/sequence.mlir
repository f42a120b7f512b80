// Inlining, unrolling and folding of branches rewrite the program around its collectives. On each rank the sequence of
// collectives stays what it was: the program below is specialised to two ranks and made straight, and the steps of each
// rank are read off (calls are inlined twice, as affine loops take none). No step may come between two that are expected.
//
// DEFINE: %{pipeline} = --pass-pipeline="builtin.module(inline,canonicalize,func.func(affine-loop-unroll{unroll-factor=-1}),inline,canonicalize)"
//
// RUN: braid-opt %s %{pipeline} \
// RUN:   | FileCheck %s --implicit-check-not="step ="
//
// Controls: two steps swapped, one dropped, one doubled, in the program. The same check must see it.
// RUN: sed -e 's/"gather"/"other"/' -e 's/"shift"/"gather"/' -e 's/"other"/"shift"/' %s > %t.swapped.mlir
// RUN: braid-opt %t.swapped.mlir %{pipeline} > %t.swapped.out
// RUN: not FileCheck %s --implicit-check-not="step =" --input-file=%t.swapped.out
// RUN: sed -e 's/0 to 2 /0 to 3 /' %s > %t.doubled.mlir
// RUN: braid-opt %t.doubled.mlir %{pipeline} > %t.doubled.out
// RUN: not FileCheck %s --implicit-check-not="step =" --input-file=%t.doubled.out
// RUN: sed -e '/step = "layer"/d' -e 's/return %layer/return %x/' %s > %t.dropped.mlir
// RUN: braid-opt %t.dropped.mlir %{pipeline} > %t.dropped.out
// RUN: not FileCheck %s --implicit-check-not="step =" --input-file=%t.dropped.out

// CHECK-LABEL: func.func @rank0
// CHECK-NOT: call
// CHECK: step = "gather"
// CHECK: step = "scatter"
// CHECK: step = "layer"
// CHECK: step = "in flight"
// CHECK: step = "wait"
// CHECK: step = "layer"
// CHECK: step = "in flight"
// CHECK: step = "wait"
// CHECK: step = "root"
// CHECK: step = "shift"
// CHECK: return
// CHECK-LABEL: func.func @rank1
// CHECK-NOT: call
// CHECK: step = "gather"
// CHECK: step = "scatter"
// CHECK: step = "layer"
// CHECK: step = "in flight"
// CHECK: step = "wait"
// CHECK: step = "layer"
// CHECK: step = "in flight"
// CHECK: step = "wait"
// CHECK: step = "others"
// CHECK: step = "shift"
// CHECK: return

#all = #braid.groups<[[0, 1, 2, 3]]>

func.func @rank0(%a: tensor<4xf32>) -> tensor<4xf32> {
  %rank = arith.constant 0 : index
  %r = call @program(%rank, %a) : (index, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @rank1(%a: tensor<4xf32>) -> tensor<4xf32> {
  %rank = arith.constant 1 : index
  %r = call @program(%rank, %a) : (index, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %layer = braid.all_reduce sum %x groups = #all {step = "layer"} : tensor<4xf32>
  return %layer : tensor<4xf32>
}

func.func private @program(%rank: index, %a: tensor<4xf32>) -> tensor<4xf32> {
  %g = braid.all_gather %a dims = [0] groups = #all {step = "gather"} : (tensor<4xf32>) -> tensor<16xf32>
  %s = braid.reduce_scatter sum %g dims = [0] groups = #all {step = "scatter"} : (tensor<16xf32>) -> tensor<4xf32>
  %l = affine.for %i = 0 to 2 iter_args(%x = %s) -> tensor<4xf32> {
    %y = func.call @layer(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %token = braid.start(%z = %y) : tensor<4xf32> attributes {step = "in flight"} {
      %r = braid.all_reduce max %z groups = #all : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    %w = braid.wait %token, %y {step = "wait"} : (tensor<4xf32>) -> tensor<4xf32>
    affine.yield %w : tensor<4xf32>
  }
  %c0 = arith.constant 0 : index
  %is_root = arith.cmpi eq, %rank, %c0 : index
  %b = scf.if %is_root -> tensor<4xf32> {
    %r = braid.permute %l pairs = [[0, 0]] {step = "root"} : tensor<4xf32>
    scf.yield %r : tensor<4xf32>
  } else {
    %r = braid.broadcast %l root = 0 groups = #braid.groups<[[0], [1, 2, 3]]> {step = "others"} : tensor<4xf32>
    scf.yield %r : tensor<4xf32>
  }
  %p = braid.permute %b pairs = [[0, 1], [1, 2], [2, 3], [3, 0]] {step = "shift"} : tensor<4xf32>
  return %p : tensor<4xf32>
}
