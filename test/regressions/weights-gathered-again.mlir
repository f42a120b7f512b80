// Complaint: https://github.com/openxla/xla/issues/18090, https://github.com/pytorch/xla/issues/6379, https://github.com/pytorch/xla/pull/6528
// A program gathers its weights for the forward pass, and again for the backward pass, so that no rank holds them all. The compiler made one
// gather of the two, or began them all early, and the weights stayed in memory. Here two gathers stay two, each comes no earlier than the
// memory allows, wherever the text has it, and where the program keeps a gathered tensor too long, the error says which.
//
// RUN: split-file %s %t
// DEFINE: %{early} = --cse --canonicalize --braid-simplify
// DEFINE: %{plan} = --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml placement=0:0,0:1
//
// RUN: braid-opt %t/base.mlir %{early} %{plan} memory-limit=22MiB" --braid-verify-plan | FileCheck %s --check-prefix=TIGHT
// RUN: braid-opt %t/commuted.mlir %{early} %{plan} memory-limit=22MiB" --braid-verify-plan | FileCheck %s --check-prefix=TIGHT
// RUN: braid-opt %t/loop.mlir %{early} %{plan} memory-limit=30MiB loops=keep" --braid-verify-plan | FileCheck %s --check-prefix=TIGHT
// RUN: braid-opt %t/user.mlir %{early} %{plan} memory-limit=26MiB" --braid-verify-plan | FileCheck %s --check-prefix=KEPT
//
// With room for one more they are begun one ahead, and no two.
// RUN: braid-opt %t/base.mlir %{early} %{plan} memory-limit=26MiB" --braid-verify-plan | FileCheck %s --check-prefix=AHEAD
// RUN: braid-opt %t/commuted.mlir %{early} %{plan} memory-limit=26MiB" --braid-verify-plan | FileCheck %s --check-prefix=AHEAD
//
// RUN: not braid-opt %t/base.mlir %{plan} memory-limit=21MiB" 2>&1 | FileCheck %s --check-prefix=BASE
// RUN: not braid-opt %t/commuted.mlir %{plan} memory-limit=21MiB" 2>&1 | FileCheck %s --check-prefix=COMMUTED
// RUN: not braid-opt %t/user.mlir %{plan} memory-limit=22MiB" 2>&1 | FileCheck %s --check-prefix=USER

// The second one begins beside the first product, while little else is alive; the others each where they are needed.
// TIGHT: braid.all_gather
// TIGHT-NEXT: braid.start
// TIGHT-NEXT: braid.all_gather
// TIGHT: "stablehlo.dot"
// TIGHT-NEXT: braid.wait
// TIGHT-NEXT: "stablehlo.dot"
// TIGHT-NEXT: braid.all_gather
// TIGHT-NEXT: "stablehlo.dot"
// TIGHT-NEXT: braid.all_gather
// TIGHT-NEXT: "stablehlo.dot"
// TIGHT-NEXT: braid.all_gather
// TIGHT-NEXT: "stablehlo.dot"
// TIGHT-NEXT: braid.all_gather
// TIGHT-NEXT: "stablehlo.dot"
// TIGHT-NOT: braid.start
// KEPT-COUNT-5: braid.all_gather
// AHEAD: braid.all_gather
// AHEAD: braid.start
// AHEAD: "stablehlo.dot"
// AHEAD-NEXT: braid.wait
// AHEAD-NEXT: braid.start
// AHEAD: "stablehlo.dot"
// AHEAD-NEXT: braid.wait
// BASE: error: plan: memory of the program before planning, expected at most 21.0 MiB, got a peak of 22.0 MiB; held by {{.*}}all_gather at
// COMMUTED: error: plan: memory of the program with each gather as late as it can be, expected at most 21.0 MiB, got a peak of 22.0 MiB; held by
// COMMUTED-SAME: all_gather at
// USER: error: plan: memory of the program before planning, expected at most 22.0 MiB, got a peak of 26.0 MiB; held by {{.*}}all_gather at {{.*}}all_gather at

//--- base.mlir
func.func @main(%x: tensor<1024x1024xf32>, %w1: tensor<512x1024xf32>, %w2: tensor<512x1024xf32>, %w3: tensor<512x1024xf32>) -> tensor<1024x1024xf32> {
  %f1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %h1 = "stablehlo.dot"(%x, %f1) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %f2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %h2 = "stablehlo.dot"(%h1, %f2) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %f3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %h3 = "stablehlo.dot"(%h2, %f3) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %b3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %g3 = "stablehlo.dot"(%h3, %b3) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %b2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %g2 = "stablehlo.dot"(%g3, %b2) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %b1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %g1 = "stablehlo.dot"(%g2, %b1) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %g1 : tensor<1024x1024xf32>
}
//--- commuted.mlir
func.func @main(%x: tensor<1024x1024xf32>, %w1: tensor<512x1024xf32>, %w2: tensor<512x1024xf32>, %w3: tensor<512x1024xf32>) -> tensor<1024x1024xf32> {
  %b1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %b2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %b3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %f3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %f2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %f1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %h1 = "stablehlo.dot"(%x, %f1) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %h2 = "stablehlo.dot"(%h1, %f2) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %h3 = "stablehlo.dot"(%h2, %f3) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %g3 = "stablehlo.dot"(%h3, %b3) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %g2 = "stablehlo.dot"(%g3, %b2) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %g1 = "stablehlo.dot"(%g2, %b1) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %g1 : tensor<1024x1024xf32>
}
//--- loop.mlir
func.func private @layers(%x: tensor<1024x1024xf32>, %w1: tensor<512x1024xf32>, %w2: tensor<512x1024xf32>, %w3: tensor<512x1024xf32>) -> tensor<1024x1024xf32> {
  %b1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %b2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %b3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %f3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %f2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %f1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %h1 = "stablehlo.dot"(%x, %f1) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %h2 = "stablehlo.dot"(%h1, %f2) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %h3 = "stablehlo.dot"(%h2, %f3) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %g3 = "stablehlo.dot"(%h3, %b3) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %g2 = "stablehlo.dot"(%g3, %b2) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %g1 = "stablehlo.dot"(%g2, %b1) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %g1 : tensor<1024x1024xf32>
}
func.func @main(%x: tensor<1024x1024xf32>, %w1: tensor<512x1024xf32>, %w2: tensor<512x1024xf32>, %w3: tensor<512x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = scf.for %i = %zero to %three step %one iter_args(%y = %x) -> tensor<1024x1024xf32> {
    %s = func.call @layers(%y, %w1, %w2, %w3) : (tensor<1024x1024xf32>, tensor<512x1024xf32>, tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<1024x1024xf32>
    scf.yield %s : tensor<1024x1024xf32>
  }
  return %r : tensor<1024x1024xf32>
}
//--- user.mlir
func.func @main(%x: tensor<1024x1024xf32>, %w1: tensor<512x1024xf32>, %w2: tensor<512x1024xf32>, %w3: tensor<512x1024xf32>) -> tensor<1024x1024xf32> {
  %f1 = braid.all_gather %w1 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %h1 = "stablehlo.dot"(%x, %f1) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %f2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %h2 = "stablehlo.dot"(%h1, %f2) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %f3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %h3 = "stablehlo.dot"(%h2, %f3) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %b3 = braid.all_gather %w3 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %g3 = "stablehlo.dot"(%h3, %b3) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %b2 = braid.all_gather %w2 dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %g2 = "stablehlo.dot"(%g3, %b2) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %g1 = "stablehlo.dot"(%g2, %f1) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %g1 : tensor<1024x1024xf32>
}
