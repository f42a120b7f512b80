// Several collectives in flight that move up by a place in each trip: the loop is unrolled until every token that is handed on is
// new, or in its place.
// RUN: braid-opt %s --braid-to-destination -split-input-file -verify-diagnostics | FileCheck %s

#pair = #braid.groups<[[0, 1]]>

// Depth 2: two trips in one, and a branch for one that is left over.
// CHECK-LABEL: func.func @depth_2
// CHECK: %[[LAST:.*]]:{{[0-9]+}} = scf.for {{.*}} iter_args(%[[T0:[^ ]*]] = %token, %[[T1:[^ ]*]] = %token_0,
// CHECK: braid.finish %[[T0]]
// CHECK: %[[U:[^,]*]], %{{.*}} = braid.launch all_reduce outs
// CHECK: braid.finish %[[T1]]
// CHECK: %[[V:[^,]*]], %{{.*}} = braid.launch all_reduce outs
// CHECK: scf.yield %[[U]], %[[V]]
// CHECK: %[[REST:.*]]:{{[0-9]+}} = scf.index_switch
// CHECK: case 1
// CHECK: braid.finish %[[LAST]]#0
// CHECK: %[[W:[^,]*]], %{{.*}} = braid.launch all_reduce outs
// CHECK: scf.yield %[[LAST]]#1, %[[W]]
// CHECK: default {
// CHECK-NEXT: scf.yield %[[LAST]]#0, %[[LAST]]#1
// CHECK: braid.finish %[[REST]]#0
// CHECK: braid.finish %[[REST]]#1
func.func @depth_2(%a: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t0 = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #pair : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %t1 = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #pair : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %l:4 = scf.for %i = %zero to %n step %one iter_args(%p0 = %t0, %p1 = %t1, %q0 = %a, %q1 = %a) -> (!braid.token, !braid.token, tensor<4xf32>, tensor<4xf32>) {
    %w = braid.wait %p0, %q0 : (tensor<4xf32>) -> tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %next = linalg.add ins(%w, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %new = braid.start(%x = %next) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #pair : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    scf.yield %p1, %new, %q1, %next : !braid.token, !braid.token, tensor<4xf32>, tensor<4xf32>
  }
  %r0 = braid.wait %l#0, %l#2 : (tensor<4xf32>) -> tensor<4xf32>
  %r1 = braid.wait %l#1, %l#3 : (tensor<4xf32>) -> tensor<4xf32>
  return %r0, %r1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What a branch decides never comes into place: buffers go along then.
// CHECK-LABEL: func.func @never
// CHECK: %[[OWN:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK: %[[B0:.*]] = bufferization.to_buffer %[[OWN]] : tensor<4xf32> to memref<4xf32>
// CHECK: %[[T0:.*]] = braid.launch all_reduce outs(%[[B0]] : memref<4xf32>)
// CHECK: scf.for {{.*}} -> (!braid.token, !braid.token, memref<4xf32>, memref<4xf32>)
// CHECK: braid.finish %{{.*}} outs(%[[R:.*]] : memref<4xf32>)
// CHECK: bufferization.to_tensor %[[R]] restrict writable
#pair = #braid.groups<[[0, 1]]>
func.func @never(%a: tensor<4xf32>, %n: index, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t0 = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #pair : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %t1 = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #pair : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %l:2 = scf.for %i = %zero to %n step %one iter_args(%p0 = %t0, %p1 = %t1) -> (!braid.token, !braid.token) {
    %s:2 = scf.if %c -> (!braid.token, !braid.token) {
      scf.yield %p1, %p0 : !braid.token, !braid.token
    } else {
      scf.yield %p0, %p1 : !braid.token, !braid.token
    }
    scf.yield %s#0, %s#1 : !braid.token, !braid.token
  }
  %r0 = braid.wait %l#0, %a : (tensor<4xf32>) -> tensor<4xf32>
  %r1 = braid.wait %l#1, %a : (tensor<4xf32>) -> tensor<4xf32>
  return %r0, %r1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Different collectives meet.
#pair = #braid.groups<[[0, 1]]>
func.func @kinds(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // expected-note @+1 {{they meet here}}
  %t = scf.if %c -> !braid.token {
    // expected-note @+1 {{the other collective is started here}}
    %u = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #pair : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    scf.yield %u : !braid.token
  } else {
    // expected-error @+1 {{token, expected to meet only tokens of collectives with the same tensors in flight, got permute of tensor<4xf32>, which meets all_reduce of tensor<4xf32>: wait for one of them before, or carry their tokens apart}}
    %u = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.permute %x pairs = [[0, 1], [1, 0]] : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    scf.yield %u : !braid.token
  }
  %w = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

// A wait whose start is not visible asks for another result than the collective gives.
#pair = #braid.groups<[[0, 1]]>
func.func @another_result(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // expected-note @+1 {{the start is here}}
  %t = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_gather %x dims = [0] groups = #pair : (tensor<4xf32>) -> tensor<8xf32>
    braid.yield %r : tensor<8xf32>
  }
  %u = scf.if %c -> !braid.token {
    scf.yield %t : !braid.token
  } else {
    scf.yield %t : !braid.token
  }
  // expected-error @+1 {{results, expected the types of the collective's results: 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %w = braid.wait %u, %a : (tensor<4xf32>) -> tensor<4xf32>
  return %w : tensor<4xf32>
}
