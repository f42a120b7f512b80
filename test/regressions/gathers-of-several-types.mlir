// Complaint: https://github.com/openxla/xla/issues/13305, https://github.com/openxla/xla/pull/14703
// A combiner put all_gathers of different element types into one, which not every runtime can do. Here a bucket has one element type, for
// reductions as for data movement, and the collectives of each type still find each other.
//
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-fuse-collectives --braid-export=consumer=stablehlo -o %t

// CHECK-LABEL: func @base
// CHECK-DAG: braid.all_gather %arg0, %arg2 dims = [0, 0] {{.*}} : (tensor<4xbf16>, tensor<6xbf16>)
// CHECK-DAG: braid.all_gather %arg1, %arg3 dims = [0, 0] {{.*}} : (tensor<4xf32>, tensor<6xf32>)
// CHECK-DAG: braid.all_reduce sum %arg0, %arg2 groups = {{.*}} : tensor<4xbf16>, tensor<6xbf16>
// CHECK-DAG: braid.all_reduce sum %arg1, %arg3 groups = {{.*}} : tensor<4xf32>, tensor<6xf32>
// CHECK-NOT: braid.all_{{gather|reduce}}
// CHECK: return
func.func @base(%a: tensor<4xbf16>, %b: tensor<4xf32>, %c: tensor<6xbf16>, %d: tensor<6xf32>)
    -> (tensor<8xbf16>, tensor<8xf32>, tensor<12xbf16>, tensor<12xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<6xbf16>, tensor<6xf32>) {
  %0 = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xbf16>) -> tensor<8xbf16>
  %1 = braid.all_gather %b dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
  %2 = braid.all_gather %c dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<6xbf16>) -> tensor<12xbf16>
  %3 = braid.all_gather %d dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<6xf32>) -> tensor<12xf32>
  %4 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xbf16>
  %5 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
  %6 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1]]> : tensor<6xbf16>
  %7 = braid.all_reduce sum %d groups = #braid.groups<[[0, 1]]> : tensor<6xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<8xbf16>, tensor<8xf32>, tensor<12xbf16>, tensor<12xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<6xbf16>, tensor<6xf32>
}

// -----

// In another order, and the groups spelled in another one.
// CHECK-LABEL: func @commuted
// CHECK-DAG: braid.all_gather %arg3, %arg1 dims = [0, 0] {{.*}} : (tensor<6xf32>, tensor<4xf32>)
// CHECK-DAG: braid.all_gather %arg2, %arg0 dims = [0, 0] {{.*}} : (tensor<6xbf16>, tensor<4xbf16>)
// CHECK-NOT: braid.all_gather
// CHECK: return
func.func @commuted(%a: tensor<4xbf16>, %b: tensor<4xf32>, %c: tensor<6xbf16>, %d: tensor<6xf32>)
    -> (tensor<8xbf16>, tensor<8xf32>, tensor<12xbf16>, tensor<12xf32>) {
  %3 = braid.all_gather %d dims = [0] groups = #braid.groups<[[2, 3], [0, 1]]> : (tensor<6xf32>) -> tensor<12xf32>
  %2 = braid.all_gather %c dims = [0] groups = #braid.groups<[[0, 1], [2, 3]]> : (tensor<6xbf16>) -> tensor<12xbf16>
  %1 = braid.all_gather %b dims = [0] groups = #braid.groups<[[0, 1], [2, 3]]> : (tensor<4xf32>) -> tensor<8xf32>
  %0 = braid.all_gather %a dims = [0] groups = #braid.groups<[[2, 3], [0, 1]]> : (tensor<4xbf16>) -> tensor<8xbf16>
  return %0, %1, %2, %3 : tensor<8xbf16>, tensor<8xf32>, tensor<12xbf16>, tensor<12xf32>
}

// -----

// In a function that a loop calls.
// CHECK-LABEL: func private @gathered
// CHECK-DAG: braid.all_gather %arg0, %arg2 dims = [0, 0] {{.*}} : (tensor<4xbf16>, tensor<6xbf16>)
// CHECK-DAG: braid.all_gather %arg1 dims = [0] {{.*}} : (tensor<4xf32>)
// CHECK-NOT: braid.all_gather
// CHECK: return
func.func private @gathered(%a: tensor<4xbf16>, %b: tensor<4xf32>, %c: tensor<6xbf16>) -> (tensor<8xbf16>, tensor<8xf32>, tensor<12xbf16>) {
  %0 = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xbf16>) -> tensor<8xbf16>
  %1 = braid.all_gather %b dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
  %2 = braid.all_gather %c dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<6xbf16>) -> tensor<12xbf16>
  return %0, %1, %2 : tensor<8xbf16>, tensor<8xf32>, tensor<12xbf16>
}
func.func @through_a_call(%a: tensor<4xbf16>, %b: tensor<4xf32>, %c: tensor<6xbf16>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r = scf.for %i = %zero to %two step %one iter_args(%x = %b) -> tensor<4xf32> {
    %0:3 = func.call @gathered(%a, %x, %c) : (tensor<4xbf16>, tensor<4xf32>, tensor<6xbf16>) -> (tensor<8xbf16>, tensor<8xf32>, tensor<12xbf16>)
    %1 = tensor.extract_slice %0#1[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Somebody reads what one of them gives, and widens it to the other type.
// CHECK-LABEL: func @extra_user
// CHECK-DAG: braid.all_gather %arg0, %arg2 dims = [0, 0] {{.*}} : (tensor<4xbf16>, tensor<6xbf16>)
// CHECK-DAG: braid.all_gather %arg1 dims = [0] {{.*}} : (tensor<4xf32>)
// CHECK-NOT: braid.all_gather
// CHECK: return
func.func @extra_user(%a: tensor<4xbf16>, %b: tensor<4xf32>, %c: tensor<6xbf16>)
    -> (tensor<8xbf16>, tensor<8xf32>, tensor<12xbf16>, tensor<8xf32>) {
  %0 = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xbf16>) -> tensor<8xbf16>
  %wide = arith.extf %0 : tensor<8xbf16> to tensor<8xf32>
  %1 = braid.all_gather %b dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
  %2 = braid.all_gather %c dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<6xbf16>) -> tensor<12xbf16>
  %sum = arith.addf %wide, %1 : tensor<8xf32>
  return %0, %1, %2, %sum : tensor<8xbf16>, tensor<8xf32>, tensor<12xbf16>, tensor<8xf32>
}
