// Two products with a sum over ranks between them: in pieces, one is computed while another is in flight, and the plan says what that
// gains. The result passes the verifier, comes out the same twice, and stays as it is when planned again.
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" --braid-verify-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" | diff %t.mlir -
// RUN: braid-opt %t.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" 2> /dev/null | diff %t.mlir -
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" --remarks-filter="braid-plan" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml split=false" | FileCheck %s --check-prefix=WHOLE
//
// What waits for what: of a plan in pieces, the program as it is remains what the baselines are for.
// RUN: braid-sim compare %s --cluster %clusters/h100-ib-ndr-4x2.yaml --timeline %t.json | FileCheck %s --check-prefix=TABLE
// RUN: braid-sim play %s --cluster %clusters/h100-ib-ndr-4x2.yaml | FileCheck %s --check-prefix=PLAY
// RUN: braid-sim play %s --cluster %clusters/h100-ib-ndr-4x2.yaml --policy per-tensor | FileCheck %s --check-prefix=PLAYWHOLE
// RUN: braid-sim compare %s --cluster %clusters/h100-ib-ndr-4x2.yaml --against %clusters/h100-roce-4x2.yaml | FileCheck %s --check-prefix=AGAINST
// RUN: braid-sim report %s --cluster %clusters/h100-ib-ndr-4x2.yaml --format table -o - | FileCheck %s --check-prefix=REPORT

// CHECK: braid.certificate = {{.*}}rule = "{{.*}}; 1 collective cut into [[PIECES:[0-9]+]] with 2 operations around, which gains {{[0-9.]+}} %"
// CHECK: "stablehlo.dot_general"
// CHECK: braid.start
// CHECK: "stablehlo.dot_general"
// CHECK: braid.wait
// CHECK: "stablehlo.concatenate"

// REMARK-DAG: Remark="all_reduce of 256.0 MiB cut into {{[0-9]+}} along dimension 0, with 2 operations around it"
// REMARK-DAG: Remark="tried to cut collectives, objective {{.*}} whole: 1 collective cut into 4 {{.*}}; the plan gains {{.*}} %"
// REMARK-DAG: Remark="no schedule is faster than {{.*}}, with collectives cut"

// WHOLE-NOT: cut into
// WHOLE: braid.all_reduce {{.*}} : tensor<16384x8192xbf16>
// WHOLE-NOT: concatenate

// TABLE: per-tensor {{ *}}1
// TABLE: braid (after) {{ *}}{{[2-9]|1[0-9]}} 
// TABLE: after: {{.*}} cut into
// PLAY-COUNT-2: all_reduce at
// PLAYWHOLE-COUNT-1: all_reduce at
// PLAYWHOLE-NOT: all_reduce at
// AGAINST: the other's plan costs
// REPORT: after, braid
func.func @main(%x: tensor<16384x8192xbf16>, %w: tensor<8192x8192xbf16>, %v: tensor<8192x4096xbf16>) -> tensor<16384x4096xbf16> {
  %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16384x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<16384x8192xbf16>
  %1 = braid.all_reduce sum %0 groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<16384x8192xbf16>
  %2 = "stablehlo.dot_general"(%1, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16384x8192xbf16>, tensor<8192x4096xbf16>) -> tensor<16384x4096xbf16>
  return %2 : tensor<16384x4096xbf16>
}
