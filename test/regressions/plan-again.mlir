// Planning what is planned keeps the certificate; with something new beside what is in flight, the new one does not claim
// that its times count everything.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/planned.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" -o %t/once.mlir
// RUN: braid-opt %t/once.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" -o %t/twice.mlir 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: diff %t/once.mlir %t/twice.mlir
// RUN: FileCheck %s --check-prefix=ONCE < %t/once.mlir
// RUN: braid-opt %t/flying.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" | FileCheck %s --check-prefix=FLYING

// KEPT: remark: plan: every collective has a plan for this cluster, the module stays as it is
// ONCE: certified = true
// ONCE: braid.start
// FLYING: certified = false
// FLYING-SAME: not_certified = ["the times leave out what was in flight before planning: 1 start"]

//--- planned.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<4xf32>, %y: tensor<256x256xf32>) -> (tensor<4xf32>, tensor<256x256xf32>) {
    %r = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<4xf32>
    %d = "stablehlo.dot"(%y, %y) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    return %r, %d : tensor<4xf32>, tensor<256x256xf32>
  }
}
//--- flying.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %t = braid.start(%a = %x) : tensor<4xf32> {
      %i = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<4xf32>
      braid.yield %i : tensor<4xf32>
    }
    %r = braid.wait %t, %x : (tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %y groups = #braid.groups<[]> : tensor<4xf32>
    return %r, %s : tensor<4xf32>, tensor<4xf32>
  }
}
