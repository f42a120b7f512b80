// Placeholder dialects verify nothing. An operation without the operands, results or regions of its kind is one error when
// a module is planned, checked or merged, not a crash.
//
// RUN: braid-opt %s --braid-plan=cluster=%clusters/h100-ib-ndr-1x8.yaml --split-input-file --verify-diagnostics -o %t
// RUN: braid-opt %s --braid-fuse-collectives --split-input-file --verify-diagnostics -o %t
// RUN: braid-opt %s --braid-overlap-collectives --split-input-file --verify-diagnostics -o %t

func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  // expected-error @below {{expected at least 2 operands, got 0 operands}}
  %1 = "stablehlo.dot_general"() : () -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  // expected-error @below {{expected at least 2 operands, got 1 operand}}
  %1 = "stablehlo.gather"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  // expected-error @below {{expected at least 2 operands, got 1 operand}}
  %1:2 = "stablehlo.scatter"(%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  // expected-error @below {{expected 1 result, got 0 results}}
  "stablehlo.convolution"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  // expected-error @below {{expected 2 regions, got 0 regions}}
  %1 = "stablehlo.while"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>, %i: tensor<i32>, %n: tensor<i32>) -> tensor<4xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  // expected-error @below {{expected region 1 to return 2 values, got 1 value}}
  %1:2 = "stablehlo.while"(%a, %i) ({
  ^bb0(%x: tensor<4xf32>, %k: tensor<i32>):
    %c = "stablehlo.compare"(%k, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%x: tensor<4xf32>, %k: tensor<i32>):
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  // expected-error @below {{expected region 0 to have one block that ends with a return}}
  %1 = "stablehlo.case"(%i) ({}) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected no regions, got 1 region}}
  %1 = "stablehlo.negate"(%a) ({
    %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
    "stablehlo.return"(%0) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  // expected-error @below {{expected 1 region, got 0 regions}}
  %1 = "sdy.manual_computation"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @twice(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  // expected-error @below {{expected the operands and results of its decomposition @twice, got others}}
  %1 = "stablehlo.composite"(%a) <{decomposition = @twice, name = "my.twice"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  // expected-error @below {{expected an operand and a result of an annotation, got 0 operands}}
  %1 = "stablehlo.custom_call"() <{call_target_name = "Sharding"}> : () -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
