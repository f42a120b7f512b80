// Six gradients, each behind a matmul, and one loss that is read at once. Planning makes buckets, starts them early, gives each
// launch an algorithm, and states a bound that the prediction does not undercut.
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" --remarks-filter="braid-plan" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
//
// The same plan twice, and planning again changes nothing: fresh plans are kept.
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" | diff %t.mlir -
// RUN: braid-opt %t.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" | grep -v braid.certificate > %t.again
// RUN: grep -v braid.certificate %t.mlir | diff - %t.again
//
// For another cluster the plans are stale: dropped and, where the collective is not in flight already, made anew.
// RUN: braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-4x2.yaml" -o %t.selected.mlir
// RUN: braid-opt %t.selected.mlir --braid-plan="cluster=%clusters/h100-roce-4x2.yaml" --braid-verify-plan="cluster=%clusters/h100-roce-4x2.yaml" --remarks-filter="braid-plan" -o %t.other.mlir 2>&1 | FileCheck %s --check-prefix=STALE
// RUN: FileCheck %s --check-prefix=OTHER < %t.other.mlir
// RUN: braid-opt %t.mlir --braid-plan="cluster=%clusters/h100-roce-4x2.yaml" --braid-verify-plan="cluster=%clusters/h100-roce-4x2.yaml" -o /dev/null
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml target=braid engine=braid objective=serving quantile=0.75" | FileCheck %s --check-prefix=BRAID
// RUN: not braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml objective=fast" 2>&1 | FileCheck %s --check-prefix=OBJECTIVE

// CHECK-DAG: #[[PLAN:plan[0-9]*]] = #braid.plan<engine = nccl
// CHECK: braid.certificate = {bound_objective_s = {{[0-9.E-]+}} : f64, bound_p50_s = {{[0-9.E-]+}} : f64, bound_p95_s = {{[0-9.E-]+}} : f64, bound_p99_s = {{[0-9.E-]+}} : f64, bound_s = [[BOUND:[0-9.E-]+]] : f64, certified = true, cluster = "h100-ib-ndr-4x2", cluster_hash = "{{[0-9a-f]+}}", gap =
// CHECK-SAME: objective = "training"
// CHECK-SAME: order = "{{[0-9a-f]+}}", orders = {"1x8-{{[0-9a-f]+}}" = "{{[0-9a-f]+}}"}
// CHECK-SAME: witness =
// CHECK: braid.start
// CHECK: braid.all_reduce sum {{.*}}plan = #
// CHECK: "stablehlo.dot"
// CHECK: braid.wait
// CHECK: braid.all_reduce sum %{{.*}}, %{{.*}} groups = {{.*}}plan = #
// STALE-COUNT-7: [Missed] stale-plan | Category:braid-plan | {{.*}}it is dropped
// OTHER: cluster = "h100-roce-4x2"
// OTHER: braid.all_reduce sum %{{.*}}, %{{.*}} groups
// BRAID: engine = braid, {{.*}}chunks = {{[1-9]}}
// BRAID: objective = "serving"
// BRAID-SAME: quantile = 7.500000e-01
// OBJECTIVE: {{.*}}Cannot find option named 'fast'!

// REMARK-DAG: [Analysis] policy | Category:braid-plan | Remark="no-overlap: objective {{.*}}, 7 collectives
// REMARK-DAG: [Analysis] policy | Category:braid-plan | Remark="per-tensor: objective
// REMARK-DAG: [Analysis] policy | Category:braid-plan | Remark="ddp-25mib: objective
// REMARK-DAG: [Analysis] policy | Category:braid-plan | Remark="xla-30mib: objective
// REMARK-DAG: [Analysis] policy | Category:braid-plan | Remark="one-bucket: objective
// REMARK-DAG: [Analysis] policy | Category:braid-plan | Remark="braid ({{.*}}): objective
// REMARK-DAG: [Analysis] bound | Category:braid-plan | Remark="no schedule is faster than {{.*}}: {{.*}}"
// REMARK-DAG: [Analysis] quantile-bound | Category:braid-plan | Remark="under the draws {{.*}} no schedule has an objective below {{.*}}, or a step's p50, p95 and p99 below {{.*}}"
// REMARK-DAG: [Passed] bucket | Category:braid-plan | Remark="merged {{.*}} all_reduce of {{.*}} into one launch
// REMARK-DAG: [Missed] bucket | Category:braid-plan | Remark="not merged with the all_reduce at {{.*}}: one launch of 24.0 MiB would end the step at {{.*}}, separate ones do at {{.*}}, without noise"
// REMARK-DAG: [Passed] overlap | Category:braid-plan | Remark="runs beside {{.*}} of {{.*}}s"
// REMARK-DAG: [Analysis] algorithm | Category:braid-plan | Remark="all_reduce of {{.*}} over 8 ranks: {{.*}}; runner-up
// REMARK-DAG: [Analysis] not-modelled | Category:braid-plan
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<1024x1024xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
    %l = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<f32>
    %m = arith.mulf %l, %l : tensor<f32>
    %g0 = "stablehlo.dot"(%x, %x) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %r0 = braid.all_reduce sum %g0 groups = #braid.groups<[]> : tensor<1024x1024xf32>
    %g1 = "stablehlo.dot"(%g0, %x) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %r1 = braid.all_reduce sum %g1 groups = #braid.groups<[]> : tensor<1024x1024xf32>
    %g2 = "stablehlo.dot"(%g1, %x) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %r2 = braid.all_reduce sum %g2 groups = #braid.groups<[]> : tensor<1024x1024xf32>
    %g3 = "stablehlo.dot"(%g2, %x) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %r3 = braid.all_reduce sum %g3 groups = #braid.groups<[]> : tensor<1024x1024xf32>
    %g4 = "stablehlo.dot"(%g3, %x) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %r4 = braid.all_reduce sum %g4 groups = #braid.groups<[]> : tensor<1024x1024xf32>
    %g5 = "stablehlo.dot"(%g4, %x) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %r5 = braid.all_reduce sum %g5 groups = #braid.groups<[]> : tensor<1024x1024xf32>
    return %m, %r0, %r1, %r2, %r3, %r4, %r5 : tensor<f32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
  }
}
