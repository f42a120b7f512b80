// RUN: braid-opt %s --braid-to-destination -split-input-file -verify-diagnostics | FileCheck %s

#pairs = #braid.groups<[[0, 1]]>

// A fresh destination: the operand is an argument, whose buffer is not ours.
// CHECK-LABEL: func.func @fresh
func.func @fresh(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[O:.*]] = bufferization.alloc_tensor() : tensor<4xf32>
  // CHECK: %[[T:.*]], %[[F:.*]] = braid.launch all_reduce ins(%arg0 : tensor<4xf32>) outs(%[[O]] : tensor<4xf32>)
  // CHECK-SAME: reduction = #braid<reduction sum>
  // CHECK: %[[R:.*]] = braid.finish %[[T]] ins(%arg0 : tensor<4xf32>) outs(%[[F]] : tensor<4xf32>)
  // CHECK: return %[[R]]
  %r = braid.all_reduce sum %a groups = #pairs : tensor<4xf32>
  return %r : tensor<4xf32>
}

// In place: the operand is computed here and dies here.
// CHECK-LABEL: func.func @in_place
func.func @in_place(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[S:.*]] = arith.addf
  // CHECK: braid.launch all_reduce outs(%[[S]] : tensor<4xf32>)
  %s = arith.addf %a, %a : tensor<4xf32>
  %r = braid.all_reduce sum %s groups = #pairs : tensor<4xf32>
  return %r : tensor<4xf32>
}

// Not in place: the operand is read afterwards; not in place: one operand twice; and only all_reduce and broadcast can.
// CHECK-LABEL: func.func @not_in_place
func.func @not_in_place(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>) {
  %s = arith.addf %a, %a : tensor<4xf32>
  %t = arith.mulf %a, %a : tensor<4xf32>
  %u = arith.subf %a, %a : tensor<4xf32>
  // CHECK: braid.launch all_reduce ins(
  %r = braid.all_reduce sum %s groups = #pairs : tensor<4xf32>
  // CHECK: braid.launch all_reduce ins(
  %q:2 = braid.all_reduce sum %t, %t groups = #pairs : tensor<4xf32>, tensor<4xf32>
  // CHECK: braid.launch all_gather ins(
  %g = braid.all_gather %u dims = [0] groups = #pairs : (tensor<4xf32>) -> tensor<8xf32>
  return %r, %s, %q#1, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
}

// start and wait are the same pair, apart; the plan goes along.
// CHECK-LABEL: func.func @in_flight
func.func @in_flight(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[T:.*]], %[[F:.*]] = braid.launch all_reduce ins(%arg0 : tensor<4xf32>)
  // CHECK-SAME: plan = #plan
  %t = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #pairs {plan = #braid.plan<engine = braid, algorithm = "ring">} : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  // CHECK-NEXT: arith.addf
  %s = arith.addf %b, %b : tensor<4xf32>
  // CHECK-NEXT: braid.finish %[[T]] ins(%arg0 : tensor<4xf32>) outs(%[[F]] : tensor<4xf32>)
  %w = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
  return %w, %s : tensor<4xf32>, tensor<4xf32>
}

// Two waits on two paths are two finishes.
// CHECK-LABEL: func.func @two_paths
func.func @two_paths(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // CHECK: %[[T:.*]], %{{.*}} = braid.launch
  %t = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #pairs : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  // CHECK: scf.if
  // CHECK: braid.finish %[[T]]
  // CHECK: else
  // CHECK: braid.finish %[[T]]
  %w = scf.if %c -> tensor<4xf32> {
    %v = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %v : tensor<4xf32>
  } else {
    %v = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %v : tensor<4xf32>
  }
  return %w : tensor<4xf32>
}

