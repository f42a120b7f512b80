// A bucket lies along one dimension: the sharding of a member says nothing of it, and is not put on it. What a compiler acts
// on must hold for every member.
//
// RUN: braid-opt %s --braid-fuse-collectives | FileCheck %s

// CHECK-LABEL: func @main
// CHECK-DAG: braid.all_reduce sum %arg0 groups = {{.*}} {mhlo.sharding = "{devices=[8]<=[8]}"}
// CHECK-DAG: braid.all_reduce sum %arg1 groups = {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-DAG: braid.all_reduce sum %arg2 groups = {{.*}} {mhlo.frontend_attributes = {k = "a"}}
// CHECK-DAG: braid.all_reduce sum %arg3, %arg0 groups = {{.*}} {mhlo.frontend_attributes = {k = "b"}}
// CHECK-DAG: braid.all_reduce sum %arg2, %arg3 groups = {{.*}} {mhlo.sharding = "{manual}"}
func.func @main(%a: tensor<256xf32>, %b: tensor<64x4xf32>, %c: tensor<8xf32>, %d: tensor<16xf32>)
    -> (tensor<256xf32>, tensor<64x4xf32>, tensor<8xf32>, tensor<16xf32>, tensor<256xf32>, tensor<8xf32>, tensor<16xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> {mhlo.sharding = "{devices=[8]<=[8]}"} : tensor<256xf32>
  %1 = braid.all_reduce sum %b groups = #braid.iota<[1, 8] from [8]> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<64x4xf32>
  %2 = braid.all_reduce sum %c groups = #braid.iota<[1, 8] from [8]> {mhlo.frontend_attributes = {k = "a"}} : tensor<8xf32>
  %3 = braid.all_reduce sum %d groups = #braid.iota<[1, 8] from [8]> {mhlo.frontend_attributes = {k = "b"}} : tensor<16xf32>
  %4 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> {mhlo.frontend_attributes = {k = "b"}} : tensor<256xf32>
  %5 = braid.all_reduce sum %c groups = #braid.iota<[1, 8] from [8]> {mhlo.sharding = "{manual}"} : tensor<8xf32>
  %6 = braid.all_reduce sum %d groups = #braid.iota<[1, 8] from [8]> {mhlo.sharding = "{manual}"} : tensor<16xf32>
  return %0, %1, %2, %3, %4, %5, %6
    : tensor<256xf32>, tensor<64x4xf32>, tensor<8xf32>, tensor<16xf32>, tensor<256xf32>, tensor<8xf32>, tensor<16xf32>
}
