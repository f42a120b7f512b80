// Complaint: https://github.com/pytorch/pytorch/pull/169942, https://github.com/pytorch/pytorch/pull/185186
// One product can hide one collective; the scheduler gave it to the short one, which came first, and left the long one exposed. Here the
// long one runs beside it, in whatever order they stand.
//
// RUN: braid-opt %s -split-input-file --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" --braid-verify-plan | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-overlap-collectives="cluster=%clusters/h100-ib-ndr-1x8.yaml" --braid-verify-plan | FileCheck %s

// The product is there from the beginning; both gathers are needed behind it.
// CHECK-LABEL: func @base
// CHECK: braid.start(%{{.*}} = %arg2)
// CHECK: "stablehlo.dot"(%arg0, %arg0)
func.func @base(%x: tensor<4096x4096xf32>, %short: tensor<64x512xf32>, %long: tensor<512x4096xf32>) -> (tensor<4096x4096xf32>, tensor<512x512xf32>) {
  %s = braid.all_gather %short dims = [0] groups = #braid.iota<[1, 8] from [8]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
  %l = braid.all_gather %long dims = [0] groups = #braid.iota<[1, 8] from [8]> {braid.group_key = "long"} : (tensor<512x4096xf32>) -> tensor<4096x4096xf32>
  %h = "stablehlo.dot"(%x, %x) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = "stablehlo.dot"(%h, %l) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %t = "stablehlo.dot"(%s, %s) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r, %t : tensor<4096x4096xf32>, tensor<512x512xf32>
}

// -----

// CHECK-LABEL: func @commuted
// CHECK: braid.start(%{{.*}} = %arg2)
// CHECK: "stablehlo.dot"(%arg0, %arg0)
func.func @commuted(%x: tensor<4096x4096xf32>, %short: tensor<64x512xf32>, %long: tensor<512x4096xf32>) -> (tensor<4096x4096xf32>, tensor<512x512xf32>) {
  %h = "stablehlo.dot"(%x, %x) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %l = braid.all_gather %long dims = [0] groups = #braid.iota<[1, 8] from [8]> {braid.group_key = "long"} : (tensor<512x4096xf32>) -> tensor<4096x4096xf32>
  %s = braid.all_gather %short dims = [0] groups = #braid.iota<[1, 8] from [8]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
  %t = "stablehlo.dot"(%s, %s) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = "stablehlo.dot"(%l, %h) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r, %t : tensor<4096x4096xf32>, tensor<512x512xf32>
}

// -----

// CHECK-LABEL: func @in_a_loop
// CHECK: scf.for
// CHECK: braid.start(%{{.*}} = %arg2)
// CHECK: "stablehlo.dot"(%[[X:.*]], %[[X]])
// CHECK: scf.yield
func.func @in_a_loop(%x: tensor<4096x4096xf32>, %short: tensor<64x512xf32>, %long: tensor<512x4096xf32>) -> (tensor<4096x4096xf32>, tensor<512x512xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %u = tensor.empty() : tensor<512x512xf32>
  %q:2 = scf.for %i = %zero to %two step %one iter_args(%y = %x, %v = %u) -> (tensor<4096x4096xf32>, tensor<512x512xf32>) {
    %s = braid.all_gather %short dims = [0] groups = #braid.iota<[1, 8] from [8]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %l = braid.all_gather %long dims = [0] groups = #braid.iota<[1, 8] from [8]> {braid.group_key = "long"} : (tensor<512x4096xf32>) -> tensor<4096x4096xf32>
    %h = "stablehlo.dot"(%y, %y) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %r = "stablehlo.dot"(%h, %l) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %t = "stablehlo.dot"(%s, %v) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    scf.yield %r, %t : tensor<4096x4096xf32>, tensor<512x512xf32>
  }
  return %q#0, %q#1 : tensor<4096x4096xf32>, tensor<512x512xf32>
}

// -----

// What the short one gives is read twice.
// CHECK-LABEL: func @extra_user
// CHECK: braid.start(%{{.*}} = %arg2)
// CHECK: "stablehlo.dot"(%arg0, %arg0)
func.func @extra_user(%x: tensor<4096x4096xf32>, %short: tensor<64x512xf32>, %long: tensor<512x4096xf32>)
    -> (tensor<4096x4096xf32>, tensor<512x512xf32>, tensor<512x512xf32>) {
  %s = braid.all_gather %short dims = [0] groups = #braid.iota<[1, 8] from [8]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
  %l = braid.all_gather %long dims = [0] groups = #braid.iota<[1, 8] from [8]> {braid.group_key = "long"} : (tensor<512x4096xf32>) -> tensor<4096x4096xf32>
  %h = "stablehlo.dot"(%x, %x) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = "stablehlo.dot"(%h, %l) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %t = "stablehlo.dot"(%s, %s) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = arith.mulf %s, %s : tensor<512x512xf32>
  return %r, %t, %m : tensor<4096x4096xf32>, tensor<512x512xf32>, tensor<512x512xf32>
}
