// Collectives whose result a trip only hands on complete in the next trip, under what does not need them yet: as a token and the
// operands in flight, or as the operand alone.
// RUN: braid-opt %s --braid-pipeline-loops -split-input-file | FileCheck %s
// RUN: braid-opt %s --braid-pipeline-loops=carry=operand -split-input-file | FileCheck %s --check-prefix=OPERAND
// RUN: braid-opt %s --braid-pipeline-loops -split-input-file | braid-opt -split-input-file | FileCheck %s
// RUN: braid-opt %s --braid-pipeline-loops -split-input-file --remarks-filter=braid-pipeline-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// What is carried may have a plan, and can be lowered; the verifier of plans follows tokens from trip to trip.
// RUN: braid-opt %s --braid-pipeline-loops -split-input-file --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=braid placement=0:0,0:1,0:2,0:3" --braid-verify-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" -o /dev/null
// RUN: braid-opt %s --braid-pipeline-loops -split-input-file --braid-lower-pipeline -o /dev/null

// Two layers: both gathers are in flight at the end of a trip, and each is awaited before its layer.
// CHECK-LABEL: func.func @layers
// CHECK: linalg.matmul
// CHECK: %[[T1:.*]] = braid.start(%{{.*}} = %[[S1:.*]]) : tensor<2x8xf32>
// CHECK: %[[T2:.*]] = braid.start(%{{.*}} = %[[S2:.*]]) : tensor<2x8xf32>
// CHECK: %[[LAST:.*]]:4 = scf.for %{{.*}} = %c4 to %c9 step %c1 iter_args(%[[P1:.*]] = %[[T1]], %[[Q1:.*]] = %[[S1]], %[[P2:.*]] = %[[T2]], %[[Q2:.*]] = %[[S2]])
// CHECK: linalg.exp
// CHECK: %[[W1:.*]] = braid.wait %[[P1]], %[[Q1]]
// CHECK: linalg.matmul ins(%{{.*}}, %[[W1]]
// CHECK: %[[W2:.*]] = braid.wait %[[P2]], %[[Q2]]
// CHECK: linalg.matmul ins(%{{.*}}, %[[W2]]
// CHECK: %[[N2:.*]] = braid.reduce_scatter
// CHECK: %[[N1:.*]] = braid.reduce_scatter
// CHECK: %[[U1:.*]] = braid.start(%{{.*}} = %[[N1]])
// CHECK: %[[U2:.*]] = braid.start(%{{.*}} = %[[N2]])
// CHECK: scf.yield %[[U1]], %[[N1]], %[[U2]], %[[N2]]
// CHECK: %[[R1:.*]] = braid.wait %[[LAST]]#0, %[[LAST]]#1
// CHECK: %[[R2:.*]] = braid.wait %[[LAST]]#2, %[[LAST]]#3
// CHECK: return %[[R1]], %[[R2]]

// OPERAND-LABEL: func.func @layers
// OPERAND-NOT: braid.start
// OPERAND: scf.for {{.*}} iter_args(%[[Q1:.*]] = %{{.*}}, %[[Q2:.*]] = %{{.*}}) -> (tensor<2x8xf32>, tensor<2x8xf32>)
// OPERAND-NEXT: %[[G1:.*]] = braid.all_gather %[[Q1]]
// OPERAND-NEXT: %[[G2:.*]] = braid.all_gather %[[Q2]]
// OPERAND: linalg.matmul ins(%{{.*}}, %[[G1]]
// OPERAND: linalg.matmul ins(%{{.*}}, %[[G2]]
// OPERAND: scf.yield
// OPERAND: braid.all_gather
// OPERAND: braid.all_gather

