// A module without collectives goes through with a remark, unchanged.
//
// RUN: braid-opt %s --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-1x8.yaml" --mlir-print-op-generic > %t.mlir 2> %t.err
// RUN: FileCheck %s < %t.err
// RUN: braid-opt %s --mlir-print-op-generic | diff - %t.mlir

// CHECK: remark: plan: the module has no collectives, nothing was planned
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
  ^bb0(%a: tensor<4xf32>):
    %0 = "stablehlo.tanh"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%0) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
