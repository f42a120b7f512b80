// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @one
func.func @one(%a: tensor<4x2xf32>, %i: tensor<8x2xf32>) -> tensor<8x2xf32> {
  // CHECK: braid.gather %{{.*}} init %{{.*}} dims = [0] root = 1 groups = #braid.groups<{{\[\[}}0, 1], [2, 3]]> : (tensor<4x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  %r = braid.gather %a init %i dims = [0] root = 1 groups = #braid.groups<[[0, 1], [2, 3]]> : (tensor<4x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return %r : tensor<8x2xf32>
}

// CHECK-LABEL: func.func @bucket
func.func @bucket(%a: tensor<4x2xi8>, %b: tensor<?xi8>, %i: tensor<4x4xi8>, %j: tensor<?xi8>) {
  // CHECK: braid.gather %{{.*}}, %{{.*}} init %{{.*}}, %{{.*}} dims = [1, 0] root = 0 groups = #braid.iota<[2, 2] from [4]> {channel = 3 : i64} : (tensor<4x2xi8>, tensor<?xi8>, tensor<4x4xi8>, tensor<?xi8>) -> (tensor<4x4xi8>, tensor<?xi8>)
  %r:2 = braid.gather %a, %b init %i, %j dims = [1, 0] root = 0 groups = #braid.iota<[2, 2] from [4]> {channel = 3}
    : (tensor<4x2xi8>, tensor<?xi8>, tensor<4x4xi8>, tensor<?xi8>) -> (tensor<4x4xi8>, tensor<?xi8>)
  return
}
