// Measured times by location replace the roofline; several kernels of one location share its time as their rooflines are.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/profile.json" | FileCheck %s
// RUN: braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" | FileCheck %s --check-prefix=ROOFLINE
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/unit.json" 2>&1 | FileCheck %s --check-prefix=UNIT
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/other.json" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/version.json" 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/time.json" 2>&1 | FileCheck %s --check-prefix=TIME
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/nothing.json" 2>&1 | FileCheck %s --check-prefix=NOTHING

// RUN: braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/keys.json" 2>&1 | FileCheck %s --check-prefix=KEYS
// RUN: braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/lost.json" 2>&1 | FileCheck %s --check-prefix=LOST

// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/elsewhere.json" 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not braid-opt %t/program.mlir --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml compute-profile=%t/empty.json" 2>&1 | FileCheck %s --check-prefix=EMPTY

// A line; the longest tail of a name that anyone has; a name on its line: 1 + 2 + 3 ms, and 5 us of roofline for "other".
// KEYS-NOT: warning
// KEYS: bound_s = 0.0060050
// A line that is another's, a name on the wrong line: said, and without effect.
// LOST: warning: compute profile: {{.*}}lost.json: 3 of 4 locations, 7.50 ms of 7.54 ms, are of no computation of this program, the longest: "inner at model.py:4", 4.00 ms
// ELSEWHERE: error: compute profile: {{.*}}elsewhere.json: expected locations of this program, got 2 of which no computation has one, the longest: "nowhere", 3.00 ms (a program has the lines and names of its source if it is exported with --locations)
// EMPTY: error: {{.*}}empty.json: compute profile: expected the time of at least one location, got none
// LOST: bound_s = 5.5{{[0-9]*}}E-5

// 40 us + 3 ms for both of "twice" + 5 us of roofline for the third product, which has no location in the profile.
// CHECK: bound_s = 0.0030450
// ROOFLINE: bound_s = 2.00{{[0-9]*}}E-5
// UNIT: error: {{.*}}unit.json: compute profile: model.py:3:4: {{.*}}
// NONE: error: {{.*}}none.json: compute profile: cannot read
// OTHER: error: compute profile: {{.*}}other.json: expected one of this program ({{[0-9a-f]*}}), got one of another program (0123): record it again with braid-run --record-profile
// VERSION: error: {{.*}}version.json: compute profile: expected format braid-compute-profile of version 1, got braid-compute-profile of version 2
// TIME: error: {{.*}}time.json: compute profile: ab: {{.*}}no unit
// NOTHING: error: {{.*}}nothing.json: compute profile: expected "program" and "operations"

//--- profile.json
{"locations": {"model.py:3:4": "40 us", "twice": "3 ms"}}
//--- keys.json
{"locations": {"src/model.py:3": "1 ms", "jit(step)/shard_map/twice": "2 ms", "jit(step)/inner at /home/model.py:3": "3 ms"}}
//--- lost.json
{"locations": {"model.py:3": "40 us", "other/model.py:31": "500 us", "inner at model.py:4": "4 ms", "nowhere": "3 ms"}}
//--- elsewhere.json
{"locations": {"other/model.py:31": "500 us", "nowhere": "3 ms"}}
//--- empty.json
{"locations": {}}
//--- unit.json
{"locations": {"model.py:3:4": "40"}}
//--- other.json
{"format": "braid-compute-profile", "version": 1, "program": "0123", "operations": {}}
//--- version.json
{"format": "braid-compute-profile", "version": 2, "program": "0123", "operations": {}}
//--- time.json
{"format": "braid-compute-profile", "version": 1, "program": "0123", "operations": {"ab": {"median": "3"}}}
//--- nothing.json
{"format": "braid-compute-profile", "version": 1, "operations": {}}
//--- program.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<64x64xf32>, %s: tensor<4xf32>) -> (tensor<64x64xf32>, tensor<4xf32>) {
    %0 = "stablehlo.dot"(%a, %a) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("inner"("model.py":3:4))
    %1 = "stablehlo.dot"(%0, %a) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("twice")
    %2 = "stablehlo.dot"(%1, %a) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("twice")
    %3 = "stablehlo.dot"(%2, %a) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("other")
    %4 = braid.all_reduce sum %s groups = #braid.groups<[]> : tensor<4xf32>
    return %3, %4 : tensor<64x64xf32>, tensor<4xf32>
  }
}
