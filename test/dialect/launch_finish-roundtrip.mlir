// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @tensors
func.func @tensors(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[T:.*]], %[[F:.*]] = braid.launch all_reduce ins(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<4xf32>) {groups = #braid.groups<{{\[\[}}0, 1]]>, reduction = #braid<reduction sum>} -> tensor<4xf32>
  %t, %f = braid.launch all_reduce ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>} -> tensor<4xf32>
  // CHECK: braid.finish %[[T]] ins(%{{.*}} : tensor<4xf32>) outs(%[[F]] : tensor<4xf32>) -> tensor<4xf32>
  %r = braid.finish %t ins(%a : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @buffers
func.func @buffers(%a: memref<4xf32>, %b: memref<4xf32, strided<[1], offset: ?>>, %o: memref<8xf32>, %p: memref<8xf32>) {
  // CHECK: %[[T:.*]] = braid.launch all_gather ins(%{{.*}}, %{{.*}} : memref<4xf32>, memref<4xf32, strided<[1], offset: ?>>) outs(%{{.*}}, %{{.*}} : memref<8xf32>, memref<8xf32>) {dims = array<i64: 0, 0>, groups = #braid.groups<{{\[\[}}0, 1]]>}{{$}}
  %t = braid.launch all_gather ins(%a, %b : memref<4xf32>, memref<4xf32, strided<[1], offset: ?>>) outs(%o, %p : memref<8xf32>, memref<8xf32>) {dims = array<i64: 0, 0>, groups = #braid.groups<[[0, 1]]>}
  // CHECK: braid.finish %[[T]] ins({{.*}}) outs({{.*}} : memref<8xf32>, memref<8xf32>){{$}}
  braid.finish %t ins(%a, %b : memref<4xf32>, memref<4xf32, strided<[1], offset: ?>>) outs(%o, %p : memref<8xf32>, memref<8xf32>)
  return
}

// CHECK-LABEL: func.func @in_place_and_without_tensors
func.func @in_place_and_without_tensors(%a: memref<4xf32>) {
  // CHECK: braid.launch broadcast outs(%{{.*}} : memref<4xf32>) {groups = #braid.groups<{{\[\[}}0, 1]]>, id_space = #braid.id_space<replica>, root = 1 : i64}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 1 : i64, id_space = #braid.id_space<replica>}
  braid.finish %t outs(%a : memref<4xf32>)
  // CHECK: %[[B:.*]] = braid.launch barrier {groups = #braid.groups<[]>}
  %b = braid.launch barrier {groups = #braid.groups<[]>}
  // CHECK: braid.finish %[[B]]{{$}}
  braid.finish %b
  // CHECK: braid.launch send ins(%{{.*}} : memref<4xf32>) {peer = 1 : i64, tag = 0 : i64}
  %s = braid.launch send ins(%a : memref<4xf32>) {peer = 1 : i64, tag = 0 : i64}
  braid.finish %s ins(%a : memref<4xf32>)
  return
}
