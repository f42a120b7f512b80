// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c1_zero_operands() {
  // expected-error @+1 {{operands, expected at least one, got none}}
  "braid.reduce"() <{reduction = #braid<reduction sum>, root = 0 : i64, groups = #braid.groups<[[0, 1]]>}> : () -> ()
  return
}

// -----

func.func @c2_id_missing(%a: tensor<4xf32>) {
  // expected-error @+1 {{groups, expected ids from 0 to 1, got 2}}
  %r = braid.reduce sum %a init %a root = 0 groups = #braid.groups<[[0, 2]]> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c3_element_types(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @+1 {{operand 1, expected the element type of operand 0, 'f32', got 'f16'}}
  %r:2 = braid.reduce sum %a, %b init %a, %b root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>, tensor<4xf16>, tensor<4xf32>, tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf16>)
  return
}

// -----

func.func @c4_average_of_integers(%a: tensor<4xi32>) {
  // expected-error @+1 {{reduction 'average', expected floating-point elements, got 'i32'}}
  %r = braid.reduce average %a init %a root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @c5_narrow_accumulation(%a: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'accumulate', expected a floating-point type of at least 32 bits for 'f32', got 'f16'}}
  %r = braid.reduce sum %a init %a root = 0 groups = #braid.groups<[[0, 1]]> {accumulate = f16} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c6_init_missing(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{inits, expected one for each of 2 operands, got 1}}
  %r:2 = braid.reduce sum %a, %b init %a root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @c6_init_missing_generic(%a: tensor<4xf32>) {
  // expected-error @+1 {{operands, expected as many inits and results as operands, got 1 operands and inits together and 1 results}}
  %r = "braid.reduce"(%a) <{reduction = #braid<reduction sum>, root = 0 : i64, groups = #braid.groups<[[0, 1]]>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c6_init_of_another_type(%a: tensor<4xf32>, %i: tensor<5xf32>) {
  // expected-error @+1 {{init 0, expected the type of its result, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r = braid.reduce sum %a init %i root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c6_result_of_another_type(%a: tensor<4xf32>, %i: tensor<5xf32>) {
  // expected-error @+1 {{result 0, expected the type of its operand, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r = braid.reduce sum %a init %i root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>, tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @c7_root_beyond_the_smallest_group(%a: tensor<4xf32>) {
  // expected-error @+1 {{root, expected an index into every group, the smallest of which has 1 ranks, got 1}}
  %r = braid.reduce sum %a init %a root = 1 groups = #braid.groups<[[0, 1], [2]]> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
