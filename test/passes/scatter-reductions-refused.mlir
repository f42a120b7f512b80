// RUN: braid-opt %s --braid-scatter-reductions --remarks-filter="braid-scatter-reductions" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir
//
// What is not proven stays an all_reduce, and says why.

// CHECK-NOT: reduce_scatter
module attributes {mhlo.num_partitions = 4 : i32} {
  // REMARK: stays an all_reduce: it is read by 'stablehlo.negate' too, not by slices alone
  func.func @another_reader(%a: tensor<8xf32>) -> (tensor<2xf32>, tensor<8xf32>) {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<8xf32>
    %two = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %o = "stablehlo.multiply"(%p, %two) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %b = "stablehlo.dynamic_slice"(%r, %o) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<ui32>) -> tensor<2xf32>
    %n = "stablehlo.negate"(%r) : (tensor<8xf32>) -> tensor<8xf32>
    return %b, %n : tensor<2xf32>, tensor<8xf32>
  }

  // Ranks 0 and 1 read the same block.
  // REMARK: stays an all_reduce: rank 1 reads from 0, which is no block of its own in its group
  func.func @one_block_twice(%a: tensor<8xf32>) -> tensor<2xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<8xf32>
    %offsets = "stablehlo.constant"() <{value = dense<[0, 0, 2, 4]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %o = "stablehlo.dynamic_slice"(%offsets, %p) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
    %i = "stablehlo.reshape"(%o) : (tensor<1xi32>) -> tensor<i32>
    %b = "stablehlo.dynamic_slice"(%r, %i) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
    return %b : tensor<2xf32>
  }

  // 1, 3, 5, 7 are no multiples of the block: the last is clamped to 6.
  // REMARK: stays an all_reduce: rank 0 reads from 1, which is no block of its own in its group
  func.func @between_blocks(%a: tensor<8xf32>) -> tensor<2xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<8xf32>
    %offsets = "stablehlo.constant"() <{value = dense<[1, 3, 5, 7]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %o = "stablehlo.dynamic_slice"(%offsets, %p) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
    %i = "stablehlo.reshape"(%o) : (tensor<1xi32>) -> tensor<i32>
    %b = "stablehlo.dynamic_slice"(%r, %i) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
    return %b : tensor<2xf32>
  }

  // Blocks by the partition of four, groups of two.
  // REMARK: stays an all_reduce: a slice is 2 of 8 along dimension 0, expected one of 2 equal blocks
  func.func @other_groups(%a: tensor<8xf32>) -> tensor<2xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<8xf32>
    %two = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %o = "stablehlo.multiply"(%p, %two) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %b = "stablehlo.dynamic_slice"(%r, %o) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<ui32>) -> tensor<2xf32>
    return %b : tensor<2xf32>
  }

  // By the other axis of a 2 x 2 mesh: both ranks of a group read the same block.
  // REMARK: stays an all_reduce: rank 1 reads from 0, which is no block of its own in its group
  func.func @other_axis(%a: tensor<8xf32>) -> tensor<4xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<8xf32>
    %two = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
    %four = "stablehlo.constant"() <{value = dense<4> : tensor<ui32>}> : () -> tensor<ui32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %h = "stablehlo.divide"(%p, %two) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %o = "stablehlo.multiply"(%h, %four) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %b = "stablehlo.dynamic_slice"(%r, %o) <{slice_sizes = array<i64: 4>}> : (tensor<8xf32>, tensor<ui32>) -> tensor<4xf32>
    return %b : tensor<4xf32>
  }

  // REMARK: stays an all_reduce: its groups differ in size
  func.func @uneven(%a: tensor<6xf32>) -> tensor<2xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2], [3]]> : tensor<6xf32>
    %two = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %o = "stablehlo.multiply"(%p, %two) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %b = "stablehlo.dynamic_slice"(%r, %o) <{slice_sizes = array<i64: 2>}> : (tensor<6xf32>, tensor<ui32>) -> tensor<2xf32>
    return %b : tensor<2xf32>
  }

  // REMARK: stays an all_reduce: the offset of a slice is not made of constants, partition_id and replica_id alone
  func.func @by_data(%a: tensor<8xf32>, %i: tensor<i32>) -> tensor<2xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<8xf32>
    %b = "stablehlo.dynamic_slice"(%r, %i) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
    return %b : tensor<2xf32>
  }

  // REMARK: stays an all_reduce: a slice cuts several dimensions
  func.func @two_dimensions(%a: tensor<4x4xf32>) -> tensor<2x2xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4x4xf32>
    %rows = "stablehlo.constant"() <{value = dense<[0, 0, 2, 2]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %columns = "stablehlo.constant"() <{value = dense<[0, 2, 0, 2]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %x = "stablehlo.dynamic_slice"(%rows, %p) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
    %i = "stablehlo.reshape"(%x) : (tensor<1xi32>) -> tensor<i32>
    %y = "stablehlo.dynamic_slice"(%columns, %p) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
    %j = "stablehlo.reshape"(%y) : (tensor<1xi32>) -> tensor<i32>
    %b = "stablehlo.dynamic_slice"(%r, %i, %j) <{slice_sizes = array<i64: 2, 2>}> : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
    return %b : tensor<2x2xf32>
  }

  // Two slices by different ranks' numbers.
  // REMARK: stays an all_reduce: its slices differ
  func.func @slices_differ(%a: tensor<8xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<8xf32>
    %two = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %six = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %q = "stablehlo.convert"(%p) : (tensor<ui32>) -> tensor<i32>
    %o = "stablehlo.multiply"(%q, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %m = "stablehlo.subtract"(%six, %o) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %b = "stablehlo.dynamic_slice"(%r, %o) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
    %c = "stablehlo.dynamic_slice"(%r, %m) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
    return %b, %c : tensor<2xf32>, tensor<2xf32>
  }

  // REMARK: stays an all_reduce: it has a plan, which is for all of it
  func.func @planned(%a: tensor<8xf32>) -> tensor<2xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<8xf32>
    %two = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
    %p = "stablehlo.partition_id"() : () -> tensor<ui32>
    %o = "stablehlo.multiply"(%p, %two) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %b = "stablehlo.dynamic_slice"(%r, %o) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<ui32>) -> tensor<2xf32>
    return %b : tensor<2xf32>
  }
}
