// The whole way down: nothing is left but the LLVM dialect, and a stale plan is an error.
// RUN: braid-opt %s --braid-lower-pipeline | FileCheck %s
// RUN: braid-opt %s --braid-lower-pipeline | mlir-translate --mlir-to-llvmir -o /dev/null
// RUN: sed "s/note = .#planned./plan = #stale/" %s | not braid-opt --braid-lower-pipeline="cluster=%clusters/h100-ib-ndr-1x8.yaml" 2>&1 | FileCheck %s --check-prefix=STALE

#stale = #braid.plan<engine = braid, algorithm = "ring", fingerprint = "0123456789abcdef">

// STALE: error: {{.*}}stale

// CHECK-NOT: braid.
// CHECK-NOT: memref.
// CHECK-NOT: unrealized_conversion_cast
// CHECK-DAG: llvm.func @braid_module_begin(i64, i64, i64) -> i64
// CHECK-DAG: llvm.func @braid_module_tensor(i64, i64, i64, i64, i64, i64, i64)
// CHECK: llvm.func @main
// CHECK: llvm.call @braid_module_launch
// CHECK: llvm.call @braid_module_finish
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<16x8xf32>, %b: tensor<8x16xf32>) -> tensor<16x16xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
    %m = linalg.matmul ins(%a, %b : tensor<16x8xf32>, tensor<8x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
    %r = braid.all_reduce sum %m groups = #braid.groups<[[0, 1, 2, 3]]> {note = "#planned"} : tensor<16x16xf32>
    return %r : tensor<16x16xf32>
  }
}
