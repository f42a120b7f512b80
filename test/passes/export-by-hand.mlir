// RUN: braid-opt %s --braid-export | FileCheck %s
//
// Collectives that were never StableHLO: channel, groups and region are made for them; plans and what else belongs to Braid
// do not go out, JAX would refuse them.

// CHECK: module attributes {mhlo.num_partitions = 4 : i32}
module attributes {mhlo.num_partitions = 4 : i32, braid.cluster = "c.yaml", braid.certificate = "x"} {
// CHECK-LABEL: @regions
func.func @regions(%a: tensor<4xf32>, %h: tensor<2xbf16>, %i: tensor<4xi32>) -> tensor<4xf32> {
  // CHECK: "stablehlo.all_reduce"(%arg2)
  // CHECK: "stablehlo.xor"
  %0 = braid.all_reduce xor %i groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xi32>
  // CHECK: "stablehlo.all_reduce"(%arg1)
  // CHECK: %[[U:.*]] = "stablehlo.convert"{{.*}} -> tensor<f32>
  // CHECK: %[[V:.*]] = "stablehlo.convert"{{.*}} -> tensor<f32>
  // CHECK: %[[S:.*]] = "stablehlo.add"(%[[U]], %[[V]])
  // CHECK: "stablehlo.convert"(%[[S]]) : (tensor<f32>) -> tensor<bf16>
  %1 = braid.all_reduce sum %h groups = #braid.groups<[[0, 1, 2, 3]]> {accumulate = f32} : tensor<2xbf16>
  // An average is a sum that is divided.
  // CHECK: %[[A:.*]] = "stablehlo.all_reduce"(%arg0)
  // CHECK: "stablehlo.add"
  // CHECK: %[[N:.*]] = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}>
  // CHECK: %[[B:.*]] = "stablehlo.broadcast_in_dim"(%[[N]])
  // CHECK: "stablehlo.divide"(%[[A]], %[[B]])
  %2 = braid.all_reduce average %a groups = #braid.groups<[[0, 1], [2, 3]]> {plan = #braid.plan<engine = nccl, algorithm = "ring">, braid.group_key = "k"} : tensor<4xf32>
  // CHECK-NOT: braid.
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @groups
func.func @groups(%a: tensor<4xf32>) {
  // CHECK: replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>
  %0 = braid.all_gather %a dims = [0] groups = #braid.groups<[]> : (tensor<4xf32>) -> tensor<16xf32>
  // CHECK: replica_groups = dense<{{\[\[}}0, 2], [1, 3]]>
  %1 = braid.all_gather %a dims = [0] groups = #braid.iota<[2, 2] from [2, 2] T(1, 0)> : (tensor<4xf32>) -> tensor<8xf32>
  // CHECK: replica_groups = dense<{{\[\[}}0, 1], [2, 3]]>
  %2 = braid.all_gather %a dims = [0] groups = #braid.mesh_axes<["x" = 2, "y" = 2], axes = ["x"], device_ids = [0, 2, 1, 3]> : (tensor<4xf32>) -> tensor<8xf32>
  // CHECK: replica_groups = dense<{{\[\[}}0, 1, 2], [3, -1, -1]]>
  %3 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2], [3]]> : tensor<4xf32>
  // The root comes first.
  // CHECK: "stablehlo.collective_broadcast"{{.*}}replica_groups = dense<{{\[\[}}2, 0, 1, 3]]>
  %4 = braid.broadcast %a root = 2 groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
  // CHECK: "stablehlo.collective_permute"{{.*}}channel_handle<handle = 1, type = 1>{{.*}}source_target_pairs = dense<{{\[\[}}0, 3]]>
  %5 = braid.permute %a pairs = [[0, 3]] : tensor<4xf32>
  return
}
}
