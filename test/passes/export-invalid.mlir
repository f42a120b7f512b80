// RUN: braid-opt %s -split-input-file -verify-diagnostics --braid-export
//
// What StableHLO has no form for is an error on the operation.

func.func @unknown_ranks(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected groups as lists or a module that says how many ranks it has}}
  %0 = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @average_over_uneven(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected groups of one known size, got #braid.groups<}}
  %0 = braid.all_reduce average %a groups = #braid.groups<[[0, 1], [2]]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @flattened_pairs(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{expected ids of replicas or partitions for 'stablehlo.collective_permute', got flattened ids in a module of 2 replicas and 2 partitions}}
    %0 = braid.permute %a pairs = [[0, 3]] : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

func.func @token_from_elsewhere(%t: !braid.token, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no form in StableHLO: expected a token that comes straight from braid.start}}
  %0 = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
