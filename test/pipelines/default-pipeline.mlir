// The whole pipeline on a small program: StableHLO in, planned StableHLO out, with a sidecar; or, for target=braid, the plan in IR.
//
// RUN: rm -f %t.json
// RUN: braid-opt %s --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-4x2.yaml engine=nccl objective=training quantile=0.5 placement=packed memory-limit=80GiB sidecar=%t.json target=stablehlo" --mlir-print-op-generic | FileCheck %s
// RUN: FileCheck %s --check-prefix=SIDECAR < %t.json
// RUN: braid-opt %s --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-4x2.yaml target=braid" | FileCheck %s --check-prefix=BRAID
// RUN: braid-opt %s --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-4x2.yaml" -o %t.mlir
// RUN: not braid-opt %s --braid-default-pipeline 2>&1 | FileCheck %s --check-prefix=CLUSTER
//
// Planning what was planned and exported before finds nothing to merge and still goes through.
// RUN: braid-opt %t.mlir --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-4x2.yaml" -o /dev/null

// Two gradients of one key become one packed all_reduce; the group of one rank is gone.
// CHECK: "stablehlo.concatenate"
// CHECK: "stablehlo.all_reduce"
// CHECK: tensor<32xf32>
// CHECK: "stablehlo.slice"
// CHECK-NOT: "stablehlo.all_reduce"
// CHECK-NOT: braid.all_reduce
// SIDECAR: xla
// BRAID: #plan = #braid.plan<engine = nccl
// BRAID: braid.certificate
// BRAID: braid.all_reduce sum %{{.*}}, %{{.*}} groups
// BRAID-NOT: stablehlo.all_reduce
// CLUSTER: error: cluster: expected the option 'cluster=FILE' or the module attribute 'braid.cluster', got neither
"builtin.module"() <{sym_name = "small"}> ({
  "func.func"() <{function_type = (tensor<16xf32>, tensor<4x4xf32>, tensor<4xf32>) -> (tensor<16xf32>, tensor<4x4xf32>, tensor<4xf32>), sym_name = "main"}> ({
  ^bb0(%a: tensor<16xf32>, %b: tensor<4x4xf32>, %c: tensor<4xf32>):
    %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %1 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = "stablehlo.all_reduce"(%c) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0], [1], [2], [3], [4], [5], [6], [7]]> : tensor<8x1xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%0, %1, %2) : (tensor<16xf32>, tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
