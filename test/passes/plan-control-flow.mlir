// Collectives in functions, loops and regions are planned where they are; what is asynchronous or planned already stays.
//
// RUN: braid-opt %s -split-input-file --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" --braid-verify-plan | FileCheck %s

// A function called twice is planned once, its two gradients as one launch.
// CHECK-LABEL: module @called
// CHECK-LABEL: func private @layer
// CHECK: braid.all_reduce sum %{{.*}}, %{{.*}} groups = {{.*}}plan = #
// CHECK-NOT: braid.all_reduce
module @called attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0:2 = call @layer(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %1:2 = call @layer(%0#0, %0#1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %1#0, %1#1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @layer(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<4xf32>
    %1 = braid.all_reduce sum %b groups = #braid.groups<[]> : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// The region of a manual computation; the function around it sees whole arrays and counts no memory (1 TB here).
// CHECK-LABEL: module @manual
// CHECK: "sdy.manual_computation"
// CHECK: braid.all_reduce sum %{{.*}}, %{{.*}} groups = {{.*}}plan = #
// CHECK: "sdy.return"
module @manual {
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=8]>, sym_name = "mesh"}> : () -> ()
  func.func @main(%a: tensor<1000000x262144xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %r:2 = "sdy.manual_computation"(%a) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>}> ({
    ^bb0(%x: tensor<4xf32>):
      %0 = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<4xf32>
      %w = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = braid.all_reduce sum %w groups = #braid.groups<[]> : tensor<4xf32>
      "sdy.return"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> ()
    }) : (tensor<1000000x262144xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// CHECK-LABEL: module @already
// CHECK: %[[T:.*]] = braid.start(%{{.*}} = %arg0) : tensor<4xf32> {
// CHECK-NEXT: braid.all_reduce sum %{{.*}} groups = #braid.groups<[]> : tensor<4xf32>
// CHECK: "stablehlo.dot"
// CHECK-NEXT: braid.wait %[[T]], %arg0
// CHECK: braid.all_reduce max %arg1 groups = {{.*}}plan = #
module @already attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %t = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    %1 = "stablehlo.dot"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce max %b groups = #braid.groups<[]> : tensor<4xf32>
    return %1, %r, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// No main: every function without callers is planned, as if they ran one after another.
// CHECK-LABEL: module @library
// CHECK-COUNT-2: plan = #
module @library attributes {mhlo.num_partitions = 8 : i32} {
  func.func @forward(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @backward(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
