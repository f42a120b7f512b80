// What a merged operation keeps of its members, and where the limits are.
//
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives=max-bytes=48 | FileCheck %s --check-prefix=BYTES
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives=max-count=2 | FileCheck %s --check-prefix=COUNT
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives=max-bytes=48 --remarks-filter=braid-fuse-collectives -o /dev/null 2>&1 | FileCheck %s --check-prefix=ABOVE
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives=max-count=2 --remarks-filter=braid-fuse-collectives -o /dev/null 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives --remarks-filter=braid-fuse-collectives -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func @locations_and_attributes
// CHECK: braid.reduce_scatter sum %arg0, %arg1, %arg2 dims = [0, 1, 0] groups = #braid.groups<{{\[\[}}0, 1]]>
// CHECK-SAME: {braid.group_key = "g", my.note = "first", my.other = 1 : i32}
// CHECK-SAME: loc(fused["a", "b", "c"])
// CHECK-NOT: braid.reduce_scatter
// BYTES-LABEL: func @locations_and_attributes
// BYTES: braid.reduce_scatter sum %arg0, %arg1 dims = [0, 1]
// BYTES: braid.reduce_scatter sum %arg2 dims = [0]
// COUNT-LABEL: func @locations_and_attributes
// COUNT: braid.reduce_scatter sum %arg0, %arg1 dims = [0, 1]
// COUNT: braid.reduce_scatter sum %arg2 dims = [0]
// ABOVE: not merged with the reduce_scatter at c: together 64 B are above max-bytes, 48 B
// FULL: not merged with the reduce_scatter at c: the launch has max-count, 2
// REMARK-DAG: [Passed] bucket | Category:braid-fuse-collectives | {{.*}}merged 3 reduce_scatter of 64 B into one launch, the last from c
func.func @locations_and_attributes(%a: tensor<4xf32>, %b: tensor<2x4xf32>, %c: tensor<4xf32>)
    -> (tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>) {
  %0 = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 1]]> {braid.group_key = "g", my.note = "first"}
    : (tensor<4xf32>) -> tensor<2xf32> loc("a")
  %1 = braid.reduce_scatter sum %b dims = [1] groups = #braid.groups<[[0, 1]]> {braid.group_key = "g", my.note = "second"}
    : (tensor<2x4xf32>) -> tensor<2x2xf32> loc("b")
  %2 = braid.reduce_scatter sum %c dims = [0] groups = #braid.groups<[[0, 1]]> {braid.group_key = "g", my.other = 1 : i32}
    : (tensor<4xf32>) -> tensor<2xf32> loc("c")
  return %0, %1, %2 : tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>
}

// -----

// A plan is for one size: what has one stays alone. Buckets grow onto buckets.
// CHECK-LABEL: func @planned_and_variadic
// CHECK-DAG: braid.all_reduce sum %arg0, %arg1, %arg3 groups
// CHECK-DAG: braid.all_reduce sum %arg2 groups = {{.*}} {plan =
// REMARK-DAG: [Missed] bucket | Category:braid-fuse-collectives | {{.*}}not merged: it has a plan of its own
func.func @planned_and_variadic(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = braid.all_reduce sum %a, %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>, tensor<4xf32>
  %1 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]>
    {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<4xf32>
  %2 = braid.all_reduce sum %d groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %0#0, %0#1, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Nothing crosses what has unknown effects, on which remarks say why.
// CHECK-LABEL: func @barrier
// CHECK: braid.all_reduce sum %arg0, %arg1 groups
// CHECK: "stablehlo.custom_call"
// CHECK: braid.all_reduce sum %arg2 groups
// REMARK-DAG: [Missed] barrier | Category:braid-fuse-collectives | {{.*}}nothing moves across stablehlo.custom_call: it has effects
module attributes {} {
  func.func @barrier(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    "stablehlo.custom_call"() <{call_target_name = "print", has_side_effect = true}> : () -> ()
    %2 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A collective that depends on another through computation, said so.
// REMARK-DAG: [Missed] bucket | Category:braid-fuse-collectives | {{.*}}one depends on the other
func.func @dependent(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %1 = arith.mulf %0, %0 : tensor<4xf32>
  %2 = braid.all_reduce sum %1 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return %2 : tensor<4xf32>
}
