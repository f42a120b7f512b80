// A time budget is an amount of work: 0 is the greedy plan, a budget that ends the search says so, equal ones give equal plans,
// and one that ends nothing changes nothing.
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=0" --braid-verify-plan | FileCheck %s --check-prefix=GREEDY
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=0s" --braid-verify-plan | FileCheck %s --check-prefix=GREEDY
// RUN: braid-opt %s --braid-default-pipeline="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=0 target=braid" | FileCheck %s --check-prefix=GREEDY
// GREEDY: rule = "greedy, for a budget of 0: 32 MiB
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=1us" --braid-verify-plan -o %t.short
// RUN: FileCheck %s --check-prefix=SHORT < %t.short
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=1us" | diff %t.short -
// SHORT: rule = "{{.*}}; the search ended with its budget of 1.00 us"
//
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml" -o %t.whole
// RUN: FileCheck %s --check-prefix=WHOLE < %t.whole
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=60s" | diff %t.whole -
// WHOLE-NOT: ended with its budget
//
// RUN: braid-sim compare %s --cluster %clusters/h100-ib-ndr-4x2.yaml --budget 0 | FileCheck %s --check-prefix=COMPARE
// COMPARE: one-bucket
// COMPARE: braid
//
// RUN: not braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=2" 2>&1 | FileCheck %s --check-prefix=UNIT
// UNIT: error: budget: expected a time with a unit
// RUN: not braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-4x2.yaml budget=-2s" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: budget: expected

func.func @main(%x: tensor<1048576xf32>) -> (tensor<1048576xf32>, tensor<1048576xf32>) {
  %e = tensor.empty() : tensor<1048576xf32>
  %a = braid.compute "second" for "1 ms" ins(%x : tensor<1048576xf32>) outs(%e : tensor<1048576xf32>) -> tensor<1048576xf32>
  %ra = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1048576xf32>
  %b = braid.compute "first" for "1 ms" ins(%a : tensor<1048576xf32>) outs(%e : tensor<1048576xf32>) -> tensor<1048576xf32>
  %rb = braid.all_reduce sum %b groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1048576xf32>
  return %ra, %rb : tensor<1048576xf32>, tensor<1048576xf32>
}
