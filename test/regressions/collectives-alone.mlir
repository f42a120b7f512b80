// A program that holds nothing but large collectives is cut with operations of dialects that its text does not name.
// RUN: braid-sim compare %s --cluster %clusters/h100-ib-ndr-1x8.yaml --engine braid --budget 1s | FileCheck %s
// RUN: braid-sim explain %s --cluster %clusters/h100-ib-ndr-1x8.yaml --engine braid --budget 1s | FileCheck %s --check-prefix=WHY

// CHECK: braid (after)
// WHY: all_reduce
#halves = #braid.groups<[[0, 1, 2, 3], [4, 5, 6, 7]]>
func.func @main(%a: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %x = braid.all_reduce sum %a groups = #halves : tensor<1024x1024xf32>
  %y = braid.all_reduce max %a groups = #braid.groups<[[1, 2, 3, 4], [5, 6, 7, 0]]> : tensor<1024x1024xf32>
  return %x, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
