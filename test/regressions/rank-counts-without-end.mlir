// A few characters can name more ranks than there is memory for: an iota, a mesh, a splat, the module's own numbers. Each is
// one error, at once.
//
// RUN: braid-opt %s --braid-import --braid-export --split-input-file --verify-diagnostics -o %t

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{groups, expected at most 16777216 ranks, got 4611686018427387904}}
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 4611686018427387904] from [4611686018427387904]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{groups, expected at most 16777216 ranks, got 4611686018427387904}}
    %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 4611686018427387904] from [4611686018427387904]> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<32xf32> {
  // expected-error @below {{groups, expected at most 16777216 ranks, got 34359738368}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 4294967296>, <name = "y", size = 8>]>,
                                                        axes = [#stablehlo.axis_ref<name = "y">]>}> : (tensor<4xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// -----

module attributes {mhlo.num_replicas = 2147483647 : i64, mhlo.num_partitions = 1099511627776 : i64} {
  func.func @main(%a: tensor<4xf32>) -> tensor<?xf32> {
    // expected-error @below {{groups, expected a module of at most 16777216 ranks, got 2147483647 replicas of 1099511627776 partitions}}
    %0 = braid.all_gather %a dims = [0] groups = #braid.groups<[]> : (tensor<4xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 1099511627776 : i64} {
  func.func @main(%a: tensor<4xf32>) -> tensor<8xf32> {
    // expected-error @below {{'replica_groups' expected every id from 0 to 1099511627775, got no id 2}}
    %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{'replica_groups' expected each id once, got id 0 twice}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1048576x1048576xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{'replica_groups' expected at least one id, got padding alone}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<-1> : tensor<1048576x1048576xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{pairs, expected ids from 0 to 16777215, got 9223372036854775807}}
  %0 = braid.permute %a pairs = [[0, 9223372036854775807]] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
