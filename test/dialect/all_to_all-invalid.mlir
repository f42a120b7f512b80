// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c1_zero_operands() {
  // expected-error @+1 {{operands, expected at least one, got none}}
  "braid.all_to_all"() <{split_dims = array<i64>, concat_dims = array<i64>, groups = #braid.groups<[[0, 1]]>}> : () -> ()
  return
}

// -----

func.func @c2_id_out_of_range(%a: tensor<4xf32>) {
  // expected-error @+1 {{groups, expected ids from 0 to 1, got 3}}
  %r = braid.all_to_all %a split = [0] concat = [0] groups = #braid.groups<[[0, 3]]> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c7_number_of_split_dims(%a: tensor<4xf32>) {
  // expected-error @+1 {{'split', expected one dimension for each of 1 operands, got 0}}
  %r = braid.all_to_all %a split = [] concat = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c7_concat_dim_out_of_range(%a: tensor<4xf32>) {
  // expected-error @+1 {{'concat', expected a dimension of operand 0, which has 1, got 2}}
  %r = braid.all_to_all %a split = [0] concat = [2] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c8_uneven_groups(%a: tensor<6xf32>) {
  // expected-error @+1 {{groups, expected all of one size}}
  %r = braid.all_to_all %a split = [0] concat = [0] groups = #braid.groups<[[0, 1], [2]]> : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @c9_split_not_divisible(%a: tensor<6x4xf32>) {
  // expected-error @+1 {{operand 0, expected dimension 0 to be a multiple of the group size 4, got 6}}
  %r = braid.all_to_all %a split = [0] concat = [1] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<6x4xf32>) -> tensor<2x16xf32>
  return
}

// -----

func.func @c9_concat_too_small(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{result 0, expected dimension 1 to be that of the operand, 4, times the group size 4, got 8}}
  %r = braid.all_to_all %a split = [0] concat = [1] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<8x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @c9_same_dimension_not_divisible(%a: tensor<6xf32>) {
  // expected-error @+1 {{operand 0, expected dimension 0 to be a multiple of the group size 4, got 6}}
  %r = braid.all_to_all %a split = [0] concat = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @c9_same_dimension_changes(%a: tensor<8xf32>) {
  // expected-error @+1 {{result 0, expected dimension 0 to be the operand's, 8, got 4}}
  %r = braid.all_to_all %a split = [0] concat = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c9_third_dimension(%a: tensor<8x4x5xf32>) {
  // expected-error @+1 {{result 0, expected dimension 2 to be the operand's, 5, got 6}}
  %r = braid.all_to_all %a split = [0] concat = [1] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<8x4x5xf32>) -> tensor<2x16x6xf32>
  return
}
