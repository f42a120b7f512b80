// Complaint: https://github.com/pytorch/pytorch/pull/179935
// Overlap was scheduled first, which left nothing that could still be merged; and a bucket of a fixed size is too small for one network and
// leaves nothing to overlap on another. Here buckets and overlap are decided together: of twelve gathers and the products that read them there
// are the fewer launches the longer a message takes, and as long as there are several, one runs beside a product.
//
// RUN: split-file %s %t
// RUN: sed -i 's|BASE|%clusters/h100-roce-4x2.yaml|' %t/short.yaml %t/middle.yaml %t/long.yaml
// RUN: braid-opt %t/base.mlir --braid-plan="cluster=%t/short.yaml engine=braid target=braid" --braid-verify-plan -o %t/base.short.mlir
// RUN: braid-opt %t/base.mlir --braid-plan="cluster=%t/middle.yaml engine=braid target=braid" --braid-verify-plan -o %t/base.middle.mlir
// RUN: braid-opt %t/base.mlir --braid-plan="cluster=%t/long.yaml engine=braid target=braid" --braid-verify-plan -o %t/base.long.mlir
// RUN: python3 %S/Inputs/falls.py braid.all_gather %t/base.short.mlir %t/base.middle.mlir %t/base.long.mlir
// RUN: FileCheck %s < %t/base.short.mlir
// RUN: braid-opt %t/commuted.mlir --braid-plan="cluster=%t/short.yaml engine=braid target=braid" --braid-verify-plan -o %t/commuted.short.mlir
// RUN: braid-opt %t/commuted.mlir --braid-plan="cluster=%t/middle.yaml engine=braid target=braid" --braid-verify-plan -o %t/commuted.middle.mlir
// RUN: braid-opt %t/commuted.mlir --braid-plan="cluster=%t/long.yaml engine=braid target=braid" --braid-verify-plan -o %t/commuted.long.mlir
// RUN: python3 %S/Inputs/falls.py braid.all_gather %t/commuted.short.mlir %t/commuted.middle.mlir %t/commuted.long.mlir
// RUN: FileCheck %s < %t/commuted.short.mlir
// RUN: braid-opt %t/call.mlir --braid-plan="cluster=%t/short.yaml engine=braid target=braid" --braid-verify-plan -o %t/call.short.mlir
// RUN: braid-opt %t/call.mlir --braid-plan="cluster=%t/middle.yaml engine=braid target=braid" --braid-verify-plan -o %t/call.middle.mlir
// RUN: braid-opt %t/call.mlir --braid-plan="cluster=%t/long.yaml engine=braid target=braid" --braid-verify-plan -o %t/call.long.mlir
// RUN: python3 %S/Inputs/falls.py braid.all_gather %t/call.short.mlir %t/call.middle.mlir %t/call.long.mlir
// RUN: FileCheck %s < %t/call.short.mlir
// RUN: braid-opt %t/user.mlir --braid-plan="cluster=%t/short.yaml engine=braid target=braid" --braid-verify-plan -o %t/user.short.mlir
// RUN: braid-opt %t/user.mlir --braid-plan="cluster=%t/middle.yaml engine=braid target=braid" --braid-verify-plan -o %t/user.middle.mlir
// RUN: braid-opt %t/user.mlir --braid-plan="cluster=%t/long.yaml engine=braid target=braid" --braid-verify-plan -o %t/user.long.mlir
// RUN: python3 %S/Inputs/falls.py braid.all_gather %t/user.short.mlir %t/user.middle.mlir %t/user.long.mlir
// RUN: FileCheck %s < %t/user.short.mlir

// CHECK: braid.start
// CHECK: braid.all_gather
// CHECK: "stablehlo.dot"
// CHECK: braid.wait

