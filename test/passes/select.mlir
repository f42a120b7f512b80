// braid-select-algorithms writes a plan with a fingerprint on each collective, the cheapest candidate of the engine.
//
// RUN: braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-4x2.yaml" > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-4x2.yaml" --remarks-filter="braid-.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
//
// A second run keeps fresh plans; on another cluster they are stale and replaced.
// RUN: braid-opt %t.mlir --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-4x2.yaml" | diff %t.mlir -
// RUN: braid-opt %t.mlir --braid-select-algorithms="cluster=%clusters/h100-roce-4x2.yaml" --remarks-filter="braid-.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STALE
// RUN: braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-4x2.yaml engine=braid quantile=0.99" | FileCheck %s --check-prefix=BRAID
// RUN: not braid-opt %s --braid-select-algorithms 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-4x2.yaml quantile=1.5" 2>&1 | FileCheck %s --check-prefix=QUANTILE

// NONE: error: cluster: expected the option 'cluster=FILE' or the module attribute 'braid.cluster', got neither
// QUANTILE: error: quantile: expected a number between 0 and 1 (0.95: the p95), got 1.5{{$}}

// CHECK-DAG: #[[SMALL:plan[0-9]*]] = #braid.plan<engine = nccl, algorithm = "tree", protocol = "LL", {{.*}}fingerprint = "{{[0-9a-f]+}}">
// CHECK-DAG: #[[LARGE:plan[0-9]*]] = #braid.plan<engine = nccl, algorithm = "reduce_scatter+all_gather", {{.*}}fingerprint = "{{[0-9a-f]+}}">
// CHECK-LABEL: func @main
// CHECK: braid.all_reduce sum {{.*}}plan = #[[SMALL]]
// CHECK: braid.all_reduce sum {{.*}}plan = #[[LARGE]]
// BRAID-COUNT-2: engine = braid, {{.*}}chunks = {{[1-9]}}
// REMARK: [Passed] algorithm | Category:braid-select-algorithms | {{.*}}tree/LL {{.*}} us; {{.*}} us
// STALE-COUNT-2: [Missed] stale-plan | Category:braid-select-algorithms
func.func @main(%a: tensor<16xf32>, %b: tensor<16777216xf32>) -> (tensor<16xf32>, tensor<16777216xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<16xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<16777216xf32>
  return %0, %1 : tensor<16xf32>, tensor<16777216xf32>
}
