// RUN: braid-opt %s --braid-import --remarks-filter-missed=braid-import --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
//
// An asynchronous pair becomes start and wait where it fits their rules; else both halves and what is inside stay.

// CHECK-LABEL: @pair
func.func @pair(%a: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: %[[T:.*]] = braid.start(%[[Z:.*]] = %arg0) : tensor<4xf32> attributes {mhlo.a = 1 : i32} {
  // CHECK-NEXT: %[[G:.*]] = braid.all_gather %[[Z]] dims = [0]
  // CHECK-NEXT: braid.yield %[[G]] : tensor<8xf32>
  // CHECK-NEXT: }
  %f = "stablehlo.async_start"(%a) ({
  ^bb0(%z: tensor<4xf32>):
    %g = "stablehlo.all_gather"(%z) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    "stablehlo.return"(%g) : (tensor<8xf32>) -> ()
  }) {mhlo.a = 1 : i32} : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  // CHECK-NEXT: "stablehlo.negate"
  %n = "stablehlo.negate"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = braid.wait %[[T]], %arg0 {mhlo.b} : (tensor<4xf32>) -> tensor<8xf32>
  // CHECK-NEXT: return %[[R]]
  %r = "stablehlo.async_done"(%f) {mhlo.b} : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: @outer_value
// CHECK: "stablehlo.async_start"
// CHECK: "stablehlo.all_gather"
// CHECK: "stablehlo.async_done"
// REMARK: loc("outer_value"): [Missed]{{.*}}the collective inside does not take the block's arguments in order
func.func @outer_value(%a: tensor<4xf32>) -> tensor<8xf32> {
  %f = "stablehlo.async_start"(%a) ({
    %g = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    "stablehlo.return"(%g) : (tensor<8xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>> loc("outer_value")
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: @slice_inside
// CHECK: "stablehlo.async_start"
// REMARK: loc("slice_inside"): [Missed]{{.*}}'stablehlo.slice' inside is no collective that is known
func.func @slice_inside(%a: tensor<4xf32>) -> tensor<2xf32> {
  %f = "stablehlo.async_start"(%a) ({
  ^bb0(%z: tensor<4xf32>):
    %g = "stablehlo.slice"(%z) <{limit_indices = array<i64: 2>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<2xf32>
    "stablehlo.return"(%g) : (tensor<2xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>> loc("slice_inside")
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @unknown_inside
// CHECK: "stablehlo.async_start"
// CHECK: "stablehlo.all_reduce"
// REMARK: loc("reduce"): [Missed]{{.*}}the reduction region computes no reduction that is known
// REMARK: loc("unknown_inside"): [Missed]{{.*}}the collective inside does
func.func @unknown_inside(%a: tensor<4xf32>) -> tensor<4xf32> {
  %f = "stablehlo.async_start"(%a) ({
  ^bb0(%z: tensor<4xf32>):
    %g = "stablehlo.all_reduce"(%z) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.subtract"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32> loc("reduce")
    "stablehlo.return"(%g) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>> loc("unknown_inside")
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @future_as_result
// CHECK: "stablehlo.async_start"
// REMARK: loc("future_as_result"): [Missed]{{.*}}its future goes elsewhere than into an async_done
func.func @future_as_result(%a: tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>> {
  %f = "stablehlo.async_start"(%a) ({
  ^bb0(%z: tensor<4xf32>):
    %g = "stablehlo.all_gather"(%z) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    "stablehlo.return"(%g) : (tensor<8xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>> loc("future_as_result")
  return %f : !stablehlo.future<tensor<8xf32>>
}

// CHECK-LABEL: @in_a_loop
// CHECK: "stablehlo.async_start"
// CHECK: "stablehlo.async_done"
// REMARK: loc("in_a_loop"): [Missed]{{.*}}its async_done is in another block
func.func @in_a_loop(%a: tensor<4xf32>, %p: tensor<i1>) -> tensor<8xf32> {
  %f = "stablehlo.async_start"(%a) ({
  ^bb0(%z: tensor<4xf32>):
    %g = "stablehlo.all_gather"(%z) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    "stablehlo.return"(%g) : (tensor<8xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>> loc("in_a_loop")
  %r = "stablehlo.if"(%p) ({
    %d = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
    "stablehlo.return"(%d) : (tensor<8xf32>) -> ()
  }, {
    %c = "stablehlo.constant"() <{value = dense<0.0> : tensor<8xf32>}> : () -> tensor<8xf32>
    "stablehlo.return"(%c) : (tensor<8xf32>) -> ()
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
