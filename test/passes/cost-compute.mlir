// Timed computation costs what it says, without a launch, and moves like any kernel: the first collective starts under the
// second computation, which does not depend on it; what reads its result stays behind the wait.
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" --remarks-filter="braid-plan" -o %t 2>&1 | FileCheck %s --check-prefix=COST
// RUN: FileCheck %s < %t

// COST: compute | Category:braid-plan | {{.*}}0 matrix products 0 s, 0 fused kernels 0 s, 3 others 2.50 ms

// CHECK-LABEL: func.func @main
// CHECK: %[[G:.*]] = braid.compute "last layer" for "1 ms"
// CHECK: %[[T:.*]] = braid.start(%{{.*}} = %[[G]])
// CHECK: braid.compute "first layer" for "1 ms"
// CHECK: %[[R:.*]] = braid.wait %[[T]], %[[G]]
// CHECK: braid.compute "update" for "500 us" ins(%[[R]]
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%w: tensor<4194304xf32>) {
    %e = tensor.empty() : tensor<4194304xf32>
    %g = braid.compute "last layer" for "1 ms" ins(%w : tensor<4194304xf32>) outs(%e : tensor<4194304xf32>) -> tensor<4194304xf32>
    %r = braid.all_reduce sum %g groups = #braid.groups<[]> : tensor<4194304xf32>
    braid.compute "update" for "500 us" ins(%r : tensor<4194304xf32>)
    braid.compute "first layer" for "1 ms"
    return
  }
}
