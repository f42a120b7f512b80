// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @one
func.func @one(%a: tensor<4x2xf32>) -> tensor<4x8xf32> {
  // CHECK: braid.all_gather %{{.*}} dims = [1] groups = #braid.groups<{{\[\[}}0, 1, 2, 3]]> : (tensor<4x2xf32>) -> tensor<4x8xf32>
  %r = braid.all_gather %a dims = [1] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<4x2xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// A bucket may mix types and dimensions; dynamic sizes are taken on trust.
// CHECK-LABEL: func.func @bucket
func.func @bucket(%a: tensor<4xf32>, %b: tensor<3x?xi8>) {
  // CHECK: %{{.*}}:2 = braid.all_gather %{{.*}}, %{{.*}} dims = [0, 1] groups = #braid.iota<[2, 4] from [4, 2] T(1, 0)>
  // CHECK-SAME: {channel = 3 : i64} : (tensor<4xf32>, tensor<3x?xi8>) -> (tensor<16xf32>, tensor<3x12xi8>)
  %r:2 = braid.all_gather %a, %b dims = [0, 1] groups = #braid.iota<[2, 4] from [4, 2] T(1, 0)> {channel = 3 : i64}
    : (tensor<4xf32>, tensor<3x?xi8>) -> (tensor<16xf32>, tensor<3x12xi8>)
  return
}

module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 4 : i32} {
  // CHECK-LABEL: func.func @group_size_by_id_space
  func.func @group_size_by_id_space(%a: tensor<4xf32>) {
    // CHECK: -> tensor<32xf32>
    %all = braid.all_gather %a dims = [0] groups = #braid.groups<[]> : (tensor<4xf32>) -> tensor<32xf32>
    // CHECK: -> tensor<8xf32>
    %rep = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<replica>} : (tensor<4xf32>) -> tensor<8xf32>
    // CHECK: -> tensor<32xf32>
    %both = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<replica_and_partition>} : (tensor<4xf32>) -> tensor<32xf32>
    return
  }
}
