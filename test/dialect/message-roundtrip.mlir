// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @sends_and_receives
func.func @sends_and_receives(%a: tensor<4xf32>, %b: tensor<?xf32>) -> tensor<4xf32> {
  // CHECK: braid.send %{{.*}}, %{{.*}} peer = 1 tag = 7 : tensor<4xf32>, tensor<?xf32>
  braid.send %a, %b peer = 1 tag = 7 : tensor<4xf32>, tensor<?xf32>
  // CHECK: braid.recv peer = 0 tag = 7 {channel = 2 : i64} : tensor<4xf32>
  %r = braid.recv peer = 0 tag = 7 {channel = 2} : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @barrier_and_rank
func.func @barrier_and_rank() -> index {
  // CHECK: braid.barrier groups = #braid.groups<{{\[\[}}0, 1], [2, 3]]>{{$}}
  braid.barrier groups = #braid.groups<[[0, 1], [2, 3]]>
  // CHECK: braid.barrier groups = #braid.groups<[]> {channel = 1 : i64}
  braid.barrier groups = #braid.groups<[]> {channel = 1}
  // CHECK: braid.rank
  %rank = braid.rank
  return %rank : index
}
