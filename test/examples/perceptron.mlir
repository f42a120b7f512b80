// A two-layer perceptron, trained data parallel on 4 ranks: each call is one step, takes the weights and a rank's share of the batch,
// and returns new weights and the loss of the whole batch. Made by test/e2e/perceptron.py, which says more.
//
//   braid-run perceptron.mlir -n 4 --steps 20 --carry 0:0,1:1 --time
//   braid-opt perceptron.mlir --braid-plan="cluster=../../cost_models/clusters/h100-roce-4x2.yaml placement=0:0,1:0,2:0,3:0 engine=braid target=braid" -o planned.mlir
//   braid-run planned.mlir -n 4 --steps 20 --carry 0:0,1:1
//
// RUN: braid-run %s -n 4 --steps 20 --carry 0:0,1:1 > %t.before
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-roce-4x2.yaml placement=0:0,1:0,2:0,3:0 engine=braid target=braid" -o %t.mlir
// RUN: braid-run %t.mlir -n 4 --steps 20 --carry 0:0,1:1 > %t.after
// RUN: FileCheck %s < %t.before
// RUN: FileCheck %s < %t.after
// RUN: not braid-run %s -n 3 2>&1 | FileCheck %s --check-prefix=RANKS
//
// CHECK: step 0 result 2: 0.4479
// CHECK: step 19 result 2: 0.1379
// RANKS: error: -n: expected 4, the ranks that the program's collectives name, got 3
#ranks = #braid.groups<[[0, 1, 2, 3]]>
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%w1: tensor<12x16xf32> {braid.data = "seed:1:0.5"}, %w2: tensor<16x4xf32> {braid.data = "seed:2:0.5"}, %x: tensor<8x12xf32> {braid.data = "rank-seed:3"}, %y: tensor<8x4xf32> {braid.data = "rank-seed:4:0.5"}) -> (tensor<12x16xf32>, tensor<16x4xf32>, tensor<f32>) {
    %zero = arith.constant 0.0 : f32
    %scale = arith.constant 0.0625 : f32
    %part = arith.constant 0.03125 : f32
    %rate = arith.constant 0.1 : f32
    %e1 = tensor.empty() : tensor<8x16xf32>
    %z2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %m3 = linalg.matmul ins(%x, %w1 : tensor<8x12xf32>, tensor<12x16xf32>) outs(%z2 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %e4 = tensor.empty() : tensor<8x16xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m3 : tensor<8x16xf32>) outs(%e4 : tensor<8x16xf32>) {
    ^bb0(%i6: f32, %o8: f32):
      %s7 = arith.maximumf %i6, %zero : f32
      linalg.yield %s7 : f32
    } -> tensor<8x16xf32>
    %e9 = tensor.empty() : tensor<8x4xf32>
    %z10 = linalg.fill ins(%zero : f32) outs(%e9 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %m11 = linalg.matmul ins(%g5, %w2 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%z10 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %e12 = tensor.empty() : tensor<8x4xf32>
    %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m11, %y : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e12 : tensor<8x4xf32>) {
    ^bb0(%i14: f32, %i15: f32, %o17: f32):
      %s16 = arith.subf %i14, %i15 : f32
      linalg.yield %s16 : f32
    } -> tensor<8x4xf32>
    %e18 = tensor.empty() : tensor<f32>
    %z19 = linalg.fill ins(%zero : f32) outs(%e18 : tensor<f32>) -> tensor<f32>
    %q20 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%g13 : tensor<8x4xf32>) outs(%z19 : tensor<f32>) {
    ^bb0(%da: f32, %acc: f32):
      %dd = arith.mulf %da, %da : f32
      %ds = arith.mulf %dd, %part : f32
      %sum = arith.addf %acc, %ds : f32
      linalg.yield %sum : f32
    } -> tensor<f32>
    %r21 = braid.all_reduce average %q20 groups = #ranks : tensor<f32>
    %e22 = tensor.empty() : tensor<8x4xf32>
    %g23 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%g13 : tensor<8x4xf32>) outs(%e22 : tensor<8x4xf32>) {
    ^bb0(%i24: f32, %o26: f32):
      %s25 = arith.mulf %i24, %scale : f32
      linalg.yield %s25 : f32
    } -> tensor<8x4xf32>
    %e27 = tensor.empty() : tensor<16x8xf32>
    %t28 = linalg.transpose ins(%g5 : tensor<8x16xf32>) outs(%e27 : tensor<16x8xf32>) permutation = [1, 0]
    %e29 = tensor.empty() : tensor<16x4xf32>
    %z30 = linalg.fill ins(%zero : f32) outs(%e29 : tensor<16x4xf32>) -> tensor<16x4xf32>
    %m31 = linalg.matmul ins(%t28, %g23 : tensor<16x8xf32>, tensor<8x4xf32>) outs(%z30 : tensor<16x4xf32>) -> tensor<16x4xf32>
    %r32 = braid.all_reduce average %m31 groups = #ranks : tensor<16x4xf32>
    %e33 = tensor.empty() : tensor<4x16xf32>
    %t34 = linalg.transpose ins(%w2 : tensor<16x4xf32>) outs(%e33 : tensor<4x16xf32>) permutation = [1, 0]
    %e35 = tensor.empty() : tensor<8x16xf32>
    %z36 = linalg.fill ins(%zero : f32) outs(%e35 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %m37 = linalg.matmul ins(%g23, %t34 : tensor<8x4xf32>, tensor<4x16xf32>) outs(%z36 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %e38 = tensor.empty() : tensor<8x16xf32>
    %g39 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m37, %m3 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e38 : tensor<8x16xf32>) {
    ^bb0(%i40: f32, %i41: f32, %o44: f32):
      %k42 = arith.cmpf ogt, %i41, %zero : f32
      %s43 = arith.select %k42, %i40, %zero : f32
      linalg.yield %s43 : f32
    } -> tensor<8x16xf32>
    %e45 = tensor.empty() : tensor<12x8xf32>
    %t46 = linalg.transpose ins(%x : tensor<8x12xf32>) outs(%e45 : tensor<12x8xf32>) permutation = [1, 0]
    %e47 = tensor.empty() : tensor<12x16xf32>
    %z48 = linalg.fill ins(%zero : f32) outs(%e47 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %m49 = linalg.matmul ins(%t46, %g39 : tensor<12x8xf32>, tensor<8x16xf32>) outs(%z48 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %r50 = braid.all_reduce average %m49 groups = #ranks : tensor<12x16xf32>
    %e51 = tensor.empty() : tensor<12x16xf32>
    %g52 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%w1, %r50 : tensor<12x16xf32>, tensor<12x16xf32>) outs(%e51 : tensor<12x16xf32>) {
    ^bb0(%i53: f32, %i54: f32, %o57: f32):
      %s55 = arith.mulf %i54, %rate : f32
      %s56 = arith.subf %i53, %s55 : f32
      linalg.yield %s56 : f32
    } -> tensor<12x16xf32>
    %e58 = tensor.empty() : tensor<16x4xf32>
    %g59 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%w2, %r32 : tensor<16x4xf32>, tensor<16x4xf32>) outs(%e58 : tensor<16x4xf32>) {
    ^bb0(%i60: f32, %i61: f32, %o64: f32):
      %s62 = arith.mulf %i61, %rate : f32
      %s63 = arith.subf %i60, %s62 : f32
      linalg.yield %s63 : f32
    } -> tensor<16x4xf32>
    return %g52, %g59, %r21 : tensor<12x16xf32>, tensor<16x4xf32>, tensor<f32>
  }
}
