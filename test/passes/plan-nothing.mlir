// Without collectives there is nothing to plan: a remark, and the module as it was.
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.err

// REMARK: remark: plan: the module has no collectives, nothing was planned
// CHECK: module {
// CHECK-NEXT: func.func @main
// CHECK-NEXT: "stablehlo.dot"
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.dot"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
