// REQUIRES: braid-run
// Complaint: https://github.com/NVIDIA/nccl/issues/1772
// A loop of several trips, in which each rank is in two groups that lie across one another, hung on several hosts: independent
// collectives on two communicators, and ranks that begin with different ones. Here one order holds for all ranks and all trips, and is
// stated; nothing is in flight where a trip ends, and the program runs.
//
// DEFINE: %{plan} = braid-opt --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml placement=0:0,0:1,0:2,0:3 engine=braid target=braid"
// RUN: split-file %s %t
// RUN: %{plan} %t/base.mlir --braid-verify-plan -o %t/base.planned.mlir
// RUN: FileCheck %s --check-prefixes=CHECK,LOOP < %t/base.planned.mlir
// RUN: braid-run %t/base.planned.mlir -n 4 --all-ranks | sort | FileCheck %s --check-prefix=VALUES
// RUN: %{plan} %t/commuted.mlir --braid-verify-plan -o %t/commuted.planned.mlir
// RUN: FileCheck %s --check-prefixes=CHECK,LOOP < %t/commuted.planned.mlir
// RUN: braid-run %t/commuted.planned.mlir -n 4 --all-ranks | sort | FileCheck %s --check-prefix=VALUES
// RUN: %{plan} %t/call.mlir --braid-verify-plan -o %t/call.planned.mlir
// RUN: FileCheck %s < %t/call.planned.mlir
// RUN: braid-run %t/call.planned.mlir -n 4 --all-ranks | sort | FileCheck %s --check-prefix=VALUES
// RUN: %{plan} %t/user.mlir --braid-verify-plan -o %t/user.planned.mlir
// RUN: FileCheck %s --check-prefixes=CHECK,LOOP < %t/user.planned.mlir
// RUN: braid-run %t/user.planned.mlir -n 4 --all-ranks | sort | FileCheck %s --check-prefix=VALUES

// CHECK: certified = true
// CHECK-SAME: order = "{{[0-9a-f]+}}", orders = {"2x2-{{[0-9a-f]+}}" = "{{[0-9a-f]+}}", "2x2-{{[0-9a-f]+}}" = "{{[0-9a-f]+}}"}
// LOOP: scf.for
// LOOP-NOT: iter_args({{.*}}!braid.token
// LOOP: plan = #
// LOOP: plan = #
// LOOP: scf.yield

// Each trip doubles the first, within pairs of neighbours; the second is summed over pairs that lie across: [0 + 2], [1 + 3], and from then
// on doubled too.
// VALUES: rank 0 step 0 result 0: [8, 8]
// VALUES: rank 0 step 0 result 1: [8, 8]
// VALUES: rank 1 step 0 result 0: [8, 8]
// VALUES: rank 1 step 0 result 1: [16, 16]
// VALUES: rank 2 step 0 result 0: [8, 8]
// VALUES: rank 2 step 0 result 1: [8, 8]
// VALUES: rank 3 step 0 result 0: [8, 8]
// VALUES: rank 3 step 0 result 1: [16, 16]

//--- base.mlir
func.func @main(%a: tensor<2xi32> {braid.data = "ones"}, %b: tensor<2xi32> {braid.data = "rank"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r:2 = scf.for %i = %zero to %three step %one iter_args(%x = %a, %y = %b) -> (tensor<2xi32>, tensor<2xi32>) {
    %0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<2xi32>
    %1 = braid.all_reduce sum %y groups = #braid.groups<[[0, 2], [1, 3]]> : tensor<2xi32>
    scf.yield %0, %1 : tensor<2xi32>, tensor<2xi32>
  }
  return %r#0, %r#1 : tensor<2xi32>, tensor<2xi32>
}
//--- commuted.mlir
func.func @main(%a: tensor<2xi32> {braid.data = "ones"}, %b: tensor<2xi32> {braid.data = "rank"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r:2 = scf.for %i = %zero to %three step %one iter_args(%y = %b, %x = %a) -> (tensor<2xi32>, tensor<2xi32>) {
    %1 = braid.all_reduce sum %y groups = #braid.groups<[[3, 1], [2, 0]]> : tensor<2xi32>
    %0 = braid.all_reduce sum %x groups = #braid.groups<[[3, 2], [1, 0]]> : tensor<2xi32>
    scf.yield %1, %0 : tensor<2xi32>, tensor<2xi32>
  }
  return %r#1, %r#0 : tensor<2xi32>, tensor<2xi32>
}
//--- call.mlir
func.func private @rows(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func private @columns(%y: tensor<2xi32>) -> tensor<2xi32> {
  %0 = braid.all_reduce sum %y groups = #braid.groups<[[0, 2], [1, 3]]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @main(%a: tensor<2xi32> {braid.data = "ones"}, %b: tensor<2xi32> {braid.data = "rank"}) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r:2 = scf.for %i = %zero to %three step %one iter_args(%x = %a, %y = %b) -> (tensor<2xi32>, tensor<2xi32>) {
    %0 = func.call @rows(%x) : (tensor<2xi32>) -> tensor<2xi32>
    %1 = func.call @columns(%y) : (tensor<2xi32>) -> tensor<2xi32>
    scf.yield %0, %1 : tensor<2xi32>, tensor<2xi32>
  }
  return %r#0, %r#1 : tensor<2xi32>, tensor<2xi32>
}
//--- user.mlir
func.func @main(%a: tensor<2xi32> {braid.data = "ones"}, %b: tensor<2xi32> {braid.data = "rank"}) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r:3 = scf.for %i = %zero to %three step %one iter_args(%x = %a, %y = %b, %s = %a) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
    %0 = braid.all_reduce sum %x groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<2xi32>
    %1 = braid.all_reduce sum %y groups = #braid.groups<[[0, 2], [1, 3]]> : tensor<2xi32>
    %2 = arith.addi %0, %x : tensor<2xi32>
    %3 = arith.addi %2, %1 : tensor<2xi32>
    scf.yield %0, %1, %3 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
  }
  return %r#0, %r#1, %r#2 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}
