// Complaint: https://github.com/pytorch/pytorch/issues/192618, https://github.com/pytorch/pytorch/pull/192628
// A scheduler crashed where no memory cap was given: what it kept for the cap was not there. Here every option may be absent, and every one
// may be given alone; the cluster is named by the module.
//
// RUN: sed 's|CLUSTER|%clusters/h100-ib-ndr-1x8.yaml|' %s > %t.mlir
// RUN: braid-opt %t.mlir -split-input-file --braid-simplify -o %t.out
// RUN: braid-opt %t.mlir -split-input-file --braid-fuse-collectives | FileCheck %s --check-prefix=FUSED
// RUN: braid-opt %t.mlir -split-input-file --braid-overlap-collectives | FileCheck %s --check-prefix=OVERLAPPED
// RUN: braid-opt %t.mlir -split-input-file --braid-select-algorithms | FileCheck %s --check-prefix=CHOSEN
// RUN: braid-opt %t.mlir -split-input-file --braid-import --braid-export --braid-verify-plan -o %t.out
// RUN: braid-opt %t.mlir -split-input-file --braid-default-pipeline=target=braid | FileCheck %s
// RUN: braid-opt %t.mlir -split-input-file --braid-plan | FileCheck %s
// RUN: braid-opt %t.mlir -split-input-file --braid-plan=memory-limit=1GiB | FileCheck %s
// RUN: braid-opt %t.mlir -split-input-file --braid-plan=quantile=0.9 | FileCheck %s
// RUN: braid-opt %t.mlir -split-input-file --braid-plan=objective=serving | FileCheck %s
// RUN: braid-opt %t.mlir -split-input-file --braid-plan=engine=braid | FileCheck %s
// RUN: braid-opt %t.mlir -split-input-file --braid-plan=target=braid | FileCheck %s
// RUN: braid-opt %t.mlir -split-input-file --braid-plan=placement=packed | FileCheck %s
// RUN: braid-opt %t.mlir -split-input-file --braid-plan=cluster=%clusters/h100-roce-1x8.yaml | FileCheck %s
//
// CHECK-COUNT-4: braid.certificate
// FUSED-COUNT-4: braid.all_reduce sum %{{.*}}, %{{.*}} groups
// OVERLAPPED-COUNT-4: braid.start
// CHOSEN-COUNT-8: plan = #

module attributes {mhlo.num_partitions = 8 : i32, braid.cluster = "CLUSTER"} {
  func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<64x64xf32>
    %1 = braid.all_reduce sum %b groups = #braid.groups<[]> : tensor<64x64xf32>
    %2 = "stablehlo.dot"(%a, %b) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %0, %1, %2 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}

// -----

// Commuted.
module attributes {mhlo.num_partitions = 8 : i32, braid.cluster = "CLUSTER"} {
  func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %2 = "stablehlo.dot"(%b, %a) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = braid.all_reduce sum %b groups = #braid.groups<[]> : tensor<64x64xf32>
    %0 = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<64x64xf32>
    return %2, %1, %0 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}

// -----

// In a loop, through a call.
module attributes {mhlo.num_partitions = 8 : i32, braid.cluster = "CLUSTER"} {
  func.func private @layer(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<64x64xf32>
    %1 = braid.all_reduce sum %b groups = #braid.groups<[]> : tensor<64x64xf32>
    %2 = "stablehlo.dot"(%a, %b) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %3 = arith.addf %2, %0 : tensor<64x64xf32>
    return %3, %1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %r:2 = scf.for %i = %zero to %two step %one iter_args(%x = %a, %y = %b) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
      %0:2 = func.call @layer(%x, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
      scf.yield %0#0, %0#1 : tensor<64x64xf32>, tensor<64x64xf32>
    }
    return %r#0, %r#1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
}

// -----

// With readers more.
module attributes {mhlo.num_partitions = 8 : i32, braid.cluster = "CLUSTER"} {
  func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<64x64xf32>
    %1 = braid.all_reduce sum %b groups = #braid.groups<[]> : tensor<64x64xf32>
    %2 = "stablehlo.dot"(%a, %b) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %3 = "stablehlo.dot"(%2, %0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %4 = arith.addf %0, %1 : tensor<64x64xf32>
    return %0, %1, %3, %4 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}
