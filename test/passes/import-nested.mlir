// RUN: braid-opt %s --braid-import | FileCheck %s
// RUN: braid-opt %s --braid-import | braid-opt --braid-import | FileCheck %s
//
// Collectives are found wherever they stand. What is in the braid dialect already, planned and in flight too, goes through
// as it is (the second run imports an imported module).

// CHECK-LABEL: @main
func.func @main(%a: tensor<4xf32>, %p: tensor<i1>, %i: tensor<i32>) {
  // CHECK: "sdy.manual_computation"
  %0 = "sdy.manual_computation"(%a) <{in_shardings = #sdy.sharding_per_value<[]>}> ({
  ^bb0(%m: tensor<4xf32>):
    // CHECK: "stablehlo.while"
    // CHECK: braid.permute
    %w:2 = "stablehlo.while"(%m, %p) ({
    ^bb0(%x: tensor<4xf32>, %c: tensor<i1>):
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%x: tensor<4xf32>, %c: tensor<i1>):
      %n = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
      "stablehlo.return"(%n, %c) : (tensor<4xf32>, tensor<i1>) -> ()
    }) : (tensor<4xf32>, tensor<i1>) -> (tensor<4xf32>, tensor<i1>)
    // CHECK: "stablehlo.case"
    // CHECK: braid.all_gather
    %k = "stablehlo.case"(%i) ({
      %n = "stablehlo.all_gather"(%m) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
      "stablehlo.return"(%n) : (tensor<8xf32>) -> ()
    }) : (tensor<i32>) -> tensor<8xf32>
    // CHECK: "stablehlo.if"
    // CHECK: braid.broadcast
    %l = "stablehlo.if"(%p) ({
      %n = "stablehlo.collective_broadcast"(%m) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
      "stablehlo.return"(%n) : (tensor<4xf32>) -> ()
    }, {
      "stablehlo.return"(%m) : (tensor<4xf32>) -> ()
    }) : (tensor<i1>) -> tensor<4xf32>
    %q = func.call @inner(%m) : (tensor<4xf32>) -> tensor<4xf32>
    "sdy.return"(%q) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @inner
func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: braid.all_to_all
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @planned
func.func @planned(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[T:.*]] = braid.start(%{{.*}} = %arg0, %{{.*}} = %arg1)
  // CHECK: braid.all_reduce sum {{.*}}braid.group_key = "k"{{.*}}plan = #plan
  // CHECK: braid.wait %[[T]], %arg0, %arg1
  %t = braid.start(%x = %a, %y = %b) : tensor<4xf32>, tensor<4xf32> {
    %r:2 = braid.all_reduce sum %x, %y groups = #braid.groups<[[0, 1]]> {braid.group_key = "k", plan = #braid.plan<engine = nccl, algorithm = "ring", protocol = "LL">} : tensor<4xf32>, tensor<4xf32>
    braid.yield %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
  }
  %w:2 = braid.wait %t, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %w#0, %w#1 : tensor<4xf32>, tensor<4xf32>
}