// REMARK-DAG: Remark="stays in its trip of the loop: another operation of its trip waits for it: braid.all_gather"
// REMARK-DAG: Remark="all_gather is awaited in the next trip, behind 2 kernels that do not need it"
// REMARK-DAG: Remark="all_gather is awaited in the next trip, behind 3 kernels that do not need it"
#g = #braid.groups<[[0, 1, 2, 3]]>
func.func @layers(%w1: tensor<8x8xf32>, %w2: tensor<8x8xf32>, %x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %three = arith.constant 3 : index
  %nine = arith.constant 9 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %three to %nine step %one iter_args(%a = %w1, %b = %w2) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %e = tensor.empty() : tensor<8x8xf32>
    %c0 = arith.constant 0.0 : f32
    %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    %n = linalg.exp ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    %h = linalg.matmul ins(%n, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = linalg.matmul ins(%h, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %s2 = braid.reduce_scatter sum %y dims = [0] groups = #g : (tensor<8x8xf32>) -> tensor<2x8xf32>
    %s1 = braid.reduce_scatter sum %h dims = [0] groups = #g : (tensor<8x8xf32>) -> tensor<2x8xf32>
    %g1 = braid.all_gather %s1 dims = [0] groups = #g : (tensor<2x8xf32>) -> tensor<8x8xf32>
    %g2 = braid.all_gather %s2 dims = [0] groups = #g : (tensor<2x8xf32>) -> tensor<8x8xf32>
    scf.yield %g1, %g2 : tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// A number of trips that is not known, maybe none: a branch around the loop. What is computed from the sum follows the wait, and reads
// what it read of its own trip; values are handed on in another's place; the counter is that of the trip.
// CHECK-LABEL: func.func @update
// CHECK-SAME: %[[W:.*]]: tensor<4xf32>, %[[V:.*]]: tensor<4xf32>, %[[N:.*]]: index
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[ZERO:.*]], %[[N]] : index
// CHECK: %[[R:.*]]:2 = scf.if %[[RUNS]]
// CHECK: scf.for %[[I:.*]] = %c1{{.*}} to %[[N]] {{.*}} iter_args(%[[Q:.*]] = %[[W]], %[[T:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[Q0:.*]] = %[[V]], %[[J:.*]] = %[[ZERO]])
// CHECK: linalg.exp
// CHECK: %[[S:.*]] = braid.wait %[[T]]
// CHECK: linalg.sub ins(%[[Q0]], %[[S]]
// CHECK: arith.index_cast %[[J]]
// CHECK: linalg.mul
// CHECK: braid.start
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %[[Q]], %[[I]]
// CHECK: braid.wait
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[W]], %[[V]]
// REMARK-DAG: Remark="all_reduce is awaited in the next trip, behind 1 kernel that does not need it, with 2 operations that read it"
func.func @update(%w: tensor<4xf32>, %v: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%p = %w, %q = %v) -> (tensor<4xf32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %x = linalg.exp ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %g = linalg.mul ins(%x, %p : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %g groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
    %u = linalg.sub ins(%q, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%u : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %j = arith.index_cast %i : index to i32
      %k = arith.sitofp %j : i32 to f32
      %y = arith.addf %in, %k : f32
      linalg.yield %y : f32
    } -> tensor<4xf32>
    scf.yield %z, %p : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The body of the loop in a function of its own, as JAX writes it.
// CHECK-LABEL: func.func @called
// CHECK: braid.start
// CHECK: scf.for
// CHECK-NOT: call
// CHECK: linalg.exp
// CHECK: braid.wait
// CHECK: braid.start
// CHECK: scf.yield
// CHECK: braid.wait
// CHECK-NOT: func.func private @trip
func.func @called(%w: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %r = scf.for %i = %zero to %nine step %one iter_args(%p = %w) -> (tensor<4xf32>) {
    %s = func.call @trip(%v, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @trip(%v: tensor<4xf32>, %p: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.exp ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %g = linalg.mul ins(%x, %p : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = braid.all_reduce sum %g groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// All that the loop carries is late and reads nothing of its trip: the loop that is left carries nothing.
// OPERAND-LABEL: func.func @nothing_early
// OPERAND: scf.for %{{.*}} = %c1{{.*}} to %{{.*}} step %{{.*}} {
// OPERAND-NEXT: braid.all_reduce
// OPERAND: }
// OPERAND-NEXT: %[[S:.*]] = braid.all_reduce
// OPERAND-NEXT: return %[[S]]
func.func @nothing_early(%w: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %r = scf.for %i = %zero to %nine step %one iter_args(%p = %w) -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %x = linalg.exp ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %v groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
