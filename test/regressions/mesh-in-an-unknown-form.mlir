// Groups in a form that is not known stay StableHLO. Their text is not parsed aloud: no error is printed where none is.
//
// RUN: braid-opt %s --braid-import --braid-export --mlir-print-op-generic 2>&1 | FileCheck %s --implicit-check-not=error
// CHECK: device_ids = dense<garbage>
func.func @main(%a: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 2>], device_ids = dense<garbage> : tensor<2xi64>>,
                                                        axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
