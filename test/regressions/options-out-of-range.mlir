// Numbers that mean nothing are errors, one each; -1 is no way to say "absent".
//
// RUN: not braid-opt %s --braid-fuse-collectives="max-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES --implicit-check-not=error:
// RUN: not braid-opt %s --braid-fuse-collectives="first-max-bytes=-5" 2>&1 | FileCheck %s --check-prefix=FIRST --implicit-check-not=error:
// RUN: not braid-opt %s --braid-fuse-collectives="max-count=-2" 2>&1 | FileCheck %s --check-prefix=COUNT --implicit-check-not=error:
// RUN: not braid-opt %s --braid-overlap-collectives="in-flight=0" 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=error:
// RUN: not braid-opt %s --braid-overlap-collectives="in-flight=-3" 2>&1 | FileCheck %s --check-prefix=LESS --implicit-check-not=error:
// RUN: not braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml quantile=-1" 2>&1 | FileCheck %s --check-prefix=QUANTILE --implicit-check-not=error:
// RUN: not braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-1x8.yaml quantile=-1" 2>&1 | FileCheck %s --check-prefix=QUANTILE --implicit-check-not=error:
// RUN: not braid-opt %s --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-1x8.yaml quantile=-1" 2>&1 | FileCheck %s --check-prefix=QUANTILE --implicit-check-not=error:
//
// What is not given stays absent, through the pipeline too; large counts are no overflow.
// RUN: braid-opt %s --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-1x8.yaml target=braid" | FileCheck %s --check-prefix=ABSENT
// RUN: braid-opt %s --braid-fuse-collectives="max-count=4294967296" | FileCheck %s --check-prefix=MERGED

// BYTES: error: max-bytes: expected 0 or more, got -1
// FIRST: error: first-max-bytes: expected 0 or more, got -5
// COUNT: error: max-count: expected 0 or more, got -2
// NONE: error: in-flight: expected 1 or more, got 0
// LESS: error: in-flight: expected 1 or more, got -3
// QUANTILE: error: quantile: expected a number between 0 and 1 (0.95: the p95), got -1{{$}}
// ABSENT: quantile = 5.000000e-01
// MERGED: braid.all_reduce sum %{{.*}}, %{{.*}} groups
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %r = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<4xf32>
    %s = braid.all_reduce sum %y groups = #braid.groups<[]> : tensor<4xf32>
    return %r, %s : tensor<4xf32>, tensor<4xf32>
  }
}
