// RUN: braid-opt %s --braid-export --remarks-filter="braid-export" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir
// RUN: braid-opt %s --braid-export=consumer=stablehlo | FileCheck %s
// RUN: braid-opt %s --braid-export=async=false | FileCheck %s --check-prefix=SYNC
//
// What was written comes back as the two collectives that it is, and goes out again as it came.
// RUN: braid-opt %t.mlir --braid-import | FileCheck %s --check-prefix=BACK
// RUN: braid-opt %t.mlir --braid-import --braid-export -o %t.again.mlir
// RUN: diff %t.mlir %t.again.mlir
//
// An all_reduce that is planned as a reduce_scatter and an all_gather goes out as both, padded so that each rank has a share of
// whole elements.

#both = #braid.plan<engine = nccl, algorithm = "reduce_scatter+all_gather", protocol = "Simple", channels = 16, chunks = 0, fingerprint = "0">

module attributes {mhlo.num_partitions = 4 : i32} {
  // Each rank has 6 of 24 elements: reshapes, no copies.
  // CHECK-LABEL: @even
  // CHECK-NEXT: %[[P:.*]] = "stablehlo.reshape"(%arg0) : (tensor<2x12xf32>) -> tensor<24xf32>
  // CHECK-NEXT: %[[S:.*]] = "stablehlo.reduce_scatter"(%[[P]]) <{{.*}}replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids
  // CHECK: "stablehlo.add"
  // CHECK: }) : (tensor<24xf32>) -> tensor<6xf32>
  // CHECK-NEXT: %[[G:.*]] = "stablehlo.all_gather"(%[[S]]) <{all_gather_dim = 0 : i64, {{.*}}replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids{{.*}} : (tensor<6xf32>) -> tensor<24xf32>
  // CHECK-NEXT: %[[R:.*]] = "stablehlo.reshape"(%[[G]]) : (tensor<24xf32>) -> tensor<2x12xf32>
  // CHECK-NEXT: return %[[R]]
  // BACK-LABEL: @even
  // BACK: braid.reduce_scatter sum %{{.*}} dims = [0]
  // BACK: braid.all_gather %{{.*}} dims = [0]
  func.func @even(%a: tensor<2x12xf32>) -> tensor<2x12xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> {plan = #both} : tensor<2x12xf32>
    return %r : tensor<2x12xf32>
  }

  // 5 elements, 3 zeros behind them; an average is divided at the end.
  // CHECK-LABEL: @padded
  // CHECK-NEXT: %[[Z:.*]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<3xbf16>}>
  // CHECK-NEXT: %[[P:.*]] = "stablehlo.concatenate"(%arg0, %[[Z]]) <{dimension = 0 : i64}> : (tensor<5xbf16>, tensor<3xbf16>) -> tensor<8xbf16>
  // CHECK-NEXT: "stablehlo.reduce_scatter"(%[[P]])
  // CHECK: -> tensor<2xbf16>
  // CHECK-NEXT: "stablehlo.all_gather"
  // CHECK: "stablehlo.divide"
  // CHECK-NEXT: "stablehlo.slice"{{.*}} <{limit_indices = array<i64: 5>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<8xbf16>) -> tensor<5xbf16>
  func.func @padded(%a: tensor<5xbf16>) -> tensor<5xbf16> {
    %r = braid.all_reduce average %a groups = #braid.groups<[[0, 1, 2, 3]]> {plan = #both} : tensor<5xbf16>
    return %r : tensor<5xbf16>
  }

  // A bucket, in flight: two pairs, the second from halfway on.
  // CHECK-LABEL: @bucket
  // CHECK: "stablehlo.concatenate"{{.*}} : (tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[F:.*]] = "stablehlo.async_start"
  // CHECK: "stablehlo.reduce_scatter"
  // CHECK: !stablehlo.future<tensor<2xf32>>
  // CHECK-NEXT: "stablehlo.negate"
  // CHECK-NEXT: "stablehlo.abs"
  // CHECK-NEXT: %[[H:.*]] = "stablehlo.async_done"(%[[F]]) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  // CHECK-NEXT: %[[G:.*]] = "stablehlo.async_start"(%[[H]])
  // CHECK: "stablehlo.all_gather"
  // CHECK: !stablehlo.future<tensor<8xf32>>
  // CHECK-NEXT: "stablehlo.sine"
  // CHECK-NEXT: "stablehlo.async_done"(%[[G]]) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  // SYNC-LABEL: @bucket
  // SYNC: "stablehlo.concatenate"
  // SYNC-NEXT: "stablehlo.reduce_scatter"
  // SYNC: "stablehlo.all_gather"
  // SYNC-NOT: async
  func.func @bucket(%a: tensor<2x3xf32>, %b: tensor<f32>) -> (tensor<2x3xf32>, tensor<f32>, tensor<f32>) {
    %t = braid.start(%x = %a, %y = %b) : tensor<2x3xf32>, tensor<f32> {
      %g:2 = braid.all_reduce sum %x, %y groups = #braid.groups<[]> {plan = #both} : tensor<2x3xf32>, tensor<f32>
      braid.yield %g#0, %g#1 : tensor<2x3xf32>, tensor<f32>
    }
    %m = "stablehlo.negate"(%b) : (tensor<f32>) -> tensor<f32>
    %n = "stablehlo.abs"(%m) : (tensor<f32>) -> tensor<f32>
    %o = "stablehlo.sine"(%n) : (tensor<f32>) -> tensor<f32>
    %r:2 = braid.wait %t, %a, %b : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<f32>)
    return %r#0, %r#1, %o : tensor<2x3xf32>, tensor<f32>, tensor<f32>
  }

  // Nothing can be padded whose size is not known: one all_reduce, and that is said.
  // REMARK: [Missed] composition | Category:braid-export | {{.*}}goes out as one all_reduce, planned as a reduce_scatter and an all_gather: its size is dynamic
  // CHECK-LABEL: @dynamic
  // CHECK: "stablehlo.all_reduce"
  func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> {braid.size_hint = array<i64: 64>, plan = #both} : tensor<?xf32>
    return %r : tensor<?xf32>
  }
}
