// REQUIRES: braid-run
// Rank 0 serves the store where ranks 1 and 2 make their groups, and is often done before they are: hence three runs.
// RUN: braid-run %s -n 3 --all-ranks | sort | FileCheck %s
// RUN: braid-run %s -n 3 --all-ranks | sort | FileCheck %s
// RUN: braid-run %s -n 3 --all-ranks | sort | FileCheck %s
// CHECK: rank 0 step 0 result 0: [1, 1, 1, 1]
// CHECK: rank 1 step 0 result 0: [16, 16, 16, 16]
// CHECK: rank 2 step 0 result 0: [16, 16, 16, 16]

#one = #braid.groups<[[1, 2], [0]]>
#other = #braid.groups<[[2, 1], [0]]>
func.func @main(%a: tensor<4xi32> {braid.data = "ones"}) -> tensor<4xi32> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %many = arith.constant 100000000 : index
  %rank = braid.rank
  %first = arith.cmpi eq, %rank, %0 : index
  %trips = arith.select %first, %0, %many : index
  %x = scf.for %i = %0 to %trips step %1 iter_args(%s = %a) -> tensor<4xi32> {
    %e = tensor.extract %s[%1] : tensor<4xi32>
    %n = tensor.insert %e into %s[%0] : tensor<4xi32>
    scf.yield %n : tensor<4xi32>
  }
  %r = braid.all_reduce sum %x groups = #one : tensor<4xi32>
  %s = braid.all_reduce sum %r groups = #other : tensor<4xi32>
  %t = braid.all_reduce sum %s groups = #one : tensor<4xi32>
  %u = braid.all_reduce sum %t groups = #other : tensor<4xi32>
  return %u : tensor<4xi32>
}
