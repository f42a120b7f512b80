// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c2_id_twice(%a: tensor<4xf32>, %i: tensor<8xf32>) {
  // expected-error @+1 {{groups, expected each id once, got 0 twice}}
  %r = braid.gather %a init %i dims = [0] root = 0 groups = #braid.groups<[[0, 0]]> : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c6_init_of_another_type(%a: tensor<4xf32>, %i: tensor<4xf32>) {
  // expected-error @+1 {{init 0, expected the type of its result, 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %r = braid.gather %a init %i dims = [0] root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c6_element_type(%a: tensor<4xf32>, %i: tensor<8xf16>) {
  // expected-error @+1 {{result 0, expected element type and rank of the operand, 'tensor<4xf32>', got 'tensor<8xf16>'}}
  %r = braid.gather %a init %i dims = [0] root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>, tensor<8xf16>) -> tensor<8xf16>
  return
}

// -----

func.func @c7_dimension(%a: tensor<4xf32>, %i: tensor<8xf32>) {
  // expected-error @+1 {{'dims', expected a dimension of operand 0, which has 1, got 1}}
  %r = braid.gather %a init %i dims = [1] root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c7_root(%a: tensor<4xf32>, %i: tensor<8xf32>) {
  // expected-error @+1 {{root, expected an index into every group, the smallest of which has 2 ranks, got 2}}
  %r = braid.gather %a init %i dims = [0] root = 2 groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c8_uneven_groups(%a: tensor<4xf32>, %i: tensor<8xf32>) {
  // expected-error @+1 {{groups, expected all of one size}}
  %r = braid.gather %a init %i dims = [0] root = 0 groups = #braid.groups<[[0, 1], [2]]> : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c9_size(%a: tensor<4xf32>, %i: tensor<12xf32>) {
  // expected-error @+1 {{result 0, expected dimension 0 to be that of the operand, 4, times the group size 2, got 12}}
  %r = braid.gather %a init %i dims = [0] root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>, tensor<12xf32>) -> tensor<12xf32>
  return
}

// -----

func.func @c9_other_size(%a: tensor<4x2xf32>, %i: tensor<8x3xf32>) {
  // expected-error @+1 {{result 0, expected dimension 1 to be the operand's, 2, got 3}}
  %r = braid.gather %a init %i dims = [0] root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<4x2xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return
}
