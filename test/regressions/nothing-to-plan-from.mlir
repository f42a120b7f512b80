// Collectives that stayed StableHLO are counted, not denied; groups of everyone without a number of ranks are one error
// that says what to write.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/left.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: not braid-opt %t/everyone.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" 2>&1 | FileCheck %s --check-prefix=RANKS --implicit-check-not=error:

// LEFT: remark: plan: nothing was planned, 1 collective is still StableHLO: run braid-import first
// RANKS: error: ranks: expected mhlo.num_partitions on the module, or a collective whose groups list them

//--- left.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
//--- everyone.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<4xf32>
  return %r : tensor<4xf32>
}