// Inits are destinations; dynamic sizes are computed.
// CHECK-LABEL: func.func @kinds
func.func @kinds(%a: tensor<4x6xf32>, %i: tensor<4x6xf32>, %g: tensor<4x12xf32>, %d: tensor<?x6xf32>) {
  // CHECK: braid.launch reduce ins(%arg0 : tensor<4x6xf32>) outs(%arg1 : tensor<4x6xf32>) {{.*}}root = 1
  %r = braid.reduce max %a init %i root = 1 groups = #pairs : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: braid.launch gather ins(%arg0 : tensor<4x6xf32>) outs(%arg2 : tensor<4x12xf32>) {dims = array<i64: 1>
  %s = braid.gather %a init %g dims = [1] root = 0 groups = #pairs : (tensor<4x6xf32>, tensor<4x12xf32>) -> tensor<4x12xf32>
  // CHECK: bufferization.alloc_tensor() : tensor<2x6xf32>
  // CHECK-NEXT: braid.launch scatter
  %t = braid.scatter %a dims = [0] root = 0 groups = #pairs : (tensor<4x6xf32>) -> tensor<2x6xf32>
  // CHECK: braid.launch all_to_all {{.*}}concat_dims = array<i64: 1>, dims = array<i64: 0>
  %u = braid.all_to_all %a split = [0] concat = [1] groups = #pairs : (tensor<4x6xf32>) -> tensor<2x12xf32>
  // CHECK: braid.launch permute {{.*}}pairs = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>
  %v = braid.permute %a pairs = [[0, 1]] : tensor<4x6xf32>
  // CHECK: braid.launch send ins(%arg0 : tensor<4x6xf32>) {peer = 1 : i64, tag = 2 : i64}
  braid.send %a peer = 1 tag = 2 : tensor<4x6xf32>
  // CHECK: braid.launch recv outs(%{{.*}} : tensor<4x6xf32>) {peer = 0 : i64, tag = 2 : i64}
  %w = braid.recv peer = 0 tag = 2 : tensor<4x6xf32>
  // CHECK: braid.launch barrier
  braid.barrier groups = #pairs
  // CHECK: %[[D:.*]] = tensor.dim %arg3, %c0
  // CHECK: %[[N:.*]] = arith.muli %[[D]], %c2
  // CHECK: bufferization.alloc_tensor(%[[N]]) : tensor<?x6xf32>
  %x = braid.all_gather %d dims = [0] groups = #pairs : (tensor<?x6xf32>) -> tensor<?x6xf32>
  // CHECK: arith.divui %{{.*}}, %c2
  %y = braid.reduce_scatter sum %d dims = [0] groups = #pairs : (tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// A slice that does not lie in one piece is copied before; one that does is not.
// CHECK-LABEL: func.func @slices
func.func @slices(%a: tensor<8x6xf32>) {
  %rows = tensor.extract_slice %a[2, 0] [4, 6] [1, 1] : tensor<8x6xf32> to tensor<4x6xf32>
  %columns = tensor.extract_slice %a[0, 2] [8, 2] [1, 1] : tensor<8x6xf32> to tensor<8x2xf32>
  // CHECK: %[[ROWS:.*]] = tensor.extract_slice %{{.*}}[2, 0]
  // CHECK: %[[COLUMNS:.*]] = tensor.extract_slice %{{.*}}[0, 2]
  // CHECK: braid.launch all_reduce ins(%[[ROWS]] :
  %r = braid.all_reduce sum %rows groups = #pairs : tensor<4x6xf32>
  // CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[COLUMNS]])
  // CHECK: braid.launch all_reduce ins(%[[C]] :
  %c = braid.all_reduce sum %columns groups = #pairs : tensor<8x2xf32>
  return
}

// -----

#pairs = #braid.groups<[[0, 1]]>

// A loop that carries a token carries the destination too; the collective is in place then. The branch inside gives the
// destination of the path.
// CHECK-LABEL: func.func @token_in_a_loop
func.func @token_in_a_loop(%a: tensor<4xf32>, %n: index, %c: i1) -> tensor<4xf32> {
  // CHECK: %[[OWN:.*]] = bufferization.alloc_tensor() copy(%arg0)
  // CHECK: %[[T:.*]], %[[D:.*]] = braid.launch all_reduce outs(%[[OWN]] :
  %t = braid.start(%y = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %y groups = #pairs : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  // CHECK: %[[LAST:.*]]:3 = scf.for {{.*}} iter_args(%[[K:.*]] = %[[T]], %{{.*}} = %arg0, %[[E:.*]] = %[[D]])
  %last:2 = scf.for %i = %n to %n step %n iter_args(%k = %t, %z = %a) -> (!braid.token, tensor<4xf32>) {
    // CHECK: %[[W:.*]] = braid.finish %[[K]] outs(%[[E]] :
    %w = braid.wait %k, %z : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: %[[SUM:.*]] = arith.addf %[[W]], %arg0
    %sum = arith.addf %w, %a : tensor<4xf32>
    // CHECK: %[[SIDE:.*]] = arith.index_castui %arg2 : i1 to index
    // CHECK: %[[NEXT:.*]]:2 = scf.index_switch %[[SIDE]]
    %next = scf.if %c -> !braid.token {
      // CHECK: case 1
      // CHECK: %[[SUM1:.*]] = bufferization.alloc_tensor() copy(%[[SUM]])
      // CHECK: %[[T1:.*]], %[[D1:.*]] = braid.launch all_reduce outs(%[[SUM1]] :
      // CHECK: scf.yield %[[T1]], %[[D1]] :
      %u = braid.start(%y = %sum) : tensor<4xf32> {
    %r = braid.all_reduce sum %y groups = #pairs : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
      scf.yield %u : !braid.token
    } else {
      // CHECK: default
      // CHECK: %[[SUM2:.*]] = bufferization.alloc_tensor() copy(%[[SUM]])
      // CHECK: %[[T2:.*]], %[[D2:.*]] = braid.launch broadcast outs(%[[SUM2]] :
      // CHECK: scf.yield %[[T2]], %[[D2]] :
      %u = braid.start(%y = %sum) : tensor<4xf32> {
    %r = braid.broadcast %y root = 0 groups = #pairs : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
      scf.yield %u : !braid.token
    }
    // CHECK: scf.yield %[[NEXT]]#0, %[[SUM]], %[[NEXT]]#1 :
    scf.yield %next, %sum : !braid.token, tensor<4xf32>
  }
  // CHECK: braid.finish %[[LAST]]#0 outs(%[[LAST]]#2 :
  %r = braid.wait %last#0, %last#1 : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#pairs = #braid.groups<[[0, 1]]>

// Not in place: a copy of the operand that nobody else can write, and the destination. Round a while loop go their buffers.
// CHECK-LABEL: func.func @gathered_in_a_while_loop
func.func @gathered_in_a_while_loop(%a: tensor<4xf32>, %c: i1) -> tensor<8xf32> {
  // CHECK: %[[OWN:.*]] = bufferization.alloc_tensor() copy(%arg0)
  // CHECK: %[[DEST:.*]] = bufferization.alloc_tensor() : tensor<8xf32>
  // CHECK: %[[IN:.*]] = bufferization.to_buffer %[[OWN]]
  // CHECK: %[[D:.*]] = bufferization.to_buffer %[[DEST]]
  // CHECK: %[[T:.*]] = braid.launch all_gather ins(%[[IN]] : memref<4xf32>) outs(%[[D]] : memref<8xf32>)
  %t = braid.start(%y = %a) : tensor<4xf32> {
    %r = braid.all_gather %y dims = [0] groups = #pairs : (tensor<4xf32>) -> tensor<8xf32>
    braid.yield %r : tensor<8xf32>
  }
  // CHECK: %[[LAST:.*]]:4 = scf.while (%[[K:.*]] = %[[T]], %[[X:.*]] = %arg0, %[[I:.*]] = %[[IN]], %[[O:.*]] = %[[D]])
  %last:2 = scf.while (%k = %t, %x = %a) : (!braid.token, tensor<4xf32>) -> (!braid.token, tensor<4xf32>) {
    // CHECK: scf.condition(%{{.*}}) %[[K]], %[[X]], %[[I]], %[[O]] :
    scf.condition(%c) %k, %x : !braid.token, tensor<4xf32>
  } do {
  ^bb0(%k: !braid.token, %x: tensor<4xf32>):
    scf.yield %k, %x : !braid.token, tensor<4xf32>
  }
  // CHECK: braid.finish %[[LAST]]#0 ins(%[[LAST]]#2 : memref<4xf32>) outs(%[[LAST]]#3 : memref<8xf32>)
  // CHECK: bufferization.to_tensor %[[LAST]]#3 restrict writable : memref<8xf32>
  %r = braid.wait %last#0, %last#1 : (tensor<4xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#pairs = #braid.groups<[[0, 1]]>

func.func private @other(!braid.token)
func.func @token_to_a_function(%a: tensor<4xf32>) {
  // expected-error @+1 {{token, expected to be waited for, or passed on by scf.for, scf.while and scf.if, got another use}}
  %t = braid.start(%y = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %y groups = #pairs : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  // expected-note @+1 {{see func.call: inline the function, or wait before it}}
  call @other(%t) : (!braid.token) -> ()
  return
}

// -----

func.func @token_from_a_caller(%t: !braid.token, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{token, expected that of a braid.start in this function, got one from a caller: inline the function, or wait where the collective was started}}
  %r = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#pairs = #braid.groups<[[0, 1]]>

func.func @tokens_that_do_not_fit(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // expected-note @+1 {{they meet here}}
  %t = scf.if %c -> !braid.token {
    // expected-note @+1 {{the other collective is started here}}
    %u = braid.start(%y = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %y groups = #pairs : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
    scf.yield %u : !braid.token
  } else {
    // expected-error @+1 {{token, expected to meet only tokens of collectives with the same tensors in flight, got permute of tensor<4xf32>, which meets all_reduce of tensor<4xf32>: wait for one of them before, or carry their tokens apart}}
    %u = braid.start(%y = %a) : tensor<4xf32> {
    %r = braid.permute %y pairs = [[0, 1]] : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
    scf.yield %u : !braid.token
  }
  %r = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @unknown_group_size(%a: tensor<?xf32>) {
  // expected-error @+1 {{groups, expected a known size where a result's size is dynamic, got #braid.groups<[]>}}
  %r = braid.all_gather %a dims = [0] groups = #braid.groups<[]> : (tensor<?xf32>) -> tensor<?xf32>
  return
}