//--- short.yaml
base: BASE
name: short
inter: {latency: "0.2 us"}
//--- middle.yaml
base: BASE
name: middle
inter: {latency: "5 us"}
//--- long.yaml
base: BASE
name: long
inter: {latency: "300 us"}
//--- base.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<512x512xf32>, %w0: tensor<64x512xf32>, %w1: tensor<64x512xf32>, %w2: tensor<64x512xf32>, %w3: tensor<64x512xf32>, %w4: tensor<64x512xf32>, %w5: tensor<64x512xf32>, %w6: tensor<64x512xf32>, %w7: tensor<64x512xf32>, %w8: tensor<64x512xf32>, %w9: tensor<64x512xf32>, %w10: tensor<64x512xf32>, %w11: tensor<64x512xf32>) -> (tensor<512x512xf32>) {
    %f0 = braid.all_gather %w0 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h0 = "stablehlo.dot"(%x, %f0) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h1 = "stablehlo.dot"(%h0, %f1) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h2 = "stablehlo.dot"(%h1, %f2) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h3 = "stablehlo.dot"(%h2, %f3) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f4 = braid.all_gather %w4 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h4 = "stablehlo.dot"(%h3, %f4) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f5 = braid.all_gather %w5 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h5 = "stablehlo.dot"(%h4, %f5) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f6 = braid.all_gather %w6 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h6 = "stablehlo.dot"(%h5, %f6) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f7 = braid.all_gather %w7 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h7 = "stablehlo.dot"(%h6, %f7) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f8 = braid.all_gather %w8 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h8 = "stablehlo.dot"(%h7, %f8) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f9 = braid.all_gather %w9 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h9 = "stablehlo.dot"(%h8, %f9) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f10 = braid.all_gather %w10 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h10 = "stablehlo.dot"(%h9, %f10) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f11 = braid.all_gather %w11 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h11 = "stablehlo.dot"(%h10, %f11) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %h11 : tensor<512x512xf32>
  }
}
//--- commuted.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<512x512xf32>, %w0: tensor<64x512xf32>, %w1: tensor<64x512xf32>, %w2: tensor<64x512xf32>, %w3: tensor<64x512xf32>, %w4: tensor<64x512xf32>, %w5: tensor<64x512xf32>, %w6: tensor<64x512xf32>, %w7: tensor<64x512xf32>, %w8: tensor<64x512xf32>, %w9: tensor<64x512xf32>, %w10: tensor<64x512xf32>, %w11: tensor<64x512xf32>) -> (tensor<512x512xf32>) {
    %f11 = braid.all_gather %w11 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f10 = braid.all_gather %w10 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f9 = braid.all_gather %w9 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f8 = braid.all_gather %w8 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f7 = braid.all_gather %w7 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f6 = braid.all_gather %w6 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f5 = braid.all_gather %w5 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f4 = braid.all_gather %w4 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %f0 = braid.all_gather %w0 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h0 = "stablehlo.dot"(%x, %f0) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h1 = "stablehlo.dot"(%h0, %f1) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h2 = "stablehlo.dot"(%h1, %f2) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h3 = "stablehlo.dot"(%h2, %f3) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h4 = "stablehlo.dot"(%h3, %f4) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h5 = "stablehlo.dot"(%h4, %f5) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h6 = "stablehlo.dot"(%h5, %f6) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h7 = "stablehlo.dot"(%h6, %f7) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h8 = "stablehlo.dot"(%h7, %f8) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h9 = "stablehlo.dot"(%h8, %f9) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h10 = "stablehlo.dot"(%h9, %f10) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %h11 = "stablehlo.dot"(%h10, %f11) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %h11 : tensor<512x512xf32>
  }
}
//--- call.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func private @layers(%x: tensor<512x512xf32>, %w0: tensor<64x512xf32>, %w1: tensor<64x512xf32>, %w2: tensor<64x512xf32>, %w3: tensor<64x512xf32>, %w4: tensor<64x512xf32>, %w5: tensor<64x512xf32>, %w6: tensor<64x512xf32>, %w7: tensor<64x512xf32>, %w8: tensor<64x512xf32>, %w9: tensor<64x512xf32>, %w10: tensor<64x512xf32>, %w11: tensor<64x512xf32>) -> (tensor<512x512xf32>) {
    %f0 = braid.all_gather %w0 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h0 = "stablehlo.dot"(%x, %f0) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h1 = "stablehlo.dot"(%h0, %f1) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h2 = "stablehlo.dot"(%h1, %f2) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h3 = "stablehlo.dot"(%h2, %f3) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f4 = braid.all_gather %w4 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h4 = "stablehlo.dot"(%h3, %f4) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f5 = braid.all_gather %w5 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h5 = "stablehlo.dot"(%h4, %f5) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f6 = braid.all_gather %w6 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h6 = "stablehlo.dot"(%h5, %f6) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f7 = braid.all_gather %w7 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h7 = "stablehlo.dot"(%h6, %f7) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f8 = braid.all_gather %w8 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h8 = "stablehlo.dot"(%h7, %f8) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f9 = braid.all_gather %w9 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h9 = "stablehlo.dot"(%h8, %f9) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f10 = braid.all_gather %w10 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h10 = "stablehlo.dot"(%h9, %f10) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f11 = braid.all_gather %w11 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h11 = "stablehlo.dot"(%h10, %f11) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %h11 : tensor<512x512xf32>
  }
  func.func @main(%x: tensor<512x512xf32>, %w0: tensor<64x512xf32>, %w1: tensor<64x512xf32>, %w2: tensor<64x512xf32>, %w3: tensor<64x512xf32>, %w4: tensor<64x512xf32>, %w5: tensor<64x512xf32>, %w6: tensor<64x512xf32>, %w7: tensor<64x512xf32>, %w8: tensor<64x512xf32>, %w9: tensor<64x512xf32>, %w10: tensor<64x512xf32>, %w11: tensor<64x512xf32>) -> (tensor<512x512xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %r = scf.for %i = %zero to %two step %one iter_args(%y = %x) -> tensor<512x512xf32> {
      %s = func.call @layers(%y, %w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7, %w8, %w9, %w10, %w11) : (tensor<512x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<512x512xf32>
      scf.yield %s : tensor<512x512xf32>
    }
    return %r : tensor<512x512xf32>
  }
}
//--- user.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<512x512xf32>, %w0: tensor<64x512xf32>, %w1: tensor<64x512xf32>, %w2: tensor<64x512xf32>, %w3: tensor<64x512xf32>, %w4: tensor<64x512xf32>, %w5: tensor<64x512xf32>, %w6: tensor<64x512xf32>, %w7: tensor<64x512xf32>, %w8: tensor<64x512xf32>, %w9: tensor<64x512xf32>, %w10: tensor<64x512xf32>, %w11: tensor<64x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>) {
    %f0 = braid.all_gather %w0 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h0 = "stablehlo.dot"(%x, %f0) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h1 = "stablehlo.dot"(%h0, %f1) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h2 = "stablehlo.dot"(%h1, %f2) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h3 = "stablehlo.dot"(%h2, %f3) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f4 = braid.all_gather %w4 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h4 = "stablehlo.dot"(%h3, %f4) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f5 = braid.all_gather %w5 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h5 = "stablehlo.dot"(%h4, %f5) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f6 = braid.all_gather %w6 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h6 = "stablehlo.dot"(%h5, %f6) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f7 = braid.all_gather %w7 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h7 = "stablehlo.dot"(%h6, %f7) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f8 = braid.all_gather %w8 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h8 = "stablehlo.dot"(%h7, %f8) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f9 = braid.all_gather %w9 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h9 = "stablehlo.dot"(%h8, %f9) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f10 = braid.all_gather %w10 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h10 = "stablehlo.dot"(%h9, %f10) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %f11 = braid.all_gather %w11 dims = [0] groups = #braid.groups<[]> : (tensor<64x512xf32>) -> tensor<512x512xf32>
    %h11 = "stablehlo.dot"(%h10, %f11) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %s0 = arith.addf %f0, %f1 : tensor<512x512xf32>
    %s6 = arith.addf %f6, %f7 : tensor<512x512xf32>
    return %h11, %s0, %s6 : tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>
  }
}
