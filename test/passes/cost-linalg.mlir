// Programs in linalg, tensor and arith on an H100 (989 Tflop/s bf16, half of it reached; 3.35 TB/s, 80 % of it reached; 5 us a launch),
// as the remark "compute" breaks it down. A loop nest is a kernel of its own: nothing fuses it.
//
// RUN: braid-opt %s -split-input-file --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" --remarks-filter="braid-plan" -o /dev/null 2>&1 | FileCheck %s

// The product: 2 * 4096^3 / (0.5 * 989e12) = 278 us, and a launch. The fill writes 32 MiB: 12.5 us, and a launch.
// CHECK: compute | Category:braid-plan | {{.*}}1 matrix products 283 us, 0 fused kernels 0 s, 1 others 17.5 us
module @matmul attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<4096x4096xbf16>, %s: tensor<4xf32>) -> (tensor<4096x4096xbf16>, tensor<4xf32>) {
    %zero = arith.constant 0.0 : bf16
    %e = tensor.empty() : tensor<4096x4096xbf16>
    %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %0 = linalg.matmul ins(%a, %a : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %1 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %0, %1 : tensor<4096x4096xbf16>, tensor<4xf32>
  }
}

// -----

// 64 MiB read and written: 50.1 us, and a launch; the destination is not read. Where the body reads it: 75.1 us, and a launch.
// CHECK: compute | Category:braid-plan | {{.*}}0 matrix products 0 s, 0 fused kernels 0 s, 2 others 135 us
#id = affine_map<(d0, d1) -> (d0, d1)>
module @elementwise attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<4096x4096xf32>, %s: tensor<4xf32>) -> (tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<4096x4096xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) {
    ^bb0(%x: f32, %o: f32):
      %y = arith.mulf %x, %x : f32
      linalg.yield %y : f32
    } -> tensor<4096x4096xf32>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4096x4096xf32>) outs(%0 : tensor<4096x4096xf32>) {
    ^bb0(%x: f32, %o: f32):
      %y = arith.mulf %x, %o : f32
      linalg.yield %y : f32
    } -> tensor<4096x4096xf32>
    %2 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %0, %1, %2 : tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4xf32>
  }
}

// -----

// Indices, sizes, scalars and views cost nothing; arithmetic on tensors fuses: 64 MiB read twice and written once, one launch.
// CHECK: compute | Category:braid-plan | {{.*}}0 matrix products 0 s, 1 fused kernels 80.1 us, 0 others 0 s
module @free attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %k: index, %v: f32, %s: tensor<4xf32>) -> (tensor<4096x4096xf32>, index, f32, tensor<4xf32>) {
    %two = arith.addi %k, %k : index
    %w = arith.mulf %v, %v : f32
    %view = tensor.collapse_shape %a [[0, 1]] : tensor<4096x4096xf32> into tensor<16777216xf32>
    %back = tensor.expand_shape %view [[0, 1]] output_shape [4096, 4096] : tensor<16777216xf32> into tensor<4096x4096xf32>
    %c = arith.addf %back, %b : tensor<4096x4096xf32>
    %d = arith.mulf %c, %c : tensor<4096x4096xf32>
    %1 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %d, %two, %w, %1 : tensor<4096x4096xf32>, index, f32, tensor<4xf32>
  }
}
