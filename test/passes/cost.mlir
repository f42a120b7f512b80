// Computation on an H100 (989 Tflop/s bf16, half of it reached; 67 Tflop/s f32 beside the matrix units; 3.35 TB/s, 80 % of it reached;
// 5 us a launch), as the remark "compute" breaks it down.
//
// RUN: braid-opt %s -split-input-file --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" --remarks-filter="braid-plan" -o /dev/null 2>&1 | FileCheck %s

// 2 * 4096^3 / (0.5 * 989e12) = 278 us, and a launch.
// CHECK: compute | Category:braid-plan | {{.*}}1 matrix products 283 us, 0 fused kernels 0 s, 0 others 0 s
module @matmul attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<4096x4096xbf16>, %s: tensor<4xf32>) -> (tensor<4096x4096xbf16>, tensor<4xf32>) {
    %0 = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
      : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %1 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %0, %1 : tensor<4096x4096xbf16>, tensor<4xf32>
  }
}

// -----

// Batches count through the result, contraction through the operand: 2 * 8 * 1024^2 * 64 flops are 2.2 us, so the 18.9 MB of memory
// traffic bound it: 7.0 us, and a launch. f32 products of highest precision: 2 * 4096^3 / (0.5 * 67e12) = 4.1 ms.
// CHECK: compute | Category:braid-plan | {{.*}}2 matrix products 4.12 ms, 0 fused
module @batched attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<8x1024x64xbf16>, %b: tensor<4096x4096xf32>, %s: tensor<4xf32>) -> (tensor<8x1024x1024xbf16>, tensor<4096x4096xf32>, tensor<4xf32>) {
    %0 = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}>
      : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xbf16>
    %1 = "stablehlo.dot_general"(%b, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}>
      : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %2 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %0, %1, %2 : tensor<8x1024x1024xbf16>, tensor<4096x4096xf32>, tensor<4xf32>
  }
}

// -----

// Connected operations are one kernel: 64 MiB read twice, written once, 75.1 us and a launch. The broadcast of a constant costs
// nothing, nor does the reshape by itself. Op by op it would be four kernels.
// CHECK: compute | Category:braid-plan | {{.*}}0 matrix products 0 s, 1 fused kernels 80.1 us
module @fused attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %s: tensor<4xf32>) -> (tensor<16777216xf32>, tensor<16xf32>, tensor<4xf32>) {
    %c = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
    %0 = "stablehlo.broadcast_in_dim"(%c) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4096x4096xf32>
    %1 = "stablehlo.multiply"(%a, %0) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %2 = "stablehlo.add"(%1, %b) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %3 = "stablehlo.tanh"(%2) : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %4 = "stablehlo.reshape"(%3) : (tensor<4096x4096xf32>) -> tensor<16777216xf32>
    %5 = "stablehlo.reshape"(%s) : (tensor<4xf32>) -> tensor<16xf32>
    %6 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %4, %5, %6 : tensor<16777216xf32>, tensor<16xf32>, tensor<4xf32>
  }
}

// -----

// A matmul between two groups of elementwise operations keeps them apart (3 kernels); a diamond around it does not make a cycle.
// CHECK: compute | Category:braid-plan | {{.*}}1 matrix products {{.*}}, 2 fused kernels
module @levels attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<64x64xf32>, %s: tensor<4xf32>) -> (tensor<64x64xf32>, tensor<4xf32>) {
    %0 = "stablehlo.tanh"(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = "stablehlo.dot_general"(%0, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
      : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %3 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %2, %3 : tensor<64x64xf32>, tensor<4xf32>
  }
}

// -----

// A convolution: 2 * 8*32*32*64 outputs * 3*3*64 taps = 0.6 Gflop; tf32 at half of 495 Tflop/s: 2.4 us; 4.3 MB: 1.6 us.
// CHECK: compute | Category:braid-plan | {{.*}}1 matrix products 7.44 us
module @convolution attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<8x32x32x64xf32>, %k: tensor<3x3x64x64xf32>, %s: tensor<4xf32>) -> (tensor<8x32x32x64xf32>, tensor<4xf32>) {
    %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>}>
      : (tensor<8x32x32x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x32x32x64xf32>
    %1 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %0, %1 : tensor<8x32x32x64xf32>, tensor<4xf32>
  }
}

// -----

// An update in place costs its update, a slice its result, also inside a function that is called: 2 MiB
// read and written, not 256: 1.56 us, and a launch, each.
// CHECK: compute | Category:braid-plan | {{.*}}0 matrix products 0 s, 2 fused kernels 13.1 us
module @in_place attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<128x1024x512xf32>, %i: tensor<i32>, %s: tensor<4xf32>) -> (tensor<128x1024x512xf32>, tensor<4xf32>) {
    %0 = call @slice(%a, %i) : (tensor<128x1024x512xf32>, tensor<i32>) -> tensor<1x1024x512xf32>
    %b = "stablehlo.optimization_barrier"(%0) : (tensor<1x1024x512xf32>) -> tensor<1x1024x512xf32>
    %1 = "stablehlo.dynamic_update_slice"(%a, %b, %i, %i, %i) : (tensor<128x1024x512xf32>, tensor<1x1024x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<128x1024x512xf32>
    %2 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %1, %2 : tensor<128x1024x512xf32>, tensor<4xf32>
  }
  func.func private @slice(%a: tensor<128x1024x512xf32>, %i: tensor<i32>) -> tensor<1x1024x512xf32> {
    %0 = "stablehlo.dynamic_slice"(%a, %i, %i, %i) <{slice_sizes = array<i64: 1, 1024, 512>}> : (tensor<128x1024x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1024x512xf32>
    return %0 : tensor<1x1024x512xf32>
  }
}

// -----

// What nobody knows the cost of is said, once per name.
// CHECK: no-cost | Category:braid-plan | {{.*}}no cost is known for stablehlo.custom_call (2 in the module): counted as no time; a compute profile can say how long it takes
module @unknown attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<64x64xf32>, %s: tensor<4xf32>) -> (tensor<64x64xf32>, tensor<4xf32>) {
    %0 = "stablehlo.custom_call"(%a) <{call_target_name = "flash"}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = "stablehlo.custom_call"(%0) <{call_target_name = "flash"}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %1, %2 : tensor<64x64xf32>, tensor<4xf32>
  }
}
