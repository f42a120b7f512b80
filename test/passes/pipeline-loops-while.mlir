// A counted stablehlo.while is pipelined as scf.for is. With the operand carried it goes back to StableHLO; a token in flight from trip to
// trip has no form there, which the export says.
// RUN: braid-opt %s --braid-pipeline-loops | FileCheck %s
// RUN: braid-opt %s --braid-pipeline-loops=carry=operand | FileCheck %s --check-prefix=OPERAND
// RUN: braid-opt %s --braid-pipeline-loops=carry=operand --braid-export | FileCheck %s --check-prefix=EXPORT
// RUN: not braid-opt %s --braid-pipeline-loops --braid-export 2>&1 | FileCheck %s --check-prefix=TOKEN
// EXPORT-COUNT-2: "stablehlo.all_reduce"
// TOKEN: expected its token to go into braid.wait only

// stablehlo.while that counts: the condition is as it was, of the trip that begins.
// CHECK-LABEL: func.func @counted
// CHECK: "stablehlo.while"(%{{.*}}, %[[T:.*]], %{{.*}}) ({
// CHECK: ^bb0(%[[I:[^:]*]]: tensor<i32>, %{{[^:]*}}: !braid.token, %{{[^:]*}}: tensor<4xf32>):
// CHECK: "stablehlo.compare"(%[[I]],
// CHECK: ^bb0
// CHECK: "stablehlo.exponential"
// CHECK: braid.wait
// CHECK: braid.start
// CHECK: "stablehlo.return"
// CHECK: braid.wait
// OPERAND-LABEL: func.func @counted
// OPERAND: "stablehlo.while"(%{{.*}}, %{{.*}}) ({
// OPERAND: ^bb0(%[[I:.*]]: tensor<i32>, %[[Q:.*]]: tensor<4xf32>):
// OPERAND: ^bb0(%[[I:.*]]: tensor<i32>, %[[Q:.*]]: tensor<4xf32>):
// OPERAND-NEXT: braid.all_reduce sum %[[Q]]
func.func @counted(%w: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %r:2 = "stablehlo.while"(%zero, %w) ({
  ^bb0(%i: tensor<i32>, %p: tensor<4xf32>):
    %go = "stablehlo.compare"(%i, %five) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %p: tensor<4xf32>):
    %x = "stablehlo.exponential"(%v) : (tensor<4xf32>) -> tensor<4xf32>
    %y = "stablehlo.multiply"(%x, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %y groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%j, %s) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}
