// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c1_zero_operands() {
  // expected-error @+1 {{operands, expected at least one, got none}}
  "braid.permute"() <{pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : () -> ()
  return
}

// -----

func.func @c2_source_twice(%a: tensor<4xf32>) {
  // expected-error @+1 {{pairs, expected each rank as a source once, got 0 twice}}
  %r = braid.permute %a pairs = [[0, 1], [0, 2]] : tensor<4xf32>
  return
}

// -----

func.func @c2_target_twice(%a: tensor<4xf32>) {
  // expected-error @+1 {{pairs, expected each rank as a target once, got 2 twice}}
  %r = braid.permute %a pairs = [[0, 2], [1, 2]] : tensor<4xf32>
  return
}

// -----

func.func @c3_negative(%a: tensor<4xf32>) {
  // expected-error @+1 {{pairs, expected ids that are not negative, got -1}}
  %r = braid.permute %a pairs = [[0, -1]] : tensor<4xf32>
  return
}

// -----

module attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 4 : i32} {
  func.func @c3_out_of_range(%a: tensor<4xf32>) {
    // expected-error @+1 {{pairs, expected ids from 0 to 3, got 4}}
    %r = braid.permute %a pairs = [[0, 4]] : tensor<4xf32>
    return
  }
}

// -----

func.func @c3_id_space(%a: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'id_space', expected flattened, replica or partition, got replica_and_partition}}
  %r = braid.permute %a pairs = [[0, 1]] {id_space = #braid.id_space<replica_and_partition>} : tensor<4xf32>
  return
}

// -----

func.func @c6_result_type(%a: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s)}}
  %r = "braid.permute"(%a) <{pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @c7_three_columns(%a: tensor<4xf32>) {
  // expected-error @+1 {{pairs, expected two columns, got 'tensor<1x3xi64>'}}
  %r = "braid.permute"(%a) <{pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @parse_three_in_a_pair(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected ']'}}
  %r = braid.permute %a pairs = [[0, 1, 2]] : tensor<4xf32>
  return
}
