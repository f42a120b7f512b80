// Complaint: https://github.com/openxla/xla/pull/32389
// An optimization_barrier between a product and its collective in a loop was peeled off with the collective and went to another trip, which
// changes what the program says. Here what reads a barrier's results stays behind it, in its trip, whatever is merged or started early.
//
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives --braid-overlap-collectives | FileCheck %s --check-prefixes=CHECK,EARLY
// RUN: braid-opt %s -split-input-file --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml placement=0:0,0:1 loops=keep" --braid-verify-plan | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml placement=0:0,0:1" --braid-verify-plan | FileCheck %s --check-prefix=TRIPS
//
// Where trips begin elsewhere, the collective still reads what the barrier of its own trip gives, and the next barrier reads its sum.
// TRIPS-LABEL: func.func @base
// TRIPS: %[[FIRST:.*]]:2 = "stablehlo.optimization_barrier"
// TRIPS: scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]]#0, %{{.*}} = %{{.*}}, %[[BEHIND:.*]] = %[[FIRST]]#1)
// TRIPS: braid.start(%{{.*}} = %[[BEHIND]])
// TRIPS: %[[SUM:.*]] = braid.wait %{{.*}}, %[[BEHIND]]
// TRIPS: %[[NEXT:.*]]:2 = "stablehlo.optimization_barrier"(%{{.*}}, %[[SUM]])
// TRIPS: scf.yield %[[NEXT]]#0, %{{.*}}, %[[NEXT]]#1
// TRIPS: braid.start(%{{.*}} = %{{.*}}#2)

// The collective is independent of the second product but for the barrier; it starts behind it, and is awaited in its trip.
// CHECK-LABEL: func @base
// CHECK: scf.for
// CHECK: %[[G:.*]] = "stablehlo.dot"
// CHECK: %[[B:.*]]:2 = "stablehlo.optimization_barrier"(%[[G]], %{{.*}})
// CHECK: braid.all_reduce
// CHECK: scf.yield
func.func @base(%a: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r:2 = scf.for %i = %zero to %two step %one iter_args(%x = %a, %s = %a) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %g = "stablehlo.dot"(%x, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %b:2 = "stablehlo.optimization_barrier"(%g, %s) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
    %h = "stablehlo.dot"(%b#0, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %0 = braid.all_reduce sum %b#1 groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32>
    scf.yield %h, %0 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  return %r#0, %r#1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// The collective before the barrier and the one behind it are no bucket, although nothing but the barrier leads from one to the other.
// CHECK-LABEL: func @commuted
// CHECK: scf.for
// CHECK: braid.all_reduce sum %{{[^,]*}} groups
// CHECK: %[[B:.*]]:2 = "stablehlo.optimization_barrier"
// CHECK: braid.all_reduce sum %{{[^,]*}} groups
// CHECK: scf.yield
func.func @commuted(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r:2 = scf.for %i = %zero to %two step %one iter_args(%x = %a, %y = %c) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32>
    %g = "stablehlo.dot"(%x, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %b:2 = "stablehlo.optimization_barrier"(%y, %0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
    %1 = braid.all_reduce sum %b#0 groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32>
    %h = arith.addf %g, %b#1 : tensor<64x64xf32>
    scf.yield %h, %1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  return %r#0, %r#1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// In a function that the loop calls.
// CHECK-LABEL: func private @layer
// CHECK: %[[G:.*]] = "stablehlo.dot"
// CHECK: %[[B:.*]]:2 = "stablehlo.optimization_barrier"(%[[G]], %{{.*}})
// CHECK: braid.all_reduce
// CHECK: return
func.func private @layer(%x: tensor<64x64xf32>, %s: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %g = "stablehlo.dot"(%x, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b:2 = "stablehlo.optimization_barrier"(%g, %s) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
  %h = "stablehlo.dot"(%b#0, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = braid.all_reduce sum %b#1 groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32>
  return %h, %0 : tensor<64x64xf32>, tensor<64x64xf32>
}
func.func @through_a_call(%a: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r:2 = scf.for %i = %zero to %two step %one iter_args(%x = %a, %s = %a) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %0:2 = func.call @layer(%x, %s) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
    scf.yield %0#0, %0#1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  return %r#0, %r#1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// What the barrier is given, and what it gives, is read by others too: a second collective does not read it, and may start before.
// CHECK-LABEL: func @extra_user
// CHECK: scf.for
// EARLY: braid.start
// EARLY-NEXT: braid.all_reduce sum
// CHECK: %[[G:.*]] = "stablehlo.dot"
// CHECK: %[[B:.*]]:2 = "stablehlo.optimization_barrier"(%[[G]], %[[S:.*]]) :
// CHECK-DAG: braid.all_reduce max
// CHECK-DAG: arith.addf %[[B]]#0, %[[B]]#1
// CHECK: scf.yield
func.func @extra_user(%a: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r:3 = scf.for %i = %zero to %two step %one iter_args(%x = %a, %s = %a, %z = %a) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %g = "stablehlo.dot"(%x, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %b:2 = "stablehlo.optimization_barrier"(%g, %s) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
    %0 = braid.all_reduce max %b#1 groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32>
    %1 = braid.all_reduce sum %s groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32>
    %h = arith.addf %b#0, %b#1 : tensor<64x64xf32>
    %k = arith.mulf %g, %h : tensor<64x64xf32>
    scf.yield %k, %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
