// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c1_zero_operands() {
  // expected-error @+1 {{operands, expected at least one, got none}}
  braid.reduce_scatter sum dims = [] groups = #braid.groups<[[0, 1]]> : () -> ()
  return
}

// -----

func.func @c2_id_out_of_range(%a: tensor<4xf32>) {
  // expected-error @+1 {{groups, expected ids from 0 to 1, got 2}}
  %r = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 2]]> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c3_mixed_types(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @+1 {{operand 1, expected the element type of operand 0, 'f32', got 'f16'}}
  %r:2 = braid.reduce_scatter sum %a, %b dims = [0, 0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>, tensor<4xf16>) -> (tensor<2xf32>, tensor<2xf16>)
  return
}

// -----

func.func @c4_or_of_floats(%a: tensor<4xf32>) {
  // expected-error @+1 {{reduction 'or', expected integer elements, got 'f32'}}
  %r = braid.reduce_scatter or %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c6_rank(%a: tensor<4xf32>) {
  // expected-error @+1 {{result 0, expected element type and rank of the operand, 'tensor<4xf32>', got 'tensor<2x1xf32>'}}
  %r = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @c7_negative_dim(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dims', expected a dimension of operand 0, which has 1, got -1}}
  %r = braid.reduce_scatter sum %a dims = [-1] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c8_uneven_groups(%a: tensor<4xf32>) {
  // expected-error @+1 {{groups, expected all of one size}}
  %r = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 1], [2]]> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c9_not_divisible(%a: tensor<6xf32>) {
  // expected-error @+1 {{operand 0, expected dimension 0 to be a multiple of the group size 4, got 6}}
  %r = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<6xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c9_result_too_large(%a: tensor<16xf32>) {
  // expected-error @+1 {{operand 0, expected dimension 0 to be that of the result, 8, times the group size 4, got 16}}
  %r = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<16xf32>) -> tensor<8xf32>
  return
}
