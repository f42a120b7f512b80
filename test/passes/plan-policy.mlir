// Whose schedule is written: a baseline's, for who wants to run it. Three gradients of 8 MiB: XLA's combiner takes all three, DDP closes
// its first bucket at 1 MiB; as written, each blocks. The certificate says which it is, and keeps the bound.
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml policy=xla-30mib" | FileCheck %s --check-prefixes=CHECK,XLA
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml policy=ddp-25mib" | FileCheck %s --check-prefixes=CHECK,DDP
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml policy=no-overlap" | FileCheck %s --check-prefixes=CHECK,WRITTEN
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml policy=ddp-25mib" --braid-verify-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" -o /dev/null
// RUN: braid-opt %s --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-4x2.yaml policy=per-tensor target=braid" | FileCheck %s --check-prefix=PIPELINE
// RUN: not braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml policy=fsdp" 2>&1 | FileCheck %s --check-prefix=FSDP
// FSDP: Cannot find option named 'fsdp'!

// CHECK: braid.certificate = {{.*}}bound_s =
// XLA-SAME: rule = "as asked for: xla-30mib"
// DDP-SAME: rule = "as asked for: ddp-25mib"
// WRITTEN-SAME: rule = "as asked for: no-overlap"
// XLA: braid.all_reduce sum %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} groups
// DDP-COUNT-2: braid.all_reduce sum
// WRITTEN-NOT: braid.start
// WRITTEN-COUNT-3: braid.all_reduce sum %{{[^,]*}} groups
// PIPELINE-COUNT-3: braid.all_reduce sum %{{[^,]*}} groups
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<1024x2048xf32>, %y: tensor<2048x2048xf32>) -> (tensor<1024x2048xf32>, tensor<1024x2048xf32>, tensor<1024x2048xf32>) {
    %g0 = "stablehlo.dot"(%x, %y) : (tensor<1024x2048xf32>, tensor<2048x2048xf32>) -> tensor<1024x2048xf32>
    %r0 = braid.all_reduce sum %g0 groups = #braid.groups<[]> : tensor<1024x2048xf32>
    %g1 = "stablehlo.dot"(%g0, %y) : (tensor<1024x2048xf32>, tensor<2048x2048xf32>) -> tensor<1024x2048xf32>
    %r1 = braid.all_reduce sum %g1 groups = #braid.groups<[]> : tensor<1024x2048xf32>
    %g2 = "stablehlo.dot"(%g1, %y) : (tensor<1024x2048xf32>, tensor<2048x2048xf32>) -> tensor<1024x2048xf32>
    %r2 = braid.all_reduce sum %g2 groups = #braid.groups<[]> : tensor<1024x2048xf32>
    return %r0, %r1, %r2 : tensor<1024x2048xf32>, tensor<1024x2048xf32>, tensor<1024x2048xf32>
  }
}
