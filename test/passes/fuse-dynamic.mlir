// Dynamic sizes: with a hint they are planned as any other, without one they stay where they are and a remark says why.
//
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives=max-bytes=100 | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives --remarks-filter=braid-fuse-collectives -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func @hinted
// CHECK: braid.all_reduce sum %arg0, %arg1 groups = {{.*}} {braid.size_hint = array<i64: 64, 16>}
// CHECK: braid.all_reduce sum %arg2
func.func @hinted(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {braid.size_hint = array<i64: 64>} : tensor<?xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {braid.size_hint = array<i64: 16>} : tensor<?xf32>
  %2 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> {braid.size_hint = array<i64: 64>} : tensor<?xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func @unknown
// CHECK-COUNT-2: braid.all_reduce sum
// REMARK: [Missed] barrier | {{.*}}its size is dynamic and no braid.size_hint says how many bytes it has
func.func @unknown(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<?xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
