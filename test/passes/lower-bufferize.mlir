// What upstream's one-shot bufferization makes of launch and finish.
// RUN: braid-opt %s --pass-pipeline='builtin.module(braid-to-destination,eliminate-empty-tensors,one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map},canonicalize,cse,buffer-deallocation-pipeline,braid-verify-in-flight)' | FileCheck %s

#pairs = #braid.groups<[[0, 1]]>
#id = affine_map<(d0) -> (d0)>

// In place, no copy.
// CHECK-LABEL: func.func @in_place
func.func @in_place(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // CHECK: %[[S:.*]] = memref.alloc
  // CHECK: linalg.add ins(%{{.*}}, %{{.*}} : {{.*}}) outs(%[[S]] :
  // CHECK-NEXT: %[[T:.*]] = braid.launch all_reduce outs(%[[S]] : memref<4xf32>)
  // CHECK-NEXT: braid.finish %[[T]] outs(%[[S]] : memref<4xf32>)
  // CHECK-NEXT: return %[[S]]
  %s = linalg.add ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = braid.all_reduce sum %s groups = #pairs : tensor<4xf32>
  return %r : tensor<4xf32>
}

// The operand is overwritten while the collective reads it: the writer gets a buffer of its own. Without the operand on
// `wait`, bufferization would see it dead and write into the buffer in flight.
// CHECK-LABEL: func.func @written_in_flight
func.func @written_in_flight(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  // CHECK: %[[S:.*]] = memref.alloc
  // CHECK: linalg.add {{.*}} outs(%[[S]] :
  %s = linalg.add ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[R:.*]] = memref.alloc
  // CHECK: %[[T:.*]] = braid.launch all_reduce ins(%[[S]] : memref<4xf32>) outs(%[[R]] : memref<4xf32>)
  %t = braid.start(%x = %s) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #pairs : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  // CHECK: %[[M:.*]] = memref.alloc
  // CHECK: linalg.mul ins(%[[S]], %[[S]] : {{.*}}) outs(%[[M]] :
  %m = linalg.mul ins(%s, %s : tensor<4xf32>, tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  // CHECK: braid.finish %[[T]] ins(%[[S]] : memref<4xf32>) outs(%[[R]] : memref<4xf32>)
  %w = braid.wait %t, %s : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: memref.dealloc %[[S]]
  // CHECK: return %[[R]], %[[M]]
  return %w, %m : tensor<4xf32>, tensor<4xf32>
}

// An init that is read later is copied first; else the reduce writes into it.
// CHECK-LABEL: func.func @inits
func.func @inits(%a: tensor<4xf32>, %i: tensor<4xf32>, %j: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[C:.*]] = memref.alloc
  // CHECK: memref.copy %arg1, %[[C]]
  // CHECK: braid.launch reduce ins(%arg0 : memref<4xf32>) outs(%[[C]] : memref<4xf32>)
  %r = braid.reduce sum %a init %i root = 0 groups = #pairs : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: braid.launch reduce ins(%arg0 : memref<4xf32>) outs(%arg2 : memref<4xf32>)
  %s = braid.reduce sum %a init %j root = 0 groups = #pairs : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r, %s, %i : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// In a loop: what is in flight in one trip ends in it, and each trip frees what it made.
// CHECK-LABEL: func.func @loop
func.func @loop(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK: scf.for
  %last = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> tensor<4xf32> {
    // CHECK: %[[R:.*]] = memref.alloc
    // CHECK: %[[T:.*]] = braid.launch all_reduce ins(%[[X:.*]] : memref<4xf32>) outs(%[[R]] : memref<4xf32>)
    %t = braid.start(%y = %x) : tensor<4xf32> {
      %r = braid.all_reduce sum %y groups = #pairs : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    // CHECK: linalg.mul ins(%[[X]], %[[X]] :
    %e = tensor.empty() : tensor<4xf32>
    %m = linalg.mul ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    // CHECK: braid.finish %[[T]] ins(%[[X]] : memref<4xf32>) outs(%[[R]] : memref<4xf32>)
    %w = braid.wait %t, %x : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: linalg.add ins(%[[R]],
    %s = linalg.add ins(%w, %m : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    // CHECK: memref.dealloc %[[R]]
    scf.yield %s : tensor<4xf32>
  }
  return %last : tensor<4xf32>
}
