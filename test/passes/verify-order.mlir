// A planned module passes; the same with two launches swapped, a trip count changed, or made for another cluster does not.
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" -o %t.mlir
// RUN: braid-opt %t.mlir --braid-verify-plan | diff %t.mlir -
// RUN: braid-opt %t.mlir --braid-verify-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" -o /dev/null
// RUN: not braid-opt %t.mlir --braid-verify-plan="cluster=%clusters/h100-roce-1x8.yaml" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: braid-opt %t.mlir --braid-verify-plan="cluster=%clusters/h100-roce-1x8.yaml stale=remark" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sed 's/dense<4> : tensor<i32>/dense<5> : tensor<i32>/' %t.mlir > %t.trips.mlir
// RUN: not braid-opt %t.trips.mlir --braid-verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/all_reduce max/all_reduce TEMP/; s/all_reduce sum/all_reduce max/; s/all_reduce TEMP/all_reduce sum/' %t.mlir > %t.swap.mlir
// RUN: not braid-opt %t.swap.mlir --braid-verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=SWAP

// OTHER: error: {{.*}}plan rule V1: the plan is stale, it was made for another cluster; plan again (braid-plan)
// SWAP: error: {{.*}}plan rule V1: the plan is stale, it was made for other bytes, types or groups, or another cluster; plan again
// REMARK: remark: plan rule V1: the plan is stale
// ORDER: error: plan rule V5: order of collectives
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %m = braid.all_reduce max %a groups = #braid.groups<[]> : tensor<64x64xf32>
    %start = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %r:2 = "stablehlo.while"(%start, %a) ({
    ^bb0(%i: tensor<i32>, %x: tensor<64x64xf32>):
      %limit = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %p = "stablehlo.compare"(%i, %limit) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %x: tensor<64x64xf32>):
      %y = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<64x64xf32>
      %step = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %next = "stablehlo.add"(%i, %step) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%next, %y) : (tensor<i32>, tensor<64x64xf32>) -> ()
    }) : (tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>)
    return %m, %r#1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
}
