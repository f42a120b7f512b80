// A stock pass that removes dead values in whole programs leaves collectives with unused results, in functions whose results
// nobody uses, too. (The Pure form goes: see the last function.)
// RUN: braid-opt %s --remove-dead-values --canonicalize | FileCheck %s

// CHECK-LABEL: func.func private @result_unused
// CHECK: braid.all_reduce
// CHECK: braid.start
// CHECK: braid.wait
func.func private @result_unused(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %token = braid.start(%x = %0) : tensor<4xf32> {
    %r = braid.all_reduce max %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %w = braid.wait %token, %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %w : tensor<4xf32>
}

// CHECK-LABEL: func.func @caller
// CHECK: call @result_unused
func.func @caller(%a: tensor<4xf32>) {
  %0 = call @result_unused(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @pure_result_unused
// CHECK-NEXT: return
func.func @pure_result_unused(%a: tensor<4xf32>) {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return
}
