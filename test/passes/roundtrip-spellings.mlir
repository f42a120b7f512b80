// RUN: braid-opt %s --mlir-print-op-generic --mlir-print-debuginfo -o %t.before
// RUN: braid-opt %s --braid-import --braid-export --mlir-print-op-generic --mlir-print-debuginfo -o %t.after
// RUN: diff %t.before %t.after
// RUN: braid-opt %s --braid-import | FileCheck %s
//
// Import then export gives back every spelling exactly: properties, attribute dictionary and both, locations down to the
// arguments of regions, commuted regions, padded and empty groups, several operands, asynchronous pairs, attributes that
// Braid does not know or has itself.
//
// Everything but the unknown reduction is imported:
// CHECK-COUNT-7: braid.all_reduce
// CHECK: "stablehlo.all_reduce"
// CHECK-NOT: "stablehlo.all_
#loc = loc("step.py":1:1)
"builtin.module"() <{sym_name = "m"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>, sym_name = "mesh"}> : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>, tensor<8x4xf32>, tensor<4xi1>, tensor<4xbf16>, tensor<4xi32>) -> tensor<4xf32>, sym_name = "main"}> ({
  ^bb0(%a: tensor<4xf32> loc("a"), %b: tensor<8x4xf32> loc("b"), %p: tensor<4xi1>, %h: tensor<4xbf16>, %i: tensor<4xi32>):
    // dictionary encoding, debug locations
    %0 = "stablehlo.all_reduce"(%a) ({
    ^bb0(%x: tensor<f32> loc("lhs"), %y: tensor<f32> loc("rhs")):
      %s = "stablehlo.add"(%y, %x) {inner} : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("sum.py":3:4)
      "stablehlo.return"(%s) : (tensor<f32>) -> () loc("ret.py":1:1)
    }) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 0>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids, mhlo.frontend_attributes = {k = "v"}, xla_shape = "f32", plan = "x", dims = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32> loc("ar.py":2:2)
    // mixed
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, unknown = "u"}> {replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids} : (tensor<4xf32>) -> tensor<8xf32>
    // replica ids, nothing else; everyone
    %2 = "stablehlo.all_reduce"(%p) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
    ^bb0(%x: tensor<i1>, %y: tensor<i1>):
      %s = "stablehlo.add"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%s) : (tensor<i1>) -> ()
    }) : (tensor<4xi1>) -> tensor<4xi1>
    %20 = "stablehlo.all_reduce"(%p) <{replica_groups = dense<> : tensor<0x1xi64>}> ({
    ^bb0(%x: tensor<i1>, %y: tensor<i1>):
      %s = "stablehlo.minimum"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%s) : (tensor<i1>) -> ()
    }) : (tensor<4xi1>) -> tensor<4xi1>
    %3 = "stablehlo.all_reduce"(%h) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>}> ({
    ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
      %u = "stablehlo.convert"(%x) : (tensor<bf16>) -> tensor<f32>
      %v = "stablehlo.convert"(%y) : (tensor<bf16>) -> tensor<f32>
      %s = "stablehlo.add"(%v, %u) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %t = "stablehlo.convert"(%s) : (tensor<f32>) -> tensor<bf16>
      "stablehlo.return"(%t) : (tensor<bf16>) -> ()
    }) : (tensor<4xbf16>) -> tensor<4xbf16>
    %30 = "stablehlo.all_reduce"(%h) <{replica_groups = dense<[[0, 1, 2, -1], [3, -1, -1, -1]]> : tensor<2x4xi64>}> ({
    ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
      %s = "stablehlo.multiply"(%x, %y) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%s) : (tensor<bf16>) -> ()
    }) : (tensor<4xbf16>) -> tensor<4xbf16>
    // variadic
    %4:2 = "stablehlo.all_reduce"(%a, %b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>)
    %5:2 = "stablehlo.all_to_all"(%b, %b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<2x16xf32>, tensor<2x16xf32>)
    %6 = "stablehlo.reduce_scatter"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<8x4xf32>) -> tensor<8x1xf32>
    %7 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %8 = "stablehlo.collective_broadcast"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[3, 1], [0, 2], [4, 5], [7, 6]]> : tensor<4x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    // async
    %f = "stablehlo.async_start"(%a, %b) ({
    ^bb0(%z: tensor<4xf32> loc("z"), %w: tensor<8x4xf32>):
      %r:2 = "stablehlo.all_reduce"(%z, %w) ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%s) : (tensor<f32>) -> ()
      }) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids} : (tensor<4xf32>, tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) loc("in")
      "stablehlo.return"(%r#0, %r#1) {tag} : (tensor<4xf32>, tensor<8x4xf32>) -> () loc("end")
    }) {a.b = 1 : i32} : (tensor<4xf32>, tensor<8x4xf32>) -> !stablehlo.future<tensor<4xf32>, tensor<8x4xf32>> loc("start")
    %d:2 = "stablehlo.async_done"(%f) {c.d} : (!stablehlo.future<tensor<4xf32>, tensor<8x4xf32>>) -> (tensor<4xf32>, tensor<8x4xf32>) loc("done")
    // unknown reduction stays
    %9 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.subtract"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %10 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%0) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
