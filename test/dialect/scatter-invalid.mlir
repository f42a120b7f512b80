// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c1_zero_operands() {
  // expected-error @+1 {{operands, expected at least one, got none}}
  "braid.scatter"() <{dims = array<i64>, root = 0 : i64, groups = #braid.groups<[[0, 1]]>}> : () -> ()
  return
}

// -----

func.func @c2_id_missing(%a: tensor<8xf32>) {
  // expected-error @+1 {{groups, expected ids from 0 to 1, got 2}}
  %r = braid.scatter %a dims = [0] root = 0 groups = #braid.groups<[[0, 2]]> : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c6_rank(%a: tensor<8xf32>) {
  // expected-error @+1 {{result 0, expected element type and rank of the operand, 'tensor<8xf32>', got 'tensor<4x1xf32>'}}
  %r = braid.scatter %a dims = [0] root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<8xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @c7_dims(%a: tensor<8xf32>) {
  // expected-error @+1 {{'dims', expected one dimension for each of 1 operands, got 2}}
  %r = braid.scatter %a dims = [0, 0] root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c7_root(%a: tensor<8xf32>) {
  // expected-error @+1 {{root, expected an index into every group, the smallest of which has 2 ranks, got -1}}
  %r = braid.scatter %a dims = [0] root = -1 groups = #braid.groups<[[0, 1]]> : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c8_uneven_groups(%a: tensor<8xf32>) {
  // expected-error @+1 {{groups, expected all of one size}}
  %r = braid.scatter %a dims = [0] root = 0 groups = #braid.groups<[[0, 1], [2]]> : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c9_size(%a: tensor<9xf32>) {
  // expected-error @+1 {{operand 0, expected dimension 0 to be a multiple of the group size 2, got 9}}
  %r = braid.scatter %a dims = [0] root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<9xf32>) -> tensor<4xf32>
  return
}
