// What ids count decides which ranks take part: 2 replicas of 4 partitions, rank = replica * 4 + partition.
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" --remarks-filter=braid-plan -o /dev/null 2>&1 | FileCheck %s

// A group of replicas exists once for each partition: ranks 0 and 4, which sit on different hosts of two GPUs.
// CHECK: algorithm | Category:braid-plan | Remark="all_reduce of 16 B over 2 ranks
// A group of partitions, once for each replica.
// CHECK: algorithm | Category:braid-plan | Remark="all_reduce of 32 B over 4 ranks
// Replicas with all their partitions.
// CHECK: algorithm | Category:braid-plan | Remark="all_reduce of 64 B over 8 ranks
// Ranks 0 and 1, 2 and 3, ...: inside a host.
// CHECK: algorithm | Category:braid-plan | Remark="all_reduce of 128 B over 2 ranks
module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<4xf32>, %b: tensor<8xf32>, %c: tensor<16xf32>, %d: tensor<32xf32>) -> tensor<32xf32> {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<replica>} : tensor<4xf32>
    %b0 = "stablehlo.concatenate"(%0, %0) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    %1 = braid.all_reduce sum %b0 groups = #braid.groups<[[0, 1, 2, 3]]> {id_space = #braid.id_space<partition>} : tensor<8xf32>
    %c0 = "stablehlo.concatenate"(%1, %1) <{dimension = 0 : i64}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
    %2 = braid.all_reduce sum %c0 groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<replica_and_partition>} : tensor<16xf32>
    %d0 = "stablehlo.concatenate"(%2, %2) <{dimension = 0 : i64}> : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    %3 = braid.all_reduce sum %d0 groups = #braid.groups<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<32xf32>
    return %3 : tensor<32xf32>
  }
}
