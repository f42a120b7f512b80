// Without a cluster: start as early as the operands allow, wait just before the first reader.
//
// RUN: braid-opt %s -split-input-file --braid-overlap-collectives | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-overlap-collectives --remarks-filter="braid-.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The collective starts in front of the work that does not need it; work that does is behind the wait.
// CHECK-LABEL: func @beside_work
// CHECK: %[[TOKEN:.*]] = braid.start(%[[X:.*]] = %arg0) : tensor<4xf32> {
// CHECK-NEXT: %[[IN:.*]] = braid.all_reduce sum %[[X]] groups
// CHECK-NEXT: braid.yield %[[IN]]
// CHECK: %[[WORK:.*]] = arith.mulf %arg1, %arg1
// CHECK: %[[SUM:.*]] = braid.wait %[[TOKEN]], %arg0
// CHECK: arith.addf %[[WORK]], %[[SUM]]
// REMARK-DAG: [Passed] overlap | Category:braid-overlap-collectives | {{.*}}runs beside 1 task
func.func @beside_work(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %work = arith.mulf %b, %b : tensor<4xf32>
  %sum = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %r = "stablehlo.dot"(%work, %sum) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = arith.addf %work, %sum : tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// The first reader comes at once: no start and wait, and a remark that says what is lost.
// CHECK-LABEL: func @nothing_beside
// CHECK-NOT: braid.start
// CHECK: braid.all_reduce sum %arg0
// REMARK-DAG: [Missed] overlap | Category:braid-overlap-collectives | {{.*}}exposed: it is awaited at once, before mulf
func.func @nothing_beside(%a: tensor<4xf32>) -> tensor<4xf32> {
  %sum = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %r = arith.mulf %sum, %sum : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Nothing is in flight across what has effects, across a loop that communicates, or a call that does.
// CHECK-LABEL: func @not_across
// CHECK: braid.start
// CHECK: "stablehlo.dot"
// CHECK: braid.wait
// CHECK: "stablehlo.custom_call"
// CHECK-NOT: braid.start
// CHECK: scf.for
// CHECK: return
func.func @not_across(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %work = "stablehlo.dot"(%b, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  "stablehlo.custom_call"() <{call_target_name = "print", has_side_effect = true}> : () -> ()
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %lower = arith.constant 0 : index
  %upper = arith.constant 2 : index
  %step = arith.constant 1 : index
  %r = scf.for %i = %lower to %upper step %step iter_args(%x = %a) -> tensor<4xf32> {
    %2 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %0, %1, %r, %work : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Groups that share two ranks or more are never in flight together, those that share one may be.
// CHECK-LABEL: func @shared_ranks
// CHECK: %[[A:.*]] = braid.start(%{{.*}} = %arg0)
// CHECK: groups = #braid.groups<{{\[\[}}0, 1, 2, 3]]>
// CHECK: "stablehlo.dot"
// CHECK: braid.wait %[[A]]
// CHECK: %[[B:.*]] = braid.start
// CHECK: groups = #braid.groups<{{\[\[}}0, 1], [2, 3]]>
// CHECK: %[[C:.*]] = braid.start
// CHECK: groups = #braid.groups<{{\[\[}}0, 2], [1, 3]]>
// CHECK: "stablehlo.dot"
// CHECK: braid.wait %[[B]]
// CHECK: braid.wait %[[C]]
func.func @shared_ranks(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %work0 = "stablehlo.dot"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
  %1 = braid.all_reduce sum %work0 groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>
  %2 = braid.all_reduce sum %work0 groups = #braid.groups<[[0, 2], [1, 3]]> : tensor<4xf32>
  %work1 = "stablehlo.dot"(%work0, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %work1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// What is asynchronous already stays as it is.
// CHECK-LABEL: func @already
// CHECK: "stablehlo.dot"(%arg1, %arg1)
// CHECK: %[[T:.*]] = braid.start
// CHECK: "stablehlo.dot"(%arg0, %arg1)
// CHECK: braid.wait %[[T]]
// REMARK-DAG: [Missed] barrier | Category:braid-overlap-collectives | {{.*}}nothing moves across braid.start: it is already asynchronous; its time is not in the prediction
func.func @already(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.dot"(%b, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %1 = "stablehlo.dot"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
  %s = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %0, %1, %r, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
