// Complaint: https://github.com/openxla/xla/issues/14397
// A policy of recomputation left nothing between the start of collectives and their ends, and the compiler made them synchronous without a
// word: only a profile showed it. Here each collective that runs beside nothing is a remark that names what awaits it.
//
// DEFINE: %{overlap} = braid-opt %s -split-input-file --braid-overlap-collectives --remarks-filter="braid-.*"
// RUN: %{overlap} -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR < %t
// RUN: braid-opt %s -split-input-file --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml placement=0:0,0:1" --remarks-filter="braid-.*" -o %t.planned 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: braid-opt %s -split-input-file --braid-export=async=false --remarks-filter=braid-export -o %t 2>&1 | FileCheck %s --check-prefix=EXPORT

// IR-LABEL: func @base
// IR-NOT: braid.start
// IR-LABEL: func @commuted
// CHECK: base.py:2:1: remark: [Missed] overlap | Category:braid-overlap-collectives | {{.*}}exposed: it is awaited at once, before dot
// PLAN: base.py:2:1: remark: [Missed] overlap | Category:braid-plan | {{.*}}exposed: {{.*}}
func.func @base(%w: tensor<64x64xf32>, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = "stablehlo.dot"(%x, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("base.py":1:1)
  %1 = braid.all_reduce sum %0 groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32> loc("base.py":2:1)
  %2 = "stablehlo.dot"(%1, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("base.py":3:1)
  return %2 : tensor<64x64xf32>
}

// -----

// The one that has work beside it is said to have, whichever comes first; the other one is not.
// CHECK-DAG: commuted.py:2:1: remark: [Passed] overlap | Category:braid-overlap-collectives | {{.*}}runs beside
// CHECK-DAG: commuted.py:4:1: remark: [Missed] overlap | Category:braid-overlap-collectives | {{.*}}exposed: nothing but collectives run before dot at commuted.py:5:1
// PLAN-DAG: commuted.py:2:1: remark: [Passed] overlap
// PLAN-DAG: commuted.py:4:1: remark: [Missed] overlap
func.func @commuted(%w: tensor<64x64xf32>, %x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = "stablehlo.dot"(%x, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("commuted.py":3:1)
  %1 = braid.all_reduce max %w groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32> loc("commuted.py":2:1)
  %2 = braid.all_reduce sum %0 groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32> loc("commuted.py":4:1)
  %3 = "stablehlo.dot"(%2, %1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("commuted.py":5:1)
  return %3, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// CHECK: loop.py:2:1: remark: [Missed] overlap | Category:braid-overlap-collectives | {{.*}}exposed: it is awaited at once, before dot
// PLAN: loop.py:2:1: remark: [Missed] overlap | Category:braid-plan | {{.*}}exposed: {{.*}}
func.func @in_a_loop(%w: tensor<64x64xf32>, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r = scf.for %i = %zero to %two step %one iter_args(%y = %x) -> tensor<64x64xf32> {
    %0 = "stablehlo.dot"(%y, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("loop.py":1:1)
    %1 = braid.all_reduce sum %0 groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32> loc("loop.py":2:1)
    %2 = "stablehlo.dot"(%1, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("loop.py":3:1)
    scf.yield %2 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// -----

// There is work that could run beside it, but another reader takes the result at once.
// CHECK: user.py:2:1: remark: [Missed] overlap | Category:braid-overlap-collectives | {{.*}}exposed: it is awaited at once, before
func.func @extra_user(%w: tensor<64x64xf32>, %x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = "stablehlo.dot"(%x, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("user.py":1:1)
  %1 = braid.all_reduce sum %0 groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32> loc("user.py":2:1)
  %2 = arith.mulf %1, %0 : tensor<64x64xf32> loc("user.py":3:1)
  %3 = "stablehlo.dot"(%2, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("user.py":4:1)
  %4 = "stablehlo.dot"(%1, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("user.py":5:1)
  return %3, %4 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// The program itself has them side by side, and behind another pair; and an export that is asked for synchronous collectives.
// CHECK-DAG: asked.py:2:1: remark: [Missed] overlap | Category:braid-overlap-collectives | {{.*}}exposed: it is asynchronous, but awaited at once, before
// CHECK-DAG: asked.py:3:1: remark: [Missed] overlap | Category:braid-overlap-collectives | {{.*}}exposed: it is asynchronous, but awaited at once, before
// CHECK-NOT: asked.py:4:1: remark: [Missed] overlap
// PLAN-DAG: asked.py:2:1: remark: [Missed] overlap | Category:braid-plan | {{.*}}exposed: it is asynchronous, but awaited at once, before
// EXPORT-COUNT-3: asked.py:{{[234]}}:1: remark: [Missed] async | Category:braid-export | {{.*}}not overlapped any more: async=false
func.func @already_in_flight(%w: tensor<64x64xf32>, %x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %t = braid.start(%y = %x) : tensor<64x64xf32> {
    %s = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32>
    braid.yield %s : tensor<64x64xf32>
  } loc("asked.py":2:1)
  %u = braid.start(%y = %w) : tensor<64x64xf32> {
    %s = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32>
    braid.yield %s : tensor<64x64xf32>
  } loc("asked.py":3:1)
  %1 = braid.wait %t, %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = braid.wait %u, %w : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %v = braid.start(%y = %1) : tensor<64x64xf32> {
    %s = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<64x64xf32>
    braid.yield %s : tensor<64x64xf32>
  } loc("asked.py":4:1)
  %3 = "stablehlo.dot"(%1, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("asked.py":5:1)
  %4 = braid.wait %v, %1 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2, %3, %4 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
