// RUN: braid-opt %s --braid-import | FileCheck %s
//
// One collective of each kind, in the spellings that programs come in: properties, attribute dictionary, and both; groups as
// lists, everyone, mesh axes with a device order, part of an axis, inline mesh; every way of counting ids.

module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32} {
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>, sym_name = "permuted"}> : () -> ()
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "straight"}> : () -> ()

  // CHECK-LABEL: @id_spaces
  func.func @id_spaces(%a: tensor<4xf32>) {
    // CHECK: braid.all_gather %{{.*}} dims = [0] groups = #braid.iota<[4, 2] from [8]> {channel = 1 : i64} :
    %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    // CHECK: braid.all_gather %{{.*}} dims = [0] groups = #braid.iota<[1, 2] from [2]> {id_space = #braid.id_space<replica>} :
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    // A channel without the flag: every group of replicas holds all four partitions.
    // CHECK: braid.all_gather %{{.*}} {channel = 3 : i64, id_space = #braid.id_space<replica_and_partition>} : (tensor<4xf32>) -> tensor<32xf32>
    %2 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<32xf32>
    // CHECK: braid.permute %{{.*}} pairs = {{\[\[}}0, 1], [1, 2]] {channel = 1 : i64, id_space = #braid.id_space<partition>} :
    %3 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: braid.permute %{{.*}} {id_space = #braid.id_space<replica>} :
    %4 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    return
  }

  // CHECK-LABEL: @kinds
  func.func @kinds(%a: tensor<4xf32>, %b: tensor<8x4xf32>) {
    // CHECK: braid.all_reduce sum %{{.*}} groups = #braid.iota<[2, 4] from [4, 2] T(1, 0)> combiner {
    // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>):
    // CHECK-NEXT: "stablehlo.add"(%[[Y]], %[[X]])
    // CHECK: } {channel = 1 : i64, source = {variadic = 2 : i64}} : tensor<4xf32>, tensor<8x4xf32>
    %0:2 = "stablehlo.all_reduce"(%a, %b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%y, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>)
    // CHECK: braid.reduce_scatter max %{{.*}} dims = [1] groups = #braid.iota<[2, 4] from [8]>
    // CHECK: : (tensor<8x4xf32>) -> tensor<8x1xf32>
    %1 = "stablehlo.reduce_scatter"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<8x4xf32>) -> tensor<8x1xf32>
    // CHECK: braid.all_to_all %{{.*}} split = [0] concat = [1] groups = #braid.iota<[1, 4] from [4]> {channel = 1 : i64
    %2 = "stablehlo.all_to_all"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<8x4xf32>) -> tensor<2x16xf32>
    // The root is the first of its group.
    // CHECK: braid.broadcast %{{.*}} root = 0 groups = #braid.groups<{{\[\[}}3, 1], [0, 2]]>
    %3 = "stablehlo.collective_broadcast"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    return
  }

  // CHECK-LABEL: @groups
  func.func @groups(%a: tensor<4xf32>, %p: tensor<4xf32>) {
    // CHECK: groups = #braid.mesh_axes<["x" = 2, "y" = 4], axes = ["x"], device_ids = [0, 4, 1, 5, 2, 6, 3, 7]>
    %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @permuted, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    // CHECK: groups = #braid.mesh_axes<["x" = 2, "y" = 4], axes = ["y":(1)2]>
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @straight, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    // CHECK: groups = #braid.mesh_axes<["z" = 8], axes = ["z"], device_ids = [7, 6, 5, 4, 3, 2, 1, 0]>
    %2 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "z", size = 8>], device_ids=dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "z">]>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<32xf32>
    // Everyone, and rows of different length.
    // CHECK: braid.all_reduce sum %{{.*}} groups = #braid.groups<[]>
    %3 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: braid.all_reduce sum %{{.*}} groups = #braid.groups<{{\[\[}}0, 1, 2], [3, 4, 5, 6, 7]]>
    %4 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, -1, -1], [3, 4, 5, 6, 7]]> : tensor<2x5xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    // Attribute dictionary; discardable attributes stay; what Braid does not know is kept for the export.
    // CHECK: braid.all_gather %{{.*}} {channel = 2 : i64, mhlo.sharding = "s", source = {channel_type = 0 : i64, dictionary = ["channel_handle", "use_global_device_ids", "replica_groups", "all_gather_dim"]}} :
    %5 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids, mhlo.sharding = "s"} : (tensor<4xf32>) -> tensor<8xf32>
    // CHECK: source = {properties = {future_option = 5 : i32}}
    %6 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, future_option = 5 : i32, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}
