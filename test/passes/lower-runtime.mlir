// RUN: braid-opt %s --braid-to-runtime --cse -split-input-file -verify-diagnostics | FileCheck %s

module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32} {

// Version, number, kind, type (f32), reduction, root, peer, tag, channels, chunks, 2 groups of 4 ids in all, no pairs.
// CHECK-DAG: memref.global "private" constant @[[REDUCE:.*]] : memref<19xi64> = dense<[1, 0, 0, 13, 4, 0, 0, 0, 2, 8, 2, 4, 0, 2, 2, 0, 2, 1, 3]>
// CHECK-DAG: dense<[114, 105, 110, 103, 0]>

// CHECK-LABEL: func.func @planned
func.func @planned(%a: memref<4x2xf32>) {
  // CHECK: memref.get_global @[[REDUCE]]
  // CHECK: %[[CALL:.*]] = call @braid_module_begin(
  // CHECK: call @braid_module_tensor(%[[CALL]], %[[P:.*]], %[[P]],
  // CHECK: call @braid_module_launch(%[[CALL]])
  %t = braid.launch all_reduce outs(%a : memref<4x2xf32>)
    {groups = #braid.groups<[[0, 1]]>, id_space = #braid.id_space<replica>, reduction = #braid<reduction average>,
     plan = #braid.plan<engine = braid, algorithm = "ring", channels = 2, chunks = 8>}
  // CHECK: call @braid_module_finish(%[[CALL]])
  braid.finish %t outs(%a : memref<4x2xf32>)
  return
}

}
