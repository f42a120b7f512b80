// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @one
func.func @one(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: braid.all_reduce sum %{{.*}} groups = #braid.groups<{{\[\[}}0, 1], [2, 3]]> : tensor<4xf32>
  %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @bucket
func.func @bucket(%a: tensor<4xf32>, %b: tensor<8x?xf32>) -> (tensor<4xf32>, tensor<8x?xf32>) {
  // CHECK: %{{.*}}:2 = braid.all_reduce max %{{.*}}, %{{.*}} groups = #braid.groups<[]> : tensor<4xf32>, tensor<8x?xf32>
  %r:2 = braid.all_reduce max %a, %b groups = #braid.groups<[]> : tensor<4xf32>, tensor<8x?xf32>
  return %r#0, %r#1 : tensor<4xf32>, tensor<8x?xf32>
}

#pair = #braid.groups<[[0, 1]]>
// CHECK-LABEL: func.func @kinds
func.func @kinds(%f: tensor<4xf32>, %i: tensor<4xi1>) {
  // CHECK: braid.all_reduce sum
  // CHECK: braid.all_reduce product
  // CHECK: braid.all_reduce min
  // CHECK: braid.all_reduce max
  // CHECK: braid.all_reduce average
  // CHECK: braid.all_reduce and
  // CHECK: braid.all_reduce or
  // CHECK: braid.all_reduce xor
  %0 = braid.all_reduce sum %f groups = #pair : tensor<4xf32>
  %1 = braid.all_reduce product %f groups = #pair : tensor<4xf32>
  %2 = braid.all_reduce min %f groups = #pair : tensor<4xf32>
  %3 = braid.all_reduce max %f groups = #pair : tensor<4xf32>
  %4 = braid.all_reduce average %f groups = #pair : tensor<4xf32>
  %5 = braid.all_reduce and %i groups = #pair : tensor<4xi1>
  %6 = braid.all_reduce or %i groups = #pair : tensor<4xi1>
  %7 = braid.all_reduce xor %i groups = #pair : tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @everything
func.func @everything(%a: tensor<?xbf16>) -> tensor<?xbf16> {
  // CHECK: braid.all_reduce sum %{{.*}} groups = #braid.groups<{{\[\[}}0, 1]]> combiner {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<bf16>, %[[Y:.*]]: tensor<bf16>):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[X]], %[[Y]] : tensor<bf16>
  // CHECK-NEXT: cf.br ^bb1(%[[S]] : tensor<bf16>)
  // CHECK: } {accumulate = f32, braid.group_key = "grad", braid.size_hint = array<i64: 512>, channel = 7 : i64,
  // CHECK-SAME: id_space = #braid.id_space<replica>, reassociate, source = {handle = 1 : i64}} : tensor<?xbf16>
  %r = braid.all_reduce sum %a groups = #pair combiner {
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %s = arith.addf %x, %y : tensor<bf16>
    cf.br ^bb1(%s : tensor<bf16>)
  ^bb1(%z: tensor<bf16>):
    cf.br ^bb1(%z : tensor<bf16>)
  } {accumulate = f32, reassociate, channel = 7 : i64, id_space = #braid.id_space<replica>, source = {handle = 1 : i64},
     braid.group_key = "grad", braid.size_hint = array<i64: 512>} : tensor<?xbf16>
  return %r : tensor<?xbf16>
}

// Groups of different size are legal, and flattened ids need no mention.
// CHECK-LABEL: func.func @uneven
func.func @uneven(%a: tensor<f32>) -> tensor<f32> {
  // CHECK: braid.all_reduce sum %{{.*}} groups = #braid.groups<{{\[\[}}0, 1, 2], [3]]> : tensor<f32>
  %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2], [3]]> {id_space = #braid.id_space<flattened>} : tensor<f32>
  return %r : tensor<f32>
}
