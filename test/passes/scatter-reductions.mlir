// RUN: braid-opt %s --split-input-file --braid-import --braid-scatter-reductions --remarks-filter="braid-scatter-reductions" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir
//
// An all_reduce of which each rank reads its own block is a reduce_scatter: offsets by arithmetic, by a table, by a table of a
// table; in the order of the groups or not; with a reshape in between. (Values are compared in JAX, by a bar.)

// partition_id x 4 along dimension 0.
// CHECK-LABEL: @by_arithmetic
// CHECK: %[[R:.*]] = braid.reduce_scatter sum %arg0 dims = [0] groups = #braid.iota<[1, 4] from [4]>
// CHECK: (tensor<16x3xf32>) -> tensor<4x3xf32>
// CHECK-NOT: dynamic_slice
// CHECK: return %[[R]]
// REMARK: [Passed] reduce_scatter | Category:braid-scatter-reductions | {{.*}}all_reduce of 192 B became a reduce_scatter along dimension 0: each rank reads its own of 4 blocks"
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @by_arithmetic(%a: tensor<16x3xf32>) -> tensor<4x3xf32> {
    %r = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<16x3xf32>) -> tensor<16x3xf32>
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %four = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %all = "stablehlo.constant"() <{value = dense<16> : tensor<i32>}> : () -> tensor<i32>
    %n = "stablehlo.constant"() <{value = dense<4> : tensor<ui32>}> : () -> tensor<ui32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %m = "stablehlo.remainder"(%p, %n) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %q = "stablehlo.convert"(%m) : (tensor<ui32>) -> tensor<i32>
    %o = "stablehlo.multiply"(%q, %four) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %below = "stablehlo.compare"(%o, %zero) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %around = "stablehlo.add"(%o, %all) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %w = "stablehlo.select"(%below, %around, %o) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %b = "stablehlo.dynamic_slice"(%r, %w, %zero) <{slice_sizes = array<i64: 4, 3>}> : (tensor<16x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
    return %b : tensor<4x3xf32>
  }
}

// -----

// A table of a table: four groups' ranks of two, along dimension 1. The groups stay as they are, each in its order.
// CHECK-LABEL: @by_tables
// CHECK: braid.reduce_scatter sum %arg0 dims = [1] groups = #braid.iota<[2, 4] from [4, 2] T(1, 0)>
// CHECK: (tensor<3x8xf32>) -> tensor<3x2xf32>
// CHECK-NOT: braid.all_reduce
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @by_tables(%a: tensor<3x8xf32>) -> tensor<3x2xf32> {
    %r = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %offsets = "stablehlo.constant"() <{value = dense<[0, 2, 4, 6]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %places = "stablehlo.constant"() <{value = dense<[0, 0, 1, 1, 2, 2, 3, 3]> : tensor<8xui32>}> : () -> tensor<8xui32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %k = "stablehlo.dynamic_slice"(%places, %p) <{slice_sizes = array<i64: 1>}> : (tensor<8xui32>, tensor<ui32>) -> tensor<1xui32>
    %l = "stablehlo.reshape"(%k) : (tensor<1xui32>) -> tensor<ui32>
    %t = "stablehlo.dynamic_slice"(%offsets, %l) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
    %o = "stablehlo.reshape"(%t) : (tensor<1xi32>) -> tensor<i32>
    %b = "stablehlo.dynamic_slice"(%r, %zero, %o) <{slice_sizes = array<i64: 3, 2>}> : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
    return %b : tensor<3x2xf32>
  }
}

// -----

// Blocks dealt in another order than that of the groups: the groups are put in that one. Through a reshape, read twice.
// CHECK-LABEL: @another_order
// CHECK: %[[F:.*]] = "stablehlo.reshape"(%arg0) : (tensor<2x4xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[R:.*]] = braid.reduce_scatter sum %[[F]] dims = [0] groups = #braid.groups<{{\[\[}}2, 0, 3, 1]]>
// CHECK: return %[[R]], %[[R]]
// REMARK: each rank reads its own of 4 blocks, in another order than that of the groups"
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @another_order(%a: tensor<2x4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %r = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %f = "stablehlo.reshape"(%r) : (tensor<2x4xf32>) -> tensor<8xf32>
    %offsets = "stablehlo.constant"() <{value = dense<[2, 6, 0, 4]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %t = "stablehlo.dynamic_slice"(%offsets, %p) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
    %o = "stablehlo.reshape"(%t) : (tensor<1xi32>) -> tensor<i32>
    %b = "stablehlo.dynamic_slice"(%f, %o) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
    %c = "stablehlo.dynamic_slice"(%f, %o) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
    return %b, %c : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// Groups of replicas: the offset goes by replica_id, the same in both partitions.
// CHECK-LABEL: @replicas
// CHECK: braid.reduce_scatter max %arg0 dims = [0]
// CHECK: id_space = #braid.id_space<replica>
module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32} {
  func.func @replicas(%a: tensor<6xi32>) -> tensor<3xi32> {
    %r = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %s = "stablehlo.maximum"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%s) : (tensor<i32>) -> ()
    }) : (tensor<6xi32>) -> tensor<6xi32>
    %three = "stablehlo.constant"() <{value = dense<3> : tensor<ui32>}> : () -> tensor<ui32>
    %p = "stablehlo.replica_id"() : () -> tensor<ui32>
    %o = "stablehlo.multiply"(%p, %three) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %b = "stablehlo.dynamic_slice"(%r, %o) <{slice_sizes = array<i64: 3>}> : (tensor<6xi32>, tensor<ui32>) -> tensor<3xi32>
    return %b : tensor<3xi32>
  }
}
