// Complaint: https://github.com/openxla/xla/pull/40903, https://github.com/openxla/xla/pull/46097
// Combined collectives lost where they came from, so that a profile no longer named the layer; and layers that have nothing to do with
// each other were combined. Here a bucket has the locations and the attributes of all members, and braid.group_key is a boundary.
//
// RUN: braid-opt %s -split-input-file --mlir-print-debuginfo --braid-fuse-collectives | FileCheck %s

// CHECK-LABEL: func @base
// CHECK: braid.all_reduce sum %arg0, %arg2 groups = {{.*}} {braid.group_key = "a", layer = "first"} : tensor<4xf32>, tensor<4xf32> loc([[A:#.*]])
// CHECK: braid.all_reduce sum %arg1, %arg3 groups = {{.*}} {braid.group_key = "b"} : tensor<4xf32>, tensor<4xf32> loc([[B:#.*]])
// CHECK-NOT: braid.all_reduce
// CHECK-DAG: [[A0:#.*]] = loc("layer0.py":1:1)
// CHECK-DAG: [[A1:#.*]] = loc("layer0.py":2:1)
// CHECK-DAG: [[B0:#.*]] = loc("layer1.py":1:1)
// CHECK-DAG: [[B1:#.*]] = loc("layer1.py":2:1)
// CHECK-DAG: [[A]] = loc(fused{{.*}}[{{.*}}[[A0]], {{.*}}[[A1]]])
// CHECK-DAG: [[B]] = loc(fused{{.*}}[{{.*}}[[B0]], {{.*}}[[B1]]])
func.func @base(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {braid.group_key = "a", layer = "first"} : tensor<4xf32> loc("layer0.py":1:1)
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {braid.group_key = "b"} : tensor<4xf32> loc("layer1.py":1:1)
  %2 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> {braid.group_key = "a", layer = "first"} : tensor<4xf32> loc("layer0.py":2:1)
  %3 = braid.all_reduce sum %d groups = #braid.groups<[[0, 1]]> {braid.group_key = "b"} : tensor<4xf32> loc("layer1.py":2:1)
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A key and none are different too.
// CHECK-LABEL: func @commuted
// CHECK-DAG: braid.all_reduce sum %arg3, %arg1 groups = {{.*}} {braid.group_key = "b"} : tensor<4xf32>, tensor<4xf32> loc([[B:#.*]])
// CHECK-DAG: braid.all_reduce sum %arg2, %arg0 groups = {{.*}}> : tensor<4xf32>, tensor<4xf32> loc([[A:#.*]])
// CHECK-NOT: braid.all_reduce
// CHECK-DAG: [[A0:#.*]] = loc("layer0.py":1:1)
// CHECK-DAG: [[A1:#.*]] = loc("layer0.py":2:1)
// CHECK-DAG: [[B0:#.*]] = loc("layer1.py":1:1)
// CHECK-DAG: [[B1:#.*]] = loc("layer1.py":2:1)
// CHECK-DAG: [[A]] = loc(fused{{.*}}[{{.*}}[[A1]], {{.*}}[[A0]]])
// CHECK-DAG: [[B]] = loc(fused{{.*}}[{{.*}}[[B1]], {{.*}}[[B0]]])
func.func @commuted(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %3 = braid.all_reduce sum %d groups = #braid.groups<[[1, 0]]> {braid.group_key = "b"} : tensor<4xf32> loc("layer1.py":2:1)
  %2 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> : tensor<4xf32> loc("layer0.py":2:1)
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {braid.group_key = "b"} : tensor<4xf32> loc("layer1.py":1:1)
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[1, 0]]> : tensor<4xf32> loc("layer0.py":1:1)
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @in_a_loop
// CHECK: scf.for
// CHECK: braid.all_reduce sum %{{[^,]*}} groups = {{.*}} {braid.group_key = "b"} : tensor<4xf32> loc([[B:#.*]])
// CHECK: braid.all_reduce sum %{{.*}}, %{{.*}} groups = {{.*}} {braid.group_key = "a"} : tensor<4xf32>, tensor<4xf32> loc([[A:#.*]])
// CHECK-NOT: braid.all_reduce
// CHECK-DAG: [[A0:#.*]] = loc("layer0.py":1:1)
// CHECK-DAG: [[A1:#.*]] = loc("layer0.py":2:1)
// CHECK-DAG: [[B]] = loc("layer1.py":1:1)
// CHECK-DAG: [[A]] = loc(fused{{.*}}[{{.*}}[[A0]], {{.*}}[[A1]]])
func.func @in_a_loop(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r:3 = scf.for %i = %zero to %two step %one iter_args(%x = %a, %y = %b, %z = %c) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> {braid.group_key = "a"} : tensor<4xf32> loc("layer0.py":1:1)
    %1 = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> {braid.group_key = "b"} : tensor<4xf32> loc("layer1.py":1:1)
    %2 = braid.all_reduce sum %z groups = #braid.groups<[[0, 1]]> {braid.group_key = "a"} : tensor<4xf32> loc("layer0.py":2:1)
    scf.yield %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// One of a bucket's results is read by the layer with the other key.
// CHECK-LABEL: func @extra_user
// CHECK: braid.all_reduce sum %arg0, %arg2 groups = {{.*}} {braid.group_key = "a"} : tensor<4xf32>, tensor<4xf32> loc([[A:#.*]])
// CHECK: arith.addf
// CHECK: braid.all_reduce sum %{{.*}} groups = {{.*}} {braid.group_key = "b"} : tensor<4xf32> loc([[B:#.*]])
// CHECK-NOT: braid.all_reduce
// CHECK-DAG: [[A0:#.*]] = loc("layer0.py":1:1)
// CHECK-DAG: [[A1:#.*]] = loc("layer0.py":2:1)
// CHECK-DAG: [[B]] = loc("layer1.py":1:1)
// CHECK-DAG: [[A]] = loc(fused{{.*}}[{{.*}}[[A0]], {{.*}}[[A1]]])
func.func @extra_user(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {braid.group_key = "a"} : tensor<4xf32> loc("layer0.py":1:1)
  %x = arith.addf %0, %b : tensor<4xf32>
  %1 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> {braid.group_key = "b"} : tensor<4xf32> loc("layer1.py":1:1)
  %2 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> {braid.group_key = "a"} : tensor<4xf32> loc("layer0.py":2:1)
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
