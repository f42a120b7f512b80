// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c1_zero_operands() {
  // expected-error @+1 {{operands, expected at least one, got none}}
  "braid.all_gather"() <{dims = array<i64>, groups = #braid.groups<[[0, 1]]>}> : () -> ()
  return
}

// -----

func.func @c2_id_twice(%a: tensor<4xf32>) {
  // expected-error @+1 {{groups, expected each id once, got 0 twice}}
  %r = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 0]]> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c6_number_of_results(%a: tensor<4xf32>) {
  // expected-error @+1 {{results, expected one for each of 1 operands, got 2}}
  %r:2 = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @c6_element_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{result 0, expected element type and rank of the operand, 'tensor<4xf32>', got 'tensor<8xbf16>'}}
  %r = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xbf16>
  return
}

// -----

func.func @c7_number_of_dims(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dims', expected one dimension for each of 1 operands, got 2}}
  %r = braid.all_gather %a dims = [0, 0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c7_dim_out_of_range(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dims', expected a dimension of operand 0, which has 1, got 1}}
  %r = braid.all_gather %a dims = [1] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c7_scalar(%a: tensor<f32>) {
  // expected-error @+1 {{'dims', expected a dimension of operand 0, which has 0, got 0}}
  %r = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @c8_uneven_groups(%a: tensor<4xf32>) {
  // expected-error @+1 {{groups, expected all of one size, since result shapes are the same on all ranks, got #braid.groups<[[0, 1], [2]]>}}
  %r = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1], [2]]> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c9_result_too_small(%a: tensor<4xf32>) {
  // expected-error @+1 {{result 0, expected dimension 0 to be that of the operand, 4, times the group size 4, got 8}}
  %r = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c9_not_a_multiple(%a: tensor<?xf32>) {
  // expected-error @+1 {{result 0, expected dimension 0 to be a multiple of the group size 4, got 6}}
  %r = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<?xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @c9_other_dimension(%a: tensor<4x2xf32>) {
  // expected-error @+1 {{result 0, expected dimension 1 to be the operand's, 2, got 4}}
  %r = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 4 : i32} {
  func.func @c9_group_of_all_ranks(%a: tensor<4xf32>) {
    // expected-error @+1 {{times the group size 8, got 16}}
    %r = braid.all_gather %a dims = [0] groups = #braid.groups<[]> : (tensor<4xf32>) -> tensor<16xf32>
    return
  }
}

// -----

module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 4 : i32} {
  func.func @c9_all_partitions_of_the_replicas(%a: tensor<4xf32>) {
    // expected-error @+1 {{times the group size 8, got 8}}
    %r = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<replica_and_partition>} : (tensor<4xf32>) -> tensor<8xf32>
    return
  }
}

// -----

func.func @parse_types(%a: tensor<4xf32>) {
  // expected-error @+1 {{types, expected (operands) -> results, got 'tensor<4xf32>'}}
  %r = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return
}
