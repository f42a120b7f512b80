// A mark in front of each operation that takes time, and none in front of constants, empty tensors, views and collectives. Keys are
// the same before planning and after; a bucket and what is in flight change nothing.
//
// RUN: braid-opt %s --braid-mark-compute | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: braid-opt %s --braid-overlap-collectives --braid-mark-compute | FileCheck %s
// RUN: braid-opt %s --braid-fuse-collectives --braid-mark-compute | FileCheck %s
// RUN: sed 's/0[.]0 :/0.5 :/' %s | braid-opt --braid-mark-compute | FileCheck %s --check-prefix=OTHER
// RUN: braid-opt %s --braid-overlap-collectives --braid-lower-pipeline=marks=true | FileCheck %s --check-prefix=LLVM

// CHECK: braid.marks = [{kernel = "0.{{.}}", key = "c53f90fbee2f0414", name = "fill at {{[^"]*}}", operation = "linalg.fill at {{[^"]*}}"},
// CHECK-SAME: {kernel = "0.{{.}}", key = "242b8dd9dc7ab871", name = "matmul at {{[^"]*}}", operation = "linalg.matmul at {{[^"]*}}"},
// CHECK-SAME: {kernel = "0.{{.}}", key = "8ac04d3e38ed3560", name = "add at {{[^"]*}}", operation = "linalg.add at {{[^"]*}}"}],
// CHECK-SAME: braid.program = "fd16dbd15dda1143"
// OTHER-NOT: "fd16dbd15dda1143"
// OTHER: braid.program

#ranks = #braid.groups<[[0, 1]]>
module attributes {mhlo.num_partitions = 2 : i32} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = braid.all_reduce sum %b groups = #ranks : tensor<8x8xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = braid.all_reduce sum %a groups = #ranks : tensor<8x8xf32>
  %q = linalg.add ins(%r, %s : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = tensor.extract_slice %p[0, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  return %p, %q, %v : tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}
}

// PLAIN: tensor.empty
// PLAIN-NEXT: arith.constant 0 : i64
// PLAIN-NEXT: call @braid_module_mark
// PLAIN-NEXT: linalg.fill
// PLAIN-NEXT: braid.all_reduce
// PLAIN-NEXT: arith.constant 1 : i64
// PLAIN-NEXT: call @braid_module_mark
// PLAIN-NEXT: linalg.matmul
// PLAIN-NEXT: braid.all_reduce
// PLAIN-NEXT: arith.constant 2 : i64
// PLAIN-NEXT: call @braid_module_mark
// PLAIN-NEXT: linalg.add
// PLAIN-NEXT: tensor.extract_slice

// LLVM: llvm.call @braid_module_launch
// LLVM: llvm.call @braid_module_launch
// LLVM: llvm.call @braid_module_mark
// LLVM: llvm.call @braid_module_mark
// LLVM: llvm.call @braid_module_finish
// LLVM: llvm.call @braid_module_finish
// LLVM: llvm.call @braid_module_mark
