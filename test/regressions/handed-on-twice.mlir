// REQUIRES: braid-run
// A trip hands one tensor on in two places, as it is, through a branch or as a view. In the next trip one of the places is written, and the
// other one read: by a computation, or by a collective in flight. They are two buffers.
// RUN: braid-run %s -n 2 --entry for_loop | FileCheck %s
// RUN: braid-run %s -n 2 --entry for_branch | FileCheck %s
// RUN: braid-run %s -n 2 --entry for_view | FileCheck %s
// RUN: braid-run %s -n 2 --entry while_yield | FileCheck %s
// RUN: braid-run %s -n 2 --entry while_condition | FileCheck %s
// RUN: braid-run %s -n 2 --entry sent | FileCheck %s --check-prefix=SENT

// Two trips add 7 to 2, 4: 9, 11, then 16, 18.
// CHECK: result 0: [16, 18]
// CHECK: result 1: [16, 18]
func.func @for_loop(%a: tensor<2xi32> {braid.data = "iota"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %seven = arith.constant 7 : i32
  %twos = arith.constant dense<2> : tensor<2xi32>
  %double = arith.addi %a, %a : tensor<2xi32>
  %x = arith.addi %double, %twos : tensor<2xi32>
  %y = arith.muli %a, %a : tensor<2xi32>
  %l:2 = scf.for %i = %zero to %two step %one iter_args(%p = %x, %q = %y) -> (tensor<2xi32>, tensor<2xi32>) {
    %f = linalg.fill ins(%seven : i32) outs(%q : tensor<2xi32>) -> tensor<2xi32>
    %e = bufferization.alloc_tensor() : tensor<2xi32>
    %v = linalg.add ins(%p, %f : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
    scf.yield %v, %v : tensor<2xi32>, tensor<2xi32>
  }
  return %l#0, %l#1 : tensor<2xi32>, tensor<2xi32>
}

func.func @for_branch(%a: tensor<2xi32> {braid.data = "iota"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %seven = arith.constant 7 : i32
  %twos = arith.constant dense<2> : tensor<2xi32>
  %double = arith.addi %a, %a : tensor<2xi32>
  %x = arith.addi %double, %twos : tensor<2xi32>
  %y = arith.muli %a, %a : tensor<2xi32>
  %l:2 = scf.for %i = %zero to %two step %one iter_args(%p = %x, %q = %y) -> (tensor<2xi32>, tensor<2xi32>) {
    %f = linalg.fill ins(%seven : i32) outs(%q : tensor<2xi32>) -> tensor<2xi32>
    %e = bufferization.alloc_tensor() : tensor<2xi32>
    %v = linalg.add ins(%p, %f : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
    %early = arith.cmpi slt, %i, %two : index
    %either = scf.if %early -> tensor<2xi32> {
      scf.yield %v : tensor<2xi32>
    } else {
      %other = bufferization.alloc_tensor() : tensor<2xi32>
      %n = linalg.fill ins(%seven : i32) outs(%other : tensor<2xi32>) -> tensor<2xi32>
      scf.yield %n : tensor<2xi32>
    }
    scf.yield %v, %either : tensor<2xi32>, tensor<2xi32>
  }
  return %l#0, %l#1 : tensor<2xi32>, tensor<2xi32>
}

func.func @for_view(%a: tensor<2xi32> {braid.data = "iota"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %seven = arith.constant 7 : i32
  %twos = arith.constant dense<2> : tensor<2xi32>
  %double = arith.addi %a, %a : tensor<2xi32>
  %x = arith.addi %double, %twos : tensor<2xi32>
  %y = arith.muli %a, %a : tensor<2xi32>
  %y2 = tensor.expand_shape %y [[0, 1]] output_shape [1, 2] : tensor<2xi32> into tensor<1x2xi32>
  %l:2 = scf.for %i = %zero to %two step %one iter_args(%p = %x, %q = %y2) -> (tensor<2xi32>, tensor<1x2xi32>) {
    %flat = tensor.collapse_shape %q [[0, 1]] : tensor<1x2xi32> into tensor<2xi32>
    %f = linalg.fill ins(%seven : i32) outs(%flat : tensor<2xi32>) -> tensor<2xi32>
    %e = bufferization.alloc_tensor() : tensor<2xi32>
    %v = linalg.add ins(%p, %f : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
    %v2 = tensor.expand_shape %v [[0, 1]] output_shape [1, 2] : tensor<2xi32> into tensor<1x2xi32>
    scf.yield %v, %v2 : tensor<2xi32>, tensor<1x2xi32>
  }
  %r = tensor.collapse_shape %l#1 [[0, 1]] : tensor<1x2xi32> into tensor<2xi32>
  return %l#0, %r : tensor<2xi32>, tensor<2xi32>
}

// Until the first is 10 or more.
func.func @while_yield(%a: tensor<2xi32> {braid.data = "iota"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %seven = arith.constant 7 : i32
  %ten = arith.constant 10 : i32
  %twos = arith.constant dense<2> : tensor<2xi32>
  %double = arith.addi %a, %a : tensor<2xi32>
  %x = arith.addi %double, %twos : tensor<2xi32>
  %y = arith.muli %a, %a : tensor<2xi32>
  %l:2 = scf.while (%p = %x, %q = %y) : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
    %v = tensor.extract %p[%zero] : tensor<2xi32>
    %more = arith.cmpi slt, %v, %ten : i32
    scf.condition(%more) %p, %q : tensor<2xi32>, tensor<2xi32>
  } do {
  ^bb0(%p: tensor<2xi32>, %q: tensor<2xi32>):
    %f = linalg.fill ins(%seven : i32) outs(%q : tensor<2xi32>) -> tensor<2xi32>
    %e = bufferization.alloc_tensor() : tensor<2xi32>
    %v = linalg.add ins(%p, %f : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
    scf.yield %v, %v : tensor<2xi32>, tensor<2xi32>
  }
  return %l#0, %l#1 : tensor<2xi32>, tensor<2xi32>
}

func.func @while_condition(%a: tensor<2xi32> {braid.data = "iota"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %seven = arith.constant 7 : i32
  %ten = arith.constant 10 : i32
  %twos = arith.constant dense<2> : tensor<2xi32>
  %double = arith.addi %a, %a : tensor<2xi32>
  %x = arith.addi %double, %twos : tensor<2xi32>
  %l:2 = scf.while (%o = %x) : (tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
    %v = tensor.extract %o[%zero] : tensor<2xi32>
    %more = arith.cmpi slt, %v, %ten : i32
    %none = arith.constant 0 : i32
    %e = bufferization.alloc_tensor() : tensor<2xi32>
    %c = linalg.fill ins(%none : i32) outs(%e : tensor<2xi32>) -> tensor<2xi32>
    %s = linalg.add ins(%c, %o : tensor<2xi32>, tensor<2xi32>) outs(%c : tensor<2xi32>) -> tensor<2xi32>
    scf.condition(%more) %s, %s : tensor<2xi32>, tensor<2xi32>
  } do {
  ^bb0(%p: tensor<2xi32>, %q: tensor<2xi32>):
    %f = linalg.fill ins(%seven : i32) outs(%q : tensor<2xi32>) -> tensor<2xi32>
    %e = bufferization.alloc_tensor() : tensor<2xi32>
    %v = linalg.add ins(%p, %f : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
    scf.yield %v : tensor<2xi32>
  }
  return %l#0, %l#1 : tensor<2xi32>, tensor<2xi32>
}

#pair = #braid.groups<[[0, 1]]>

// Each rank gets the other one's tensor, and rank 0 the sum of x = [0, 2]; rank 1 keeps what it had, at first y = [0, 1]. After a trip they
// have [0, 2 + 4] and [0, 2 + 1], after two [0, 3 + 4] and [0, 6 + 3].
// SENT: result 0: [0, 7]
// SENT: result 1: [0, 7]
func.func @sent(%a: tensor<2xi32> {braid.data = "iota"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %x = arith.addi %a, %a : tensor<2xi32>
  %y = arith.muli %a, %a : tensor<2xi32>
  %l:2 = scf.for %i = %zero to %two step %one iter_args(%p = %x, %q = %y) -> (tensor<2xi32>, tensor<2xi32>) {
    %t = braid.start(%s = %p) : tensor<2xi32> {
      %r = braid.permute %s pairs = [[0, 1], [1, 0]] : tensor<2xi32>
      braid.yield %r : tensor<2xi32>
    }
    %r = braid.reduce sum %x init %q root = 0 groups = #pair : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %w = braid.wait %t, %p : (tensor<2xi32>) -> tensor<2xi32>
    %v = arith.addi %w, %r : tensor<2xi32>
    scf.yield %v, %v : tensor<2xi32>, tensor<2xi32>
  }
  return %l#0, %l#1 : tensor<2xi32>, tensor<2xi32>
}
