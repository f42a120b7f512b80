// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c1_zero_operands() {
  // expected-error @+1 {{operands, expected at least one, got none}}
  "braid.broadcast"() <{root = 0 : i64, groups = #braid.groups<[[0, 1]]>}> : () -> ()
  return
}

// -----

func.func @c2_id_missing(%a: tensor<4xf32>) {
  // expected-error @+1 {{groups, expected ids from 0 to 1, got 2}}
  %r = braid.broadcast %a root = 0 groups = #braid.groups<[[0, 2]]> : tensor<4xf32>
  return
}

// -----

func.func @c7_root_negative(%a: tensor<4xf32>) {
  // expected-error @+1 {{root, expected an index into every group, the smallest of which has 2 ranks, got -1}}
  %r = braid.broadcast %a root = -1 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  return
}

// -----

func.func @c7_root_beyond_the_smallest_group(%a: tensor<4xf32>) {
  // expected-error @+1 {{root, expected an index into every group, the smallest of which has 1 ranks, got 1}}
  %r = braid.broadcast %a root = 1 groups = #braid.groups<[[0, 1], [2]]> : tensor<4xf32>
  return
}

// -----

module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 4 : i32} {
  func.func @c7_root_in_all_partitions_of_the_replicas(%a: tensor<4xf32>) {
    %ok = braid.broadcast %a root = 7 groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<replica_and_partition>} : tensor<4xf32>
    // expected-error @+1 {{the smallest of which has 8 ranks, got 8}}
    %r = braid.broadcast %a root = 8 groups = #braid.groups<[[0, 1]]> {id_space = #braid.id_space<replica_and_partition>} : tensor<4xf32>
    return
  }
}
