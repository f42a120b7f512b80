// RUN: braid-opt %s --braid-export | FileCheck %s
// RUN: braid-opt %s --braid-export=consumer=stablehlo | FileCheck %s --check-prefix=VARIADIC
//
// JAX takes no collective of several operands: a bucket is packed into one tensor so that every rank finds its part. (That
// results are those of the separate collectives is checked in JAX, by the bars.)

// CHECK-LABEL: @all_reduce
// VARIADIC-LABEL: @all_reduce
func.func @all_reduce(%a: tensor<4x2xf32>, %b: tensor<3xf32>, %c: tensor<f32>) -> (tensor<4x2xf32>, tensor<3xf32>, tensor<f32>) {
  // CHECK: %[[A:.*]] = "stablehlo.reshape"(%arg0) : (tensor<4x2xf32>) -> tensor<8xf32>
  // CHECK: %[[C:.*]] = "stablehlo.reshape"(%arg2) : (tensor<f32>) -> tensor<1xf32>
  // CHECK: %[[P:.*]] = "stablehlo.concatenate"(%[[A]], %arg1, %[[C]]) <{dimension = 0 : i64}> : {{.*}} -> tensor<12xf32>
  // CHECK: %[[R:.*]] = "stablehlo.all_reduce"(%[[P]]) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  // CHECK: "stablehlo.add"
  // CHECK: }) : (tensor<12xf32>) -> tensor<12xf32>
  // CHECK: %[[S:.*]] = "stablehlo.slice"(%[[R]]) <{limit_indices = array<i64: 8>, start_indices = array<i64: 0>, strides = array<i64: 1>}>
  // CHECK: %[[X:.*]] = "stablehlo.reshape"(%[[S]]) : (tensor<8xf32>) -> tensor<4x2xf32>
  // CHECK: %[[Y:.*]] = "stablehlo.slice"(%[[R]]) <{limit_indices = array<i64: 11>, start_indices = array<i64: 8>
  // CHECK: %[[T:.*]] = "stablehlo.slice"(%[[R]]) <{limit_indices = array<i64: 12>, start_indices = array<i64: 11>
  // CHECK: %[[Z:.*]] = "stablehlo.reshape"(%[[T]]) : (tensor<1xf32>) -> tensor<f32>
  // CHECK: return %[[X]], %[[Y]], %[[Z]]
  // VARIADIC: %[[R:.*]]:3 = "stablehlo.all_reduce"(%arg0, %arg1, %arg2)
  // VARIADIC: return %[[R]]#0, %[[R]]#1, %[[R]]#2
  %r:3 = braid.all_reduce sum %a, %b, %c groups = #braid.groups<[[0, 1]]> : tensor<4x2xf32>, tensor<3xf32>, tensor<f32>
  return %r#0, %r#1, %r#2 : tensor<4x2xf32>, tensor<3xf32>, tensor<f32>
}

// Row r of what arrives is what rank r sent; the gathered dimension is then moved into place.
// CHECK-LABEL: @all_gather
func.func @all_gather(%a: tensor<4x3xf32>, %b: tensor<5xf32>) -> (tensor<4x6xf32>, tensor<10xf32>) {
  // CHECK: "stablehlo.reshape"(%arg0) : (tensor<4x3xf32>) -> tensor<1x12xf32>
  // CHECK: "stablehlo.reshape"(%arg1) : (tensor<5xf32>) -> tensor<1x5xf32>
  // CHECK: "stablehlo.concatenate"{{.*}} <{dimension = 1 : i64}> : {{.*}} -> tensor<1x17xf32>
  // CHECK: %[[R:.*]] = "stablehlo.all_gather"{{.*}}all_gather_dim = 0 : i64{{.*}} -> tensor<2x17xf32>
  // CHECK: %[[S:.*]] = "stablehlo.slice"(%[[R]]) <{limit_indices = array<i64: 2, 12>, start_indices = array<i64: 0, 0>
  // CHECK: %[[X:.*]] = "stablehlo.reshape"(%[[S]]) : (tensor<2x12xf32>) -> tensor<2x4x3xf32>
  // CHECK: %[[Y:.*]] = "stablehlo.transpose"(%[[X]]) <{permutation = array<i64: 1, 0, 2>}>
  // CHECK: "stablehlo.reshape"(%[[Y]]) : (tensor<4x2x3xf32>) -> tensor<4x6xf32>
  // CHECK: "stablehlo.slice"(%[[R]]) <{limit_indices = array<i64: 2, 17>, start_indices = array<i64: 0, 12>
  // CHECK: "stablehlo.reshape"{{.*}} : (tensor<2x5xf32>) -> tensor<10xf32>
  %r:2 = braid.all_gather %a, %b dims = [1, 0] groups = #braid.groups<[[0, 1]]> : (tensor<4x3xf32>, tensor<5xf32>) -> (tensor<4x6xf32>, tensor<10xf32>)
  return %r#0, %r#1 : tensor<4x6xf32>, tensor<10xf32>
}

