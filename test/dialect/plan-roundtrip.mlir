// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// Equal plans are printed once, with a name; what the engine decides itself is left out.
// CHECK-DAG: #[[RING:plan[0-9]*]] = #braid.plan<engine = nccl, algorithm = "ring", protocol = "Simple", channels = 16, chunks = 1, fingerprint = "5eed">
// CHECK-DAG: #[[TREE:plan[0-9]*]] = #braid.plan<engine = xla, algorithm = "tree">
// CHECK-DAG: #[[PATH:plan[0-9]*]] = #braid.plan<engine = braid, algorithm = "ring", channels = 2, path = "to4791;0-1:50003.50007;1-0:0/50001.1/50001", fingerprint = "5eed">
// CHECK-DAG: #[[FOUR:plan[0-9]*]] = #braid.plan<engine = braid, algorithm = "ring", path = "x4">
// CHECK-LABEL: func.func @plans
func.func @plans(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // CHECK: braid.all_reduce sum %{{.*}} groups = #braid.groups<{{\[\[}}0, 1]]> {plan = #[[RING]]} : tensor<4xf32>
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", protocol = "Simple", channels = 16, chunks = 1, fingerprint = "5eed">} : tensor<4xf32>
  // CHECK: braid.permute %{{.*}} pairs = {{\[\[}}0, 1]] {plan = #[[RING]]} : tensor<4xf32>
  %1 = braid.permute %a pairs = [[0, 1]] {plan = #braid.plan<algorithm = "ring", engine = nccl, protocol = "Simple", chunks = 1, channels = 16, fingerprint = "5eed">} : tensor<4xf32>
  // CHECK: braid.all_reduce sum %{{.*}} {plan = #[[TREE]]} : tensor<4xf32>
  %2 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {plan = #braid.plan<engine = xla, algorithm = "tree">} : tensor<4xf32>
  // CHECK: braid.all_reduce sum %{{.*}} {plan = #[[PATH]]} : tensor<4xf32>
  %3 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {plan = #braid.plan<engine = braid, algorithm = "ring", channels = 2, path = "to4791;0-1:50003.50007;1-0:0/50001.1/50001", fingerprint = "5eed">} : tensor<4xf32>
  // CHECK: braid.all_reduce sum %{{.*}} {plan = #[[FOUR]]} : tensor<4xf32>
  %4 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> {plan = #braid.plan<engine = braid, algorithm = "ring", path = "x4">} : tensor<4xf32>
  return
}

// Long lists are named, too.
// CHECK-LABEL: func.func @long_list
func.func @long_list(%a: tensor<4xf32>) {
  // CHECK: braid.all_reduce sum %{{.*}} groups = #groups : tensor<4xf32>
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
    21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52,
    53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64]]> : tensor<4xf32>
  return
}
