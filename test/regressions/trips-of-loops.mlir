// REQUIRES: braid-run
// Trip counts at the edge of what a counter holds.
//
// As unsigned numbers the bounds are the other way around: no trip is made, and none stands in front of the loop.
// RUN: braid-opt %s --braid-pipeline-loops | braid-run - -n 2 --entry unsigned | FileCheck %s --check-prefix=UNSIGNED
//
// A loop that counts until it is stopped is one whose trips are not known.
// RUN: braid-opt %s --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml engine=braid target=braid placement=0:0,0:1" --remarks-filter=braid-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=ENDLESS

// UNSIGNED: result 0: [0, 1]
// UNSIGNED: result 1: [0, 1]
func.func @unsigned(%a: tensor<2xi32> {braid.data = "iota"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %most = arith.constant -1 : i64
  %one = arith.constant 1 : i64
  %five = arith.constant 5 : i64
  %r:2 = scf.for unsigned %i = %most to %five step %one iter_args(%p = %a, %q = %a) -> (tensor<2xi32>, tensor<2xi32>) : i64 {
    %e = tensor.empty() : tensor<2xi32>
    %x = linalg.add ins(%q, %q : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
    %y = linalg.add ins(%p, %x : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
    %s = braid.all_reduce sum %y groups = #braid.groups<[[0, 1]]> : tensor<2xi32>
    scf.yield %s, %x : tensor<2xi32>, tensor<2xi32>
  }
  return %r#0, %r#1 : tensor<2xi32>, tensor<2xi32>
}

// ENDLESS: its trip count depends on data: priced as one trip
func.func @main(%a: tensor<2xi32>) -> tensor<2xi32> {
  %least = arith.constant -5 : index
  %one = arith.constant 1 : index
  %most = arith.constant 9223372036854775807 : index
  %r = scf.for %i = %least to %most step %one iter_args(%p = %a) -> tensor<2xi32> {
    %s = braid.all_reduce sum %p groups = #braid.groups<[[0, 1]]> : tensor<2xi32>
    scf.yield %s : tensor<2xi32>
  }
  return %r : tensor<2xi32>
}
