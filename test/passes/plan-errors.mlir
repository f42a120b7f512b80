// Bad requests, each one error.
//
// RUN: split-file %s %t
// RUN: not braid-opt %t/program.mlir --braid-plan 2>&1 | FileCheck %s --check-prefix=CLUSTER --implicit-check-not=error:
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%t/none.yaml" 2>&1 | FileCheck %s --check-prefix=FILE --implicit-check-not=error:
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-16x8.yaml" 2>&1 | FileCheck %s --check-prefix=FEWER --implicit-check-not=error:
// RUN: not braid-opt %t/wide.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" 2>&1 | FileCheck %s --check-prefix=MORE --implicit-check-not=error:
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml memory-limit=80" 2>&1 | FileCheck %s --check-prefix=UNIT --implicit-check-not=error:
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml memory-limit=0B" 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=error:
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml memory-limit=1MiB" 2>&1 | FileCheck %s --check-prefix=MEMORY --implicit-check-not=error:
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml quantile=1.5" 2>&1 | FileCheck %s --check-prefix=QUANTILE --implicit-check-not=error:
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=mpi" 2>&1 | FileCheck %s --check-prefix=ENGINE --implicit-check-not=error:
// RUN: not braid-opt %t/program.mlir --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=mpi" 2>&1 | FileCheck %s --check-prefix=ENGINE --implicit-check-not=error:
// RUN: not braid-opt %t/program.mlir --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=mpi" 2>&1 | FileCheck %s --check-prefix=ENGINE --implicit-check-not=error:
// RUN: not braid-opt %t/program.mlir --braid-overlap-collectives="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=mpi" 2>&1 | FileCheck %s --check-prefix=ENGINE --implicit-check-not=error:
// RUN: not braid-opt %t/range.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" 2>&1 | FileCheck %s --check-prefix=RANGE --implicit-check-not=error:
// A text without `module` has no place of its own: its first operation's is given.
// RUN: not braid-opt %t/bare.mlir --braid-plan="cluster=%t/none.yaml" 2>&1 | FileCheck %s --check-prefix=BARE --implicit-check-not=error:
//
// The attribute serves as the option does; a placement allows fewer ranks than devices; a limit that holds is no error.
// RUN: sed 's|CLUSTER|%clusters/h100-ib-ndr-1x8.yaml|' %t/attribute.mlir > %t/here.mlir
// RUN: braid-opt %t/here.mlir --braid-plan | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-16x8.yaml placement=0:0,0:1,0:2,0:3,1:0,1:1,1:2,1:3" | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml memory-limit=64.7MiB" | FileCheck %s --check-prefix=ATTRIBUTE

// CLUSTER: error: cluster: expected the option 'cluster=FILE' or the module attribute 'braid.cluster', got neither
// FILE: error: cluster: {{.*}}none.yaml
// BARE: bare.mlir:1:1: error: cluster: {{.*}}none.yaml
// FEWER: error: placement: expected 128 ranks, {{.*}} got a program of 8
// MORE: error: placement: {{.*}}8{{.*}}16
// NONE: error: memory-limit: expected more than none, got '0B'
// UNIT: error: memory-limit: {{.*}}80
// MEMORY: error: plan: {{.*}}1.0 MiB
// QUANTILE: error: quantile: expected a number between 0 and 1 (0.95: the p95), got 1.5{{$}}
// ENGINE: error: engine: expected nccl (NCCL) or braid (Braid's runtime), the engines that there are, got 'mpi'
// RANGE: error: {{.*}}groups
// ATTRIBUTE: braid.certificate

//--- program.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %g = "stablehlo.dot"(%x, %x) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %r = braid.all_reduce sum %g groups = #braid.groups<[]> : tensor<1024x1024xf32>
    return %r : tensor<1024x1024xf32>
  }
}
//--- bare.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
//--- wide.mlir
module attributes {mhlo.num_partitions = 16 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
//--- range.mlir
module {
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=8]>, sym_name = "mesh"}> : () -> ()
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
//--- attribute.mlir
module attributes {mhlo.num_partitions = 8 : i32, braid.cluster = "CLUSTER"} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
