"builtin.module"() <{sym_name = "jit_forward"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["data"=8]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "data", size = 8 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<24x4096x8192xf32>, tensor<24x8192x4096xf32>, tensor<32768x4096xf32>) -> tensor<32768x4096xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<24x4096x8192xf32>, %arg8: tensor<24x8192x4096xf32>, %arg9: tensor<32768x4096xf32>):
    %14 = "sdy.manual_computation"(%arg7, %arg8, %arg9) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"data"}, {}]>, <@mesh, [{}, {"data"}, {}]>, <@mesh, [{"data"}, {}]>]>, manual_axes = #sdy<manual_axes{"data"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>}> ({
    ^bb0(%arg10: tensor<24x512x8192xf32>, %arg11: tensor<24x1024x4096xf32>, %arg12: tensor<4096x4096xf32>):
      %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %16:4 = "stablehlo.while"(%arg10, %arg11, %15, %arg12) ({
      ^bb0(%arg17: tensor<24x512x8192xf32>, %arg18: tensor<24x1024x4096xf32>, %arg19: tensor<i32>, %arg20: tensor<4096x4096xf32>):
        %22 = "stablehlo.constant"() <{value = dense<24> : tensor<i32>}> : () -> tensor<i32>
        %23 = "stablehlo.compare"(%arg19, %22) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%23) : (tensor<i1>) -> ()
      }, {
      ^bb0(%arg13: tensor<24x512x8192xf32>, %arg14: tensor<24x1024x4096xf32>, %arg15: tensor<i32>, %arg16: tensor<4096x4096xf32>):
        %17 = "func.call"(%arg13, %arg15) <{callee = @dynamic_index_in_dim}> : (tensor<24x512x8192xf32>, tensor<i32>) -> tensor<512x8192xf32>
        %18 = "func.call"(%arg14, %arg15) <{callee = @dynamic_index_in_dim_0}> : (tensor<24x1024x4096xf32>, tensor<i32>) -> tensor<1024x4096xf32>
        %19 = "func.call"(%arg16, %17, %18) <{callee = @closed_call}> : (tensor<4096x4096xf32>, tensor<512x8192xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
        %20 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %21 = "stablehlo.add"(%arg15, %20) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        "stablehlo.return"(%arg13, %arg14, %21, %19) : (tensor<24x512x8192xf32>, tensor<24x1024x4096xf32>, tensor<i32>, tensor<4096x4096xf32>) -> ()
      }) : (tensor<24x512x8192xf32>, tensor<24x1024x4096xf32>, tensor<i32>, tensor<4096x4096xf32>) -> (tensor<24x512x8192xf32>, tensor<24x1024x4096xf32>, tensor<i32>, tensor<4096x4096xf32>)
      "sdy.return"(%16#3) : (tensor<4096x4096xf32>) -> ()
    }) : (tensor<24x4096x8192xf32>, tensor<24x8192x4096xf32>, tensor<32768x4096xf32>) -> tensor<32768x4096xf32>
    "func.return"(%14) : (tensor<32768x4096xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<24x512x8192xf32>, tensor<i32>) -> tensor<512x8192xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<24x512x8192xf32>, %arg6: tensor<i32>):
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %12 = "stablehlo.dynamic_slice"(%arg5, %arg6, %10, %11) <{slice_sizes = array<i64: 1, 512, 8192>}> : (tensor<24x512x8192xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x512x8192xf32>
    %13 = "stablehlo.reshape"(%12) : (tensor<1x512x8192xf32>) -> tensor<512x8192xf32>
    "func.return"(%13) : (tensor<512x8192xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<24x1024x4096xf32>, tensor<i32>) -> tensor<1024x4096xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_0", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<24x1024x4096xf32>, %arg4: tensor<i32>):
    %6 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.dynamic_slice"(%arg3, %arg4, %6, %7) <{slice_sizes = array<i64: 1, 1024, 4096>}> : (tensor<24x1024x4096xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1024x4096xf32>
    %9 = "stablehlo.reshape"(%8) : (tensor<1x1024x4096xf32>) -> tensor<1024x4096xf32>
    "func.return"(%9) : (tensor<1024x4096xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4096x4096xf32>, tensor<512x8192xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>, res_attrs = [{}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4096x4096xf32>, %arg1: tensor<512x8192xf32>, %arg2: tensor<1024x4096xf32>):
    %0 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<512x8192xf32>) -> tensor<4096x8192xf32>
    %1 = "stablehlo.all_gather"(%arg2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<1024x4096xf32>) -> tensor<8192x4096xf32>
    %2 = "stablehlo.dot_general"(%arg0, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4096x4096xf32>, tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
    %3 = "stablehlo.tanh"(%2) : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
    %4 = "stablehlo.dot_general"(%3, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4096x8192xf32>, tensor<8192x4096xf32>) -> tensor<4096x4096xf32>
    %5 = "stablehlo.add"(%arg0, %4) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    "func.return"(%5) : (tensor<4096x4096xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

