// RUN: braid-opt %s --braid-import --remarks-filter-missed=braid-import --remark-format=emitRemark 2>&1 >%t.out | FileCheck %s
// RUN: FileCheck %s --check-prefix=OUT < %t.out
// RUN: braid-opt %s --braid-import --remarks-filter-passed=braid-import --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=PASSED
//
// What cannot be said in the dialect stays StableHLO, and the reason is a remark.

// OUT-LABEL: @main
func.func @main(%a: tensor<4xf32>, %d: tensor<?x4xf32>, %e: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %h: tensor<4xbf16>, %t: tensor<i64>) {
  // CHECK: loc("dynamic"): [Missed]{{.*}}dynamic dimensions, and neither bounds in the type nor a 'braid.size_hint' say how large they get
  // OUT: "stablehlo.all_gather"
  %0 = "stablehlo.all_gather"(%d) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<?x4xf32>) -> tensor<?x4xf32> loc("dynamic")
  // OUT-NEXT: braid.all_gather {{.*}}braid.size_hint = array<i64: 64>
  // PASSED: loc("hinted"): [Passed] imported {{.*}}'stablehlo.all_gather' is 'braid.all_gather'
  %1 = "stablehlo.all_gather"(%d) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> {braid.size_hint = array<i64: 64>} : (tensor<?x4xf32>) -> tensor<?x4xf32> loc("hinted")
  // OUT-NEXT: braid.all_gather {{.*}}braid.size_hint = array<i64: 128>
  %2 = "stablehlo.all_gather"(%e) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<?x8xf32, #stablehlo.bounds<8, ?>>
  // CHECK: loc("partial"): [Missed]{{.*}}some ranks are in no group
  // OUT-NEXT: "stablehlo.collective_broadcast"
  %3 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[1, 2]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32> loc("partial")
  // CHECK: loc("root"): [Missed]{{.*}}the root is computed
  // OUT-NEXT: "stablehlo.collective_broadcast"
  %4 = "stablehlo.collective_broadcast"(%a, %t) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32> loc("root")
  // CHECK: loc("axes"): [Missed]{{.*}}groups 'stablehlo.replica_group_of_the_future<3>' are in no form that is known
  // OUT-NEXT: "stablehlo.all_gather"
  %5 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_of_the_future<3>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32> loc("axes")
  // CHECK: loc("padding"): [Missed]{{.*}}groups are padded with -1 elsewhere than at the end of a row
  // OUT-NEXT: "stablehlo.all_gather"
  %7 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, -1, 1]]> : tensor<1x3xi64>}> : (tensor<4xf32>) -> tensor<8xf32> loc("padding")
  // CHECK: loc("wider"): [Missed]{{.*}}the reduction region combines another type than the operands have
  // OUT-NEXT: "stablehlo.all_reduce"
  %8 = "stablehlo.all_reduce"(%h) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xbf16>) -> tensor<4xf32> loc("wider")
  return
}
