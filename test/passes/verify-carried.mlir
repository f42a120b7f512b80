// Tokens that a loop hands on: what is in flight in a trip are the collectives of the trip before, wherever they started.
// RUN: braid-opt %s --braid-verify-plan -split-input-file -verify-diagnostics

// Awaited before the other groups' collective: right.
module @right attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %t = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1], [2, 3]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    %l:2 = scf.for %i = %zero to %n step %one iter_args(%p = %t, %q = %a) -> (!braid.token, tensor<4xf32>) {
      %w = braid.wait %p, %q : (tensor<4xf32>) -> tensor<4xf32>
      %s = braid.all_reduce sum %w groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
      %u = braid.start(%x = %s) : tensor<4xf32> {
        %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1], [2, 3]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<4xf32>
        braid.yield %r : tensor<4xf32>
      }
      scf.yield %u, %s : !braid.token, tensor<4xf32>
    }
    %w = braid.wait %l#0, %l#1 : (tensor<4xf32>) -> tensor<4xf32>
    return %w : tensor<4xf32>
  }
}

// -----

// In flight beside it, in the loop and behind it.
module @wrong attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    // expected-note @+2 {{the other one started here}}
    // expected-note @below {{which started here}}
    %t = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1], [2, 3]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    %l:2 = scf.for %i = %zero to %n step %one iter_args(%p = %t, %q = %a) -> (!braid.token, tensor<4xf32>) {
      // expected-error @below {{plan rule V3: collectives of different groups in flight together}}
      %s = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
      // expected-error @below {{plan rule V4: in flight here, expected nothing, since it has effects or is not known}}
      %e = memref.alloc() : memref<4xf32>
      %w = braid.wait %p, %q : (tensor<4xf32>) -> tensor<4xf32>
      %u = braid.start(%x = %w) : tensor<4xf32> {
        %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1], [2, 3]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<4xf32>
        braid.yield %r : tensor<4xf32>
      }
      scf.yield %u, %w : !braid.token, tensor<4xf32>
    }
    // expected-error @below {{plan rule V3: collectives of different groups in flight together}}
    %s = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
    %w = braid.wait %l#0, %l#1 : (tensor<4xf32>) -> tensor<4xf32>
    return %w : tensor<4xf32>
  }
}
