// A custom_call may run the functions that it names: collectives and effects in them are its own.
//
// RUN: braid-opt %s --braid-fuse-collectives --braid-overlap-collectives --remarks-filter=braid-fuse-collectives 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK-DAG: nothing moves across stablehlo.custom_call: it communicates in a function that it names
// REMARK-DAG: nothing moves across stablehlo.custom_call: a function that it names has effects
func.func private @communicates(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @prints(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "print", has_side_effect = true}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @adds(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func @main
// CHECK-NOT: braid.start
// CHECK: braid.all_reduce sum %arg0 groups
// CHECK: call_target_name = "one"
// CHECK: braid.all_reduce sum %arg1 groups
// CHECK: call_target_name = "two"
// CHECK: braid.start(%{{.*}} = %arg2)
// CHECK: call_target_name = "three"
// CHECK: braid.wait
func.func @main(%a: tensor<4xf32>, %b: tensor<8xf32>, %c: tensor<16xf32>, %d: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<8xf32>, tensor<16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<4xf32>
  %x = "stablehlo.custom_call"(%d) <{call_target_name = "one", called_computations = [@communicates]}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = braid.all_reduce sum %b groups = #braid.iota<[1, 8] from [8]> : tensor<8xf32>
  %y = "stablehlo.custom_call"(%d) <{call_target_name = "two", called_computations = [@prints]}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = braid.all_reduce sum %c groups = #braid.iota<[1, 8] from [8]> : tensor<16xf32>
  %z = "stablehlo.custom_call"(%d) <{call_target_name = "three", called_computations = [@adds]}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %x, %y, %z : tensor<4xf32>, tensor<8xf32>, tensor<16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
