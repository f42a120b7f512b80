// Measured times stay with their operations as loops are pipelined: ten layers of 3 ms are 30 ms, though the last one stands behind the
// loop now, and nothing is left of how they are kept.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=200ms compute-profile=%t/profile.json" --remarks-filter=braid-plan > %t/planned.mlir 2> %t/remarks
// RUN: FileCheck %s < %t/planned.mlir
// RUN: FileCheck %s --check-prefix=REMARK < %t/remarks
// RUN: braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=200ms compute-profile=%t/profile.json loops=keep" | FileCheck %s --check-prefix=KEEP
// RUN: braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=0 compute-profile=%t/profile.json" --remarks-filter=braid-plan 2>&1 | FileCheck %s --check-prefix=GREEDY
// RUN: braid-sim compare %t/program.mlir --cluster %clusters/h100-ib-ndr-4x2.yaml --budget 200ms --compute-profile %t/profile.json | FileCheck %s --check-prefix=TABLE

// CHECK: braid.certificate = {{.*}}bound_s = 3.000000e-02{{.*}}1 collective a trip ahead in 1 loop, which gains
// CHECK-NOT: measured_seconds
// CHECK: braid.all_gather
// CHECK: linalg.matmul
// REMARK-DAG: Remark="collectives stay whole: loops are pipelined, and the compute profile is of the program as it is"
// REMARK-DAG: Remark="all_gather runs a trip ahead, beside 1 kernel of the trip before that it does not need"
// KEEP-NOT: a trip ahead
// With a budget of 0 each way is planned greedily, and few are.
// GREEDY-DAG: rule = "greedy, for a budget of 0: {{.*}}; 1 collective a trip ahead in 1 loop, which gains
// GREEDY-DAG: Remark="tried to pipeline loops, {{.*}}; no more ways, for a budget of 0; the plan gains
// TABLE: after: {{.*}} a trip ahead in 1 loop
// TABLE: lower bound 3{{.*}} ms

//--- profile.json
{"locations": {"layer": "3 ms"}}
//--- program.mlir
#g = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]>
func.func @main(%stack: tensor<10x512x4096xf32>, %x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %r = scf.for %i = %zero to %ten step %one iter_args(%h = %x) -> (tensor<4096x4096xf32>) {
    %s = tensor.extract_slice %stack[%i, 0, 0] [1, 512, 4096] [1, 1, 1] : tensor<10x512x4096xf32> to tensor<512x4096xf32>
    %w = braid.all_gather %s dims = [0] groups = #g : (tensor<512x4096xf32>) -> tensor<4096x4096xf32>
    %y = linalg.matmul ins(%h, %w : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%h : tensor<4096x4096xf32>) -> tensor<4096x4096xf32> loc("layer")
    scf.yield %y : tensor<4096x4096xf32>
  }
  return %r : tensor<4096x4096xf32>
}
