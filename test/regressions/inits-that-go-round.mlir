// REQUIRES: braid-run
// A reduce is in flight from one trip to the next, through a loop whose trips depend on data. Its init, which the ranks that are not the
// root hold on to, is a tensor that the loop hands on beside it: the collective has a copy of it.
// RUN: braid-run %s -n 2 | FileCheck %s

#pair = #braid.groups<[[0, 1]]>

// The root is rank 0. 1, 2, 4 and 8 times the first: it goes round until that.
// CHECK: result 0: [8, 16]
// CHECK: result 1: [4, 8]
func.func @main(%a: tensor<2xi32> {braid.data = "iota"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : i32
  %ones = arith.constant dense<1> : tensor<2xi32>
  %none = arith.constant dense<0> : tensor<2xi32>
  %first = arith.addi %a, %ones : tensor<2xi32>
  %other = arith.muli %a, %none : tensor<2xi32>
  %t = braid.start(%x = %first, %i = %other) : tensor<2xi32>, tensor<2xi32> {
    %s = braid.reduce sum %x init %i root = 0 groups = #pair : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    braid.yield %s : tensor<2xi32>
  }
  %l:3 = scf.while (%u = %t, %x = %first, %i = %other) : (!braid.token, tensor<2xi32>, tensor<2xi32>) -> (!braid.token, tensor<2xi32>, tensor<2xi32>) {
    %v = tensor.extract %x[%zero] : tensor<2xi32>
    %more = arith.cmpi slt, %v, %four : i32
    scf.condition(%more) %u, %x, %i : !braid.token, tensor<2xi32>, tensor<2xi32>
  } do {
  ^bb0(%u: !braid.token, %x: tensor<2xi32>, %i: tensor<2xi32>):
    %w = braid.wait %u, %x, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %v = braid.broadcast %w root = 0 groups = #pair : tensor<2xi32>
    %next = braid.start(%y = %v, %j = %w) : tensor<2xi32>, tensor<2xi32> {
      %s = braid.reduce sum %y init %j root = 0 groups = #pair : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
      braid.yield %s : tensor<2xi32>
    }
    scf.yield %next, %v, %w : !braid.token, tensor<2xi32>, tensor<2xi32>
  }
  %r = braid.wait %l#0, %l#1, %l#2 : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %r, %l#2 : tensor<2xi32>, tensor<2xi32>
}
