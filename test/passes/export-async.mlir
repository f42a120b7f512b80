// RUN: braid-opt %s --braid-export | FileCheck %s
// RUN: braid-opt %s --braid-export=async=false | FileCheck %s --check-prefix=SYNC
// RUN: braid-opt %s --braid-export=consumer=stablehlo | FileCheck %s --check-prefix=STABLEHLO
//
// start and wait become async_start and async_done over one operand, with a block argument (JAX takes no other form).

// CHECK-LABEL: @one
// SYNC-LABEL: @one
func.func @one(%a: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: %[[F:.*]] = "stablehlo.async_start"(%arg0) ({
  // CHECK-NEXT: ^bb0(%[[Z:.*]]: tensor<4xf32>):
  // CHECK-NEXT: %[[G:.*]] = "stablehlo.all_gather"(%[[Z]])
  // CHECK-NEXT: "stablehlo.return"(%[[G]])
  // CHECK-NEXT: }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  // CHECK-NEXT: "stablehlo.negate"
  // CHECK-NEXT: %[[R:.*]] = "stablehlo.async_done"(%[[F]]) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  // CHECK-NEXT: return %[[R]]
  // SYNC-NOT: async
  // SYNC: %[[R:.*]] = "stablehlo.all_gather"(%arg0)
  // SYNC-NEXT: "stablehlo.negate"
  // SYNC-NEXT: return %[[R]]
  %t = braid.start(%x = %a) : tensor<4xf32> {
    %g = braid.all_gather %x dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
    braid.yield %g : tensor<8xf32>
  }
  %n = "stablehlo.negate"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %r = braid.wait %t, %a : (tensor<4xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// A bucket is packed before the start and unpacked after the wait.
// CHECK-LABEL: @bucket
func.func @bucket(%a: tensor<4xf32>, %b: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>) {
  // CHECK: %[[P:.*]] = "stablehlo.concatenate"{{.*}} -> tensor<10xf32>
  // CHECK-NEXT: %[[F:.*]] = "stablehlo.async_start"(%[[P]]) ({
  // CHECK: !stablehlo.future<tensor<10xf32>>
  // CHECK-NEXT: "stablehlo.negate"
  // CHECK-NEXT: %[[D:.*]] = "stablehlo.async_done"(%[[F]])
  // CHECK-NEXT: "stablehlo.slice"(%[[D]])
  // STABLEHLO: "stablehlo.async_start"(%arg0, %arg1)
  // STABLEHLO: !stablehlo.future<tensor<4xf32>, tensor<2x3xf32>>
  %t = braid.start(%x = %a, %y = %b) : tensor<4xf32>, tensor<2x3xf32> {
    %g:2 = braid.all_reduce sum %x, %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>, tensor<2x3xf32>
    braid.yield %g#0, %g#1 : tensor<4xf32>, tensor<2x3xf32>
  }
  %n = "stablehlo.negate"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %r:2 = braid.wait %t, %a, %b : (tensor<4xf32>, tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<2x3xf32>
}

// XLA refuses an all_to_all between two dimensions in flight, so that one is packed although it is alone.
// CHECK-LABEL: @exchange
func.func @exchange(%a: tensor<4x6xf32>) -> tensor<8x3xf32> {
  // CHECK: "stablehlo.transpose"
  // CHECK: "stablehlo.async_start"
  // CHECK: "stablehlo.all_to_all"{{.*}}concat_dimension = 0 : i64{{.*}}split_dimension = 0 : i64
  // CHECK: "stablehlo.async_done"
  %t = braid.start(%x = %a) : tensor<4x6xf32> {
    %g = braid.all_to_all %x split = [1] concat = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4x6xf32>) -> tensor<8x3xf32>
    braid.yield %g : tensor<8x3xf32>
  }
  %r = braid.wait %t, %a : (tensor<4x6xf32>) -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}
