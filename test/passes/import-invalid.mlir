// RUN: braid-opt %s -split-input-file -verify-diagnostics --braid-import
//
// A collective that is wrong is one error, on that collective.

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "id_twice"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'replica_groups' expected each id once, got id 1 twice}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "id_out_of_range"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'replica_groups' expected ids below 4, got id 4}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 4]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "id_missing"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'replica_groups' expected every id from 0 to 3, got no id 2}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "id_missing_of_unknown_number"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'replica_groups' expected every id from 0 to 5, got no id 1}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 5]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "id_negative"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'replica_groups' expected ids that are not negative, or -1 as padding, got -2}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "zero_operands"}> ({
    // expected-error @+1 {{expected at least one operand, got none}}
    "stablehlo.all_reduce"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>, tensor<4xi32>) -> (), sym_name = "mixed_operands"}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xi32>):
    // expected-error @+1 {{expected operands of one element type in one reduction, got 'f32' and 'i32'}}
    %0:2 = "stablehlo.all_reduce"(%a, %b) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xi32>) -> (), sym_name = "region_of_another_class"}> ({
  ^bb0(%b: tensor<4xi32>):
    // expected-error @+1 {{expected a reduction region on 'i32', got one on 'f32'}}
    %0 = "stablehlo.all_reduce"(%b) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xi32>) -> (tensor<4xi32>)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "source_twice"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'source_target_pairs' expected each source once, got id 0 twice}}
    %7 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "wrong_shape"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{expected dimension 0 to be a multiple of the group size 2, got 9}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<9xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "wrong_dimension"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{expected a dimension of operand 0, which has 1, got 3}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 3 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "no_groups"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'replica_groups' expected an attribute, got none}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "flag_without_channel"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{expected a channel handle above 0 with 'use_global_device_ids', got 0}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, use_global_device_ids, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8x4xf32>) -> (), sym_name = "split_count_differs"}> ({
  ^bb0(%a: tensor<8x4xf32>):
    // expected-error @+1 {{'split_count' expected the size of a group, 2, got 4}}
    %1 = "stablehlo.all_to_all"(%a) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<8x4xf32>) -> tensor<2x16xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----

"builtin.module"() ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "id_out_of_the_mesh"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'source_target_pairs' expected ids from 0 to 3, got 4}}
    %7 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 4]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "unknown_mesh"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'replica_groups' expected a mesh of the module, got @nowhere}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @nowhere, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "unknown_axis"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'replica_groups': axis "y", expected an axis of the mesh}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">]>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "bad_device_order"}> ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'replica_groups': }}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>], device_ids=dense<[0, 2]> : tensor<2xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
