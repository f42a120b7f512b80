// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c1_zero_operands_generic() {
  // expected-error @+1 {{'braid.all_reduce' op operands, expected at least one, got none}}
  "braid.all_reduce"() <{groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}> ({}) : () -> ()
  return
}

// -----

func.func @c1_zero_operands_text() {
  // expected-error @+1 {{operands, expected at least one, got none}}
  braid.all_reduce sum groups = #braid.groups<[[0, 1]]> :
  return
}

// -----

func.func @c2_id_out_of_range(%a: tensor<4xf32>) {
  // expected-error @+1 {{groups, expected ids from 0 to 3, got 4}}
  %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1], [2, 4]]> : tensor<4xf32>
  return
}

// -----

func.func @c2_id_twice(%a: tensor<4xf32>) {
  // expected-error @+1 {{groups, expected each id once, got 1 twice}}
  %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1], [2, 1]]> : tensor<4xf32>
  return
}

// -----

module attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 4 : i32} {
  func.func @c2_id_missing(%a: tensor<4xf32>) {
    // expected-error @+1 {{groups, expected each id from 0 to 3, got no 3 (the module states 1 replicas of 4 partitions, ids count flattened ones)}}
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2]]> : tensor<4xf32>
    return
  }
}

// -----

module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 4 : i32} {
  func.func @c2_iota_of_wrong_size(%a: tensor<4xf32>) {
    // expected-error @+1 {{groups, expected each id from 0 to 7, got no 4}}
    %r = braid.all_reduce sum %a groups = #braid.iota<[2, 2] from [4]> : tensor<4xf32>
    return
  }
}

// -----

// No memory is spent on what a module claims.
module attributes {mhlo.num_replicas = 4611686018427387904 : i64, mhlo.num_partitions = 4 : i32} {
  func.func @c2_far_more_ranks_than_ids(%a: tensor<4xf32>) {
    // expected-error @+1 {{groups, expected a module of at most 16777216 ranks, got 4611686018427387904 replicas of 4 partitions}}
    %r = braid.all_reduce sum %a groups = #braid.groups<[[1, 0], [3, 4]]> : tensor<4xf32>
    return
  }
}

// -----

// Ids that count replicas go up to the number of replicas, not of ranks.
module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 4 : i32} {
  func.func @c2_replica_ids(%a: tensor<4xf32>) {
    %ok = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<replica>} : tensor<4xf32>
    %p = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> {id_space = #braid.id_space<partition>} : tensor<4xf32>
    // expected-error @+1 {{groups, expected ids from 0 to 1, got 2 (the module states 2 replicas of 4 partitions, ids count replica ones)}}
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> {id_space = #braid.id_space<replica>} : tensor<4xf32>
    return
  }
}

// -----

func.func @c3_mixed_types(%a: tensor<4xf32>, %b: tensor<4xbf16>) {
  // expected-error @+1 {{operand 1, expected the element type of operand 0, 'f32', got 'bf16'}}
  %r:2 = braid.all_reduce sum %a, %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>, tensor<4xbf16>
  return
}

// -----

func.func @c4_and_of_floats(%a: tensor<4xf32>) {
  // expected-error @+1 {{reduction 'and', expected integer elements, got 'f32'}}
  %r = braid.all_reduce and %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return
}

// -----

func.func @c4_xor_of_floats(%a: tensor<4xf32>) {
  // expected-error @+1 {{reduction 'xor', expected integer elements, got 'f32'}}
  %r = braid.all_reduce xor %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return
}

// -----

func.func @c4_average_of_integers(%a: tensor<4xi32>) {
  // expected-error @+1 {{reduction 'average', expected floating-point elements, got 'i32'}}
  %r = braid.all_reduce average %a groups = #braid.groups<[[0, 1]]> : tensor<4xi32>
  return
}

// -----

func.func @c4_max_of_complex(%a: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{reduction 'max', expected ordered elements, got 'complex<f32>'}}
  %r = braid.all_reduce max %a groups = #braid.groups<[[0, 1]]> : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @c5_accumulate_narrower(%a: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'accumulate', expected a floating-point type of at least 32 bits for 'f32', got 'bf16'}}
  %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {accumulate = bf16} : tensor<4xf32>
  return
}

// -----

func.func @c5_accumulate_of_other_class(%a: tensor<4xi32>) {
  // expected-error @+1 {{attribute 'accumulate', expected an integer type of at least 32 bits for 'i32', got 'f32'}}
  %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {accumulate = f32} : tensor<4xi32>
  return
}

// -----

func.func @c6_result_type(%a: tensor<4xf32>) {
  // expected-error @+2 {{'braid.all_reduce' op failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<8xf32>'}}
  %r = "braid.all_reduce"(%a) <{groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}> ({}) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @parse_unknown_reduction(%a: tensor<4xf32>) {
  // expected-error @+1 {{reduction, expected sum, product, min, max, average, and, or, xor, got mean}}
  %r = braid.all_reduce mean %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return
}

// -----

func.func @parse_no_reduction(%a: tensor<4xf32>) {
  // expected-error @+1 {{reduction, expected sum, product, min, max, average, and, or, xor}}
  %r = braid.all_reduce %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return
}

// -----

func.func @parse_groups_of_another_kind(%a: tensor<4xf32>) {
  // expected-error @+1 {{groups, expected #braid.groups, #braid.iota, #braid.mesh_axes or another attribute that says who takes part, got dense<}}
  %r = braid.all_reduce sum %a groups = dense<[[0, 1]]> : tensor<1x2xi64>
  return
}

// -----

func.func @parse_wrong_number_of_types(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{number of operands and types do not match: got 2 operands and 1 types}}
  %r:2 = braid.all_reduce sum %a, %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return
}

// -----

func.func @hint_for_each_operand(%a: tensor<?xf32>) {
  // expected-error @+1 {{attribute 'braid.size_hint', expected one number of bytes for each of 1 operands, got 2}}
  %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {braid.size_hint = array<i64: 4, 8>} : tensor<?xf32>
  return
}

// -----

func.func @key_is_a_string(%a: tensor<?xf32>) {
  // expected-error @+1 {{attribute 'braid.group_key', expected a string, got 1 : i64}}
  %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {braid.group_key = 1} : tensor<?xf32>
  return
}
