// REQUIRES: braid-run
// A slice of a larger tensor stays one through loops, branches, views, casts and slices of slices, and as an init: what is sent is
// copied to one piece wherever it need not lie in one.
// RUN: braid-run %s -n 2 --entry sliced_twice | FileCheck %s --check-prefix=TWICE
// RUN: braid-run %s -n 2 --elements 12 --entry viewed | FileCheck %s --check-prefix=VIEWED
// RUN: braid-run %s -n 2 --entry cast | FileCheck %s --check-prefix=CAST
// RUN: braid-run %s -n 2 --entry branch | FileCheck %s --check-prefix=BRANCH
// RUN: braid-run %s -n 2 --entry loop | FileCheck %s --check-prefix=LOOP
// RUN: braid-run %s -n 2 --elements 12 --entry init | FileCheck %s --check-prefix=INIT

#pair = #braid.groups<[[0, 1]]>

// TWICE: result 0: [14, 16, 26, 28]
func.func @sliced_twice(%a: tensor<4x6xi32> {braid.data = "iota"}) -> tensor<2x2xi32> {
  %s = tensor.extract_slice %a[0, 1] [4, 2] [1, 1] : tensor<4x6xi32> to tensor<4x2xi32>
  %t = tensor.extract_slice %s[1, 0] [2, 2] [1, 1] : tensor<4x2xi32> to tensor<2x2xi32>
  %r = braid.all_reduce sum %t groups = #pair : tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}

// VIEWED: result 0: [2, 4, 6, 8, 14, 16, 18, 20]
func.func @viewed(%a: tensor<2x6xi32> {braid.data = "iota"}) -> tensor<2x2x2xi32> {
  %s = tensor.extract_slice %a[0, 1] [2, 4] [1, 1] : tensor<2x6xi32> to tensor<2x4xi32>
  %v = tensor.expand_shape %s [[0], [1, 2]] output_shape [2, 2, 2] : tensor<2x4xi32> into tensor<2x2x2xi32>
  %r = braid.all_reduce sum %v groups = #pair : tensor<2x2x2xi32>
  return %r : tensor<2x2x2xi32>
}

// The cast is folded into the operands of the finish, not into those of the launch.
// CAST: result 0: [2, 4, 14, 16]
func.func @cast(%a: tensor<2x6xi32> {braid.data = "iota"}) -> tensor<2x2xi32> {
  %s = tensor.extract_slice %a[0, 1] [2, 2] [1, 1] : tensor<2x6xi32> to tensor<2x2xi32>
  %c = tensor.cast %s : tensor<2x2xi32> to tensor<?x2xi32>
  %r = braid.all_reduce sum %c groups = #pair : tensor<?x2xi32>
  %d = tensor.cast %r : tensor<?x2xi32> to tensor<2x2xi32>
  return %d : tensor<2x2xi32>
}

// A slice on one side gives the result a layout that is not known.
// BRANCH: result 0: [0, 2, 4, 6]
func.func @branch(%a: tensor<2x2xi32> {braid.data = "iota"}, %one: tensor<i1> {braid.data = "ones"}) -> tensor<2x2xi32> {
  %c = tensor.extract %one[] : tensor<i1>
  %g = braid.all_gather %a dims = [0] groups = #pair : (tensor<2x2xi32>) -> tensor<4x2xi32>
  %x = scf.if %c -> tensor<2x2xi32> {
    %s = tensor.extract_slice %g[2, 0] [2, 2] [1, 1] : tensor<4x2xi32> to tensor<2x2xi32>
    scf.yield %s : tensor<2x2xi32>
  } else {
    scf.yield %a : tensor<2x2xi32>
  }
  %r = braid.all_reduce sum %x groups = #pair : tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}

// LOOP: result 0: [14, 4, 14, 16]
func.func @loop(%a: tensor<2x6xi32> {braid.data = "iota"}) -> tensor<2x2xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %seven = arith.constant 7 : i32
  %d = arith.addi %a, %a : tensor<2x6xi32>
  %h = arith.subi %d, %a : tensor<2x6xi32>
  %s = tensor.extract_slice %h[0, 1] [2, 2] [1, 1] : tensor<2x6xi32> to tensor<2x2xi32>
  %x:2 = scf.while (%y = %s, %n = %zero) : (tensor<2x2xi32>, index) -> (tensor<2x2xi32>, index) {
    %more = arith.cmpi slt, %n, %two : index
    scf.condition(%more) %y, %n : tensor<2x2xi32>, index
  } do {
  ^bb0(%y: tensor<2x2xi32>, %n: index):
    %z = tensor.insert %seven into %y[%zero, %zero] : tensor<2x2xi32>
    %m = arith.addi %n, %one : index
    scf.yield %z, %m : tensor<2x2xi32>, index
  }
  %r = braid.all_reduce sum %x#0 groups = #pair : tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}

// Rank 0 is the root.
// INIT: result 0: [0, 2, 4, 3, 4, 5, 6, 14, 16, 9, 10, 11]
func.func @init(%a: tensor<2x6xi32> {braid.data = "iota"}, %b: tensor<2x6xi32> {braid.data = "iota"}) -> tensor<2x6xi32> {
  %d = arith.addi %b, %b : tensor<2x6xi32>
  %h = arith.subi %d, %b : tensor<2x6xi32>
  %s = tensor.extract_slice %a[0, 1] [2, 2] [1, 1] : tensor<2x6xi32> to tensor<2x2xi32>
  %i = tensor.extract_slice %h[0, 1] [2, 2] [1, 1] : tensor<2x6xi32> to tensor<2x2xi32>
  %q = braid.reduce sum %s init %i root = 0 groups = #pair : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %r = tensor.insert_slice %q into %h[0, 1] [2, 2] [1, 1] : tensor<2x2xi32> into tensor<2x6xi32>
  return %r : tensor<2x6xi32>
}
