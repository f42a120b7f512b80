// Complaint: https://github.com/openxla/xla/issues/14600, https://github.com/openxla/xla/pull/11742, https://github.com/openxla/xla/pull/15002
// Inlining and unrolling copy collectives with the numbers of their channels, and a compiler that takes the number for an identity ends
// with "channel 1 is used for different types of channel instructions". Here a number says nothing of what a collective is: equal
// numbers merge no more than different ones keep apart, and a program that was planned leaves no number to two kinds.
//
// DEFINE: %{algorithms} = --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-1x8.yaml placement=0:0,0:1"
// RUN: braid-opt %s -split-input-file --braid-import --braid-fuse-collectives %{algorithms} --braid-export --mlir-print-op-generic | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-import --braid-fuse-collectives | FileCheck %s --check-prefix=MERGED

// A gather and a sum of two bodies have number 1, another gather and another sum 2: the two sums are one bucket, and have no gather's number.
// CHECK-LABEL: sym_name = "base"
// CHECK-DAG: "stablehlo.all_gather"{{.*}}channel_handle<handle = 1, type
// CHECK-DAG: "stablehlo.all_gather"{{.*}}channel_handle<handle = 2, type
// CHECK-DAG: "stablehlo.all_reduce"{{.*}}channel_handle<handle = 3, type
// MERGED-LABEL: func @base
// MERGED: braid.all_reduce sum %{{.*}}, %{{.*}} groups
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>, tensor<4xf32>) -> (tensor<16xf32>, tensor<4xf32>, tensor<4xf32>), sym_name = "base"}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    %1 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
    "func.return"(%3, %1, %2) : (tensor<16xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----

// The sum comes first, and is not merged: it keeps the number, and the gather gets one that is free.
// CHECK-LABEL: sym_name = "commuted"
// CHECK: "stablehlo.all_reduce"{{.*}}channel_handle<handle = 3, type
// CHECK: "stablehlo.all_gather"{{.*}}channel_handle<handle = 4, type
// MERGED-LABEL: func @commuted
// MERGED: braid.all_reduce sum %{{[^,]*}} groups
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>), sym_name = "commuted"}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %1 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%y, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"(%0, %1) : (tensor<8xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----

// A body that stands in a loop and behind it: of one kind a number may be twice.
// CHECK-LABEL: sym_name = "in_a_loop"
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.all_reduce"{{.*}}channel_handle<handle = 5, type
// CHECK: "stablehlo.all_reduce"{{.*}}channel_handle<handle = 5, type
// CHECK: "stablehlo.all_gather"{{.*}}channel_handle<handle = 6, type
// MERGED-LABEL: func @in_a_loop
// MERGED-COUNT-2: braid.all_reduce sum %{{[^,]*}} groups
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>, tensor<i32>) -> (tensor<8xf32>, tensor<4xf32>), sym_name = "in_a_loop"}> ({
  ^bb0(%a: tensor<4xf32>, %n: tensor<i32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %r:2 = "stablehlo.while"(%a, %n) ({
    ^bb0(%x: tensor<4xf32>, %i: tensor<i32>):
      %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %more = "stablehlo.compare"(%i, %zero) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%more) : (tensor<i1>) -> ()
    }, {
    ^bb0(%x: tensor<4xf32>, %i: tensor<i32>):
      %t = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%u: tensor<f32>, %v: tensor<f32>):
        %s = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%s) : (tensor<f32>) -> ()
      }) : (tensor<4xf32>) -> tensor<4xf32>
      %less = "stablehlo.subtract"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%t, %less) : (tensor<4xf32>, tensor<i32>) -> ()
    }) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
    %1 = "stablehlo.all_reduce"(%r#0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %0 = "stablehlo.all_gather"(%r#0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    "func.return"(%0, %1) : (tensor<8xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----

// The gather of what the sum gives has its number.
// CHECK-LABEL: sym_name = "extra_user"
// CHECK: "stablehlo.all_reduce"{{.*}}channel_handle<handle = 2, type
// CHECK: "stablehlo.all_gather"{{.*}}channel_handle<handle = 4, type
// CHECK: "stablehlo.all_gather"{{.*}}channel_handle<handle = 3, type
// MERGED-LABEL: func @extra_user
// MERGED: braid.all_gather %{{[^,]*}} dims
// MERGED: braid.all_gather %{{[^,]*}} dims
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (tensor<8xf32>, tensor<16xf32>, tensor<4xf32>), sym_name = "extra_user"}> ({
  ^bb0(%a: tensor<4xf32>):
    %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
    %twice = "stablehlo.add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%1, %2, %twice) : (tensor<8xf32>, tensor<16xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
