// What upstream's vectorization of linalg makes (masks, transfers and reductions of several dimensions, contractions, transposes, on
// tensors or buffers) goes all the way down.
// RUN: braid-opt %s --braid-lower-pipeline | FileCheck %s

// CHECK-NOT: {{[ "]}}vector.
// CHECK: llvm.func @contracted
// CHECK-NOT: {{[ "]}}vector.
func.func @contracted(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %acc = arith.constant dense<0.0> : vector<8x4xf32>
  %va = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : tensor<8x16xf32>, vector<8x16xf32>
  %vb = vector.transfer_read %b[%c0, %c0], %z {in_bounds = [true, true]} : tensor<16x4xf32>, vector<16x4xf32>
  %r = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %va, %vb, %acc : vector<8x16xf32>, vector<16x4xf32> into vector<8x4xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %o = vector.transfer_write %r, %e[%c0, %c0] {in_bounds = [true, true]} : vector<8x4xf32>, tensor<8x4xf32>
  %s0 = arith.constant dense<0.0> : vector<8xf32>
  %s = vector.multi_reduction <add>, %va, %s0 [1] : vector<8x16xf32> to vector<8xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %o1 = vector.transfer_write %s, %e1[%c0] {in_bounds = [true]} : vector<8xf32>, tensor<8xf32>
  %t = vector.transpose %r, [1, 0] : vector<8x4xf32> to vector<4x8xf32>
  %e2 = tensor.empty() : tensor<4x8xf32>
  %o2 = vector.transfer_write %t, %e2[%c0, %c0] {in_bounds = [true, true]} : vector<4x8xf32>, tensor<4x8xf32>
  return %o, %o1, %o2 : tensor<8x4xf32>, tensor<8xf32>, tensor<4x8xf32>
}

// CHECK: llvm.func @masked
// CHECK-NOT: {{[ "]}}vector.
func.func @masked(%a: tensor<7x13xf32>) -> tensor<13x7xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %va = vector.transfer_read %a[%c0, %c0], %z {permutation_map = affine_map<(i, j) -> (j, i)>} : tensor<7x13xf32>, vector<16x8xf32>
  %n = arith.constant 7 : index
  %m = arith.constant 13 : index
  %k = vector.create_mask %m, %n : vector<16x8xi1>
  %e = tensor.empty() : tensor<13x7xf32>
  %o = vector.mask %k { vector.transfer_write %va, %e[%c0, %c0] {in_bounds = [false, false]} : vector<16x8xf32>, tensor<13x7xf32> } : vector<16x8xi1> -> tensor<13x7xf32>
  return %o : tensor<13x7xf32>
}