// CHECK-LABEL: @reduce_scatter
func.func @reduce_scatter(%a: tensor<3x4xf32>, %b: tensor<6xf32>) -> (tensor<3x2xf32>, tensor<3xf32>) {
  // CHECK: "stablehlo.reshape"(%arg0) : (tensor<3x4xf32>) -> tensor<3x2x2xf32>
  // CHECK: "stablehlo.transpose"{{.*}} <{permutation = array<i64: 1, 0, 2>}> : (tensor<3x2x2xf32>) -> tensor<2x3x2xf32>
  // CHECK: "stablehlo.reshape"{{.*}} -> tensor<2x6xf32>
  // CHECK: "stablehlo.reshape"(%arg1) : (tensor<6xf32>) -> tensor<2x3xf32>
  // CHECK: "stablehlo.concatenate"{{.*}} <{dimension = 1 : i64}> : {{.*}} -> tensor<2x9xf32>
  // CHECK: "stablehlo.reduce_scatter"{{.*}}scatter_dimension = 0 : i64
  // CHECK: "stablehlo.maximum"
  // CHECK: (tensor<2x9xf32>) -> tensor<1x9xf32>
  %r:2 = braid.reduce_scatter max %a, %b dims = [1, 0] groups = #braid.groups<[[0, 1]]> : (tensor<3x4xf32>, tensor<6xf32>) -> (tensor<3x2xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<3x2xf32>, tensor<3xf32>
}

// CHECK-LABEL: @all_to_all
func.func @all_to_all(%a: tensor<4x3xf32>, %b: tensor<2xf32>) -> (tensor<2x6xf32>, tensor<2xf32>) {
  // CHECK: "stablehlo.reshape"(%arg0) : (tensor<4x3xf32>) -> tensor<2x6xf32>
  // CHECK: "stablehlo.concatenate"{{.*}} -> tensor<2x7xf32>
  // CHECK: "stablehlo.all_to_all"{{.*}}concat_dimension = 0 : i64{{.*}}split_count = 2 : i64, split_dimension = 0 : i64{{.*}} (tensor<2x7xf32>) -> tensor<2x7xf32>
  // CHECK: "stablehlo.reshape"{{.*}} : (tensor<2x6xf32>) -> tensor<2x2x3xf32>
  // CHECK: "stablehlo.transpose"{{.*}} <{permutation = array<i64: 1, 0, 2>}>
  // CHECK: -> tensor<2x6xf32>
  %r:2 = braid.all_to_all %a, %b split = [0, 0] concat = [1, 0] groups = #braid.groups<[[0, 1]]> : (tensor<4x3xf32>, tensor<2xf32>) -> (tensor<2x6xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2x6xf32>, tensor<2xf32>
}

// Tensors of different types cannot lie in one: a collective for each type.
// CHECK-LABEL: @types
func.func @types(%a: tensor<4xf32>, %b: tensor<2xi32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi32>, tensor<4xf32>) {
  // CHECK: "stablehlo.collective_permute"{{.*}} (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "stablehlo.collective_permute"(%arg1){{.*}} (tensor<2xi32>) -> tensor<2xi32>
  %r:3 = braid.permute %a, %b, %c pairs = [[0, 1]] {channel = 1 : i64, id_space = #braid.id_space<partition>} : tensor<4xf32>, tensor<2xi32>, tensor<4xf32>
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<2xi32>, tensor<4xf32>
}

// What is made for a member has the member's location.
// CHECK-LABEL: @locations
// RUN: braid-opt %s --braid-export --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOC
// LOC-LABEL: @locations
func.func @locations(%a: tensor<4x2xf32>, %b: tensor<3x3xf32>) -> (tensor<4x2xf32>, tensor<3x3xf32>) {
  // LOC: "stablehlo.reshape"(%arg0) {{.*}} loc("first")
  // LOC: "stablehlo.reshape"(%arg1) {{.*}} loc("second")
  // LOC: "stablehlo.concatenate"{{.*}} loc(fused["first", "second"])
  // LOC: -> tensor<17xf32> loc(fused["first", "second"])
  // LOC: "stablehlo.slice"{{.*}} loc("first")
  // LOC: "stablehlo.slice"{{.*}} loc("second")
  %r:2 = braid.all_reduce sum %a, %b groups = #braid.groups<[[0, 1]]> : tensor<4x2xf32>, tensor<3x3xf32> loc(fused["first", "second"])
  return %r#0, %r#1 : tensor<4x2xf32>, tensor<3x3xf32>
}
