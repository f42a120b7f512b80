// Complaint: https://github.com/openxla/xla/pull/18772
// Who trains with sharded weights wants the collectives outside of loops combined, and those inside left alone: there is computation enough
// to hide each. A combiner that knows one rule for all cannot do that. Here in-loops=false leaves loops alone, and only them.
//
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives=in-loops=false | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives | FileCheck %s --check-prefix=MERGED

// CHECK-LABEL: func @base
// CHECK: scf.for
// CHECK-COUNT-2: braid.all_gather %{{[^,]*}} dims
// CHECK: scf.yield
// CHECK: braid.all_gather %{{.*}}, %{{.*}} dims
// CHECK-NOT: braid.all_gather
// CHECK: return
// MERGED-LABEL: func @base
// MERGED-COUNT-2: braid.all_gather %{{.*}}, %{{.*}} dims
func.func @base(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r:2 = scf.for %i = %zero to %two step %one iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = braid.all_gather %x dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
    %1 = braid.all_gather %y dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
    %2 = tensor.extract_slice %0[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %3 = tensor.extract_slice %1[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
    scf.yield %2, %3 : tensor<4xf32>, tensor<4xf32>
  }
  %4 = braid.all_gather %r#0 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
  %5 = braid.all_gather %r#1 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
  return %4, %5 : tensor<8xf32>, tensor<8xf32>
}

// -----

// The straight line comes first, and in a while loop the two trade places.
// CHECK-LABEL: func @commuted
// CHECK: braid.all_reduce sum %arg1, %arg0 groups
// CHECK: scf.while
// CHECK-COUNT-2: braid.all_reduce sum %{{[^,]*}} groups
// CHECK: scf.yield
// CHECK-NOT: braid.all_reduce
// CHECK: return
// MERGED-LABEL: func @commuted
// MERGED-COUNT-2: braid.all_reduce sum %{{.*}}, %{{.*}} groups
func.func @commuted(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: i32) -> (tensor<4xf32>, tensor<4xf32>, i32) {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %5 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %4 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %r:3 = scf.while (%x = %4, %y = %5, %i = %zero) : (tensor<4xf32>, tensor<4xf32>, i32) -> (tensor<4xf32>, tensor<4xf32>, i32) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %x, %y, %i : tensor<4xf32>, tensor<4xf32>, i32
  } do {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: i32):
    %1 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    %0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    %next = arith.addi %i, %one : i32
    scf.yield %1, %0, %next : tensor<4xf32>, tensor<4xf32>, i32
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, i32
}

// -----

// What a loop calls is in the loop; what is called outside is not.
// CHECK-LABEL: func private @layer
// CHECK-COUNT-2: braid.all_reduce sum %{{[^,]*}} groups
// CHECK-NOT: braid.all_reduce
// CHECK-LABEL: func private @last
// CHECK: braid.all_reduce sum %arg0, %arg1 groups
// CHECK-NOT: braid.all_reduce
// CHECK-LABEL: func @through_a_call
// MERGED-LABEL: func private @layer
// MERGED-COUNT-2: braid.all_reduce sum %{{.*}}, %{{.*}} groups
func.func private @layer(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %1 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @last(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %1 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func @through_a_call(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r:2 = scf.for %i = %zero to %two step %one iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %0:2 = func.call @layer(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    scf.yield %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
  }
  %1:2 = call @last(%r#0, %r#1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %1#0, %1#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Somebody else reads the results, in the loop and outside; a branch in a loop is in the loop.
// CHECK-LABEL: func @extra_user
// CHECK: scf.for
// CHECK: scf.if
// CHECK-COUNT-2: braid.all_reduce sum %{{[^,]*}} groups
// CHECK: } else {
// CHECK: braid.all_reduce sum %arg0, %arg1 groups
// CHECK-NOT: braid.all_reduce
// CHECK: return
// MERGED-LABEL: func @extra_user
// MERGED-COUNT-2: braid.all_reduce sum %{{.*}}, %{{.*}} groups
func.func @extra_user(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r = scf.for %i = %zero to %two step %one iter_args(%x = %a) -> tensor<4xf32> {
    %s = scf.if %c -> tensor<4xf32> {
      %0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
      %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
      %2 = arith.addf %0, %1 : tensor<4xf32>
      %3 = arith.mulf %2, %0 : tensor<4xf32>
      scf.yield %3 : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  }
  %4 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %5 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %6 = arith.addf %4, %5 : tensor<4xf32>
  return %r, %4, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
