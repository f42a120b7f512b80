// NCCL's tuning model prices an all_reduce by a Simple ring over hosts higher than its halves: plans run the halves, and what is
// written says so. (What was fused before is planned too: select alone.)
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" --remarks-filter="braid-plan" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir
// RUN: braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-4x2.yaml" | FileCheck %s
// RUN: braid-opt %t.mlir --braid-verify-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" -o /dev/null
// RUN: braid-opt %s --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-4x2.yaml" | FileCheck %s --check-prefix=EXPORT
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml policy=per-tensor" | FileCheck %s --check-prefix=BASELINE
//
// One host: nothing to gain. Braid's own runtime: its ring is both halves in one launch.
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" | FileCheck %s --check-prefix=WHOLE
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml engine=braid target=braid" | FileCheck %s --check-prefix=WHOLE

// REMARK: [Analysis] algorithm | Category:braid-plan | {{.*}}all_reduce of 256.0 MiB over 8 ranks: reduce_scatter+all_gather/Simple {{.*}}; runner-up ring/
// CHECK: #braid.plan<engine = nccl, algorithm = "reduce_scatter+all_gather", protocol = "Simple"
// CHECK: braid.all_reduce sum
// EXPORT-NOT: "stablehlo.all_reduce"
// EXPORT: "stablehlo.reduce_scatter"
// EXPORT: "stablehlo.all_gather"
// BASELINE: algorithm = "ring"
// BASELINE-NOT: reduce_scatter+all_gather
// WHOLE: braid.all_reduce
// WHOLE-NOT: reduce_scatter+all_gather
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<67108864xf32>) -> tensor<67108864xf32> {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<67108864xf32>
    return %0 : tensor<67108864xf32>
  }
}
