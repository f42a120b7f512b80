// Stock passes leave collectives where they are. The same programs with upstream's Pure collectives (SHARD) show that these
// passes would merge, drop, hoist and sink them otherwise: an all_reduce under "if rank == 0" is a deadlock.
//
// RUN: braid-opt %s --split-input-file --cse | FileCheck %s --check-prefixes=CSE
// RUN: braid-opt %s --split-input-file --canonicalize | FileCheck %s --check-prefixes=CANON
// RUN: braid-opt %s --split-input-file --loop-invariant-code-motion | FileCheck %s --check-prefixes=LICM
// RUN: braid-opt %s --split-input-file --control-flow-sink | FileCheck %s --check-prefixes=SINK
// RUN: braid-opt %s --split-input-file --sccp --canonicalize --cse | FileCheck %s --check-prefixes=ALL

#pair = #braid.groups<[[0, 1]]>
shard.grid @grid(shape = 2)

// CSE-LABEL: func.func @equal
// CSE-COUNT-2: braid.all_reduce
// CSE-NOT: braid.all_reduce
// CSE-LABEL: func.func @shard_equal
// CSE-COUNT-1: shard.all_reduce
// CSE-NOT: shard.all_reduce
// ALL-LABEL: func.func @equal
// ALL-COUNT-2: braid.all_reduce
func.func @equal(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #pair : tensor<4xf32>
  %1 = braid.all_reduce sum %a groups = #pair : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func @shard_equal(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  %1 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

#pair = #braid.groups<[[0, 1]]>
shard.grid @grid(shape = 2)

// Each kind, with a dead result, and a token in flight with one.
// CSE-LABEL: func.func @dead
// CSE-NEXT: braid.all_reduce
// CSE-NEXT: braid.reduce_scatter
// CSE-NEXT: braid.all_gather
// CSE-NEXT: braid.all_to_all
// CSE-NEXT: braid.permute
// CSE-NEXT: braid.broadcast
// CSE-NEXT: braid.start
// CSE: braid.wait
// CANON-LABEL: func.func @dead
// CANON-NEXT: braid.all_reduce
// CANON-NEXT: braid.reduce_scatter
// CANON-NEXT: braid.all_gather
// CANON-NEXT: braid.all_to_all
// CANON-NEXT: braid.permute
// CANON-NEXT: braid.broadcast
// CANON-NEXT: braid.start
// CANON-NEXT: braid.all_reduce
// CANON-NEXT: braid.yield
// CANON: braid.wait
// CANON-LABEL: func.func @shard_dead
// CANON-NEXT: return
// CSE-LABEL: func.func @shard_dead
// CSE-NEXT: return
// ALL-LABEL: func.func @dead
// ALL-NEXT: braid.all_reduce
// ALL-NEXT: braid.reduce_scatter
// ALL-NEXT: braid.all_gather
// ALL-NEXT: braid.all_to_all
// ALL-NEXT: braid.permute
// ALL-NEXT: braid.broadcast
// ALL-NEXT: braid.start
// ALL-NEXT: braid.all_reduce
// ALL-NEXT: braid.yield
// ALL: braid.wait
func.func @dead(%a: tensor<4xf32>) {
  %0 = braid.all_reduce sum %a groups = #pair : tensor<4xf32>
  %1 = braid.reduce_scatter sum %a dims = [0] groups = #pair : (tensor<4xf32>) -> tensor<2xf32>
  %2 = braid.all_gather %a dims = [0] groups = #pair : (tensor<4xf32>) -> tensor<8xf32>
  %3 = braid.all_to_all %a split = [0] concat = [0] groups = #pair : (tensor<4xf32>) -> tensor<4xf32>
  %4 = braid.permute %a pairs = [[0, 1]] : tensor<4xf32>
  %5 = braid.broadcast %a root = 0 groups = #pair : tensor<4xf32>
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #pair : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %6 = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @shard_dead(%a: tensor<4xf32>) {
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  %1 = shard.all_gather %a on @grid grid_axes = [0] gather_axis = 0 : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

#pair = #braid.groups<[[0, 1]]>
shard.grid @grid(shape = 2)

// LICM-LABEL: func.func @invariant
// LICM: scf.for
// LICM-NEXT: braid.all_reduce
// LICM-NEXT: braid.start
// LICM: braid.wait
// LICM: scf.yield
// LICM-LABEL: func.func @shard_invariant
// LICM: shard.all_reduce
// LICM-NEXT: scf.for
func.func @invariant(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %a) -> tensor<4xf32> {
    %r = braid.all_reduce sum %a groups = #pair : tensor<4xf32>
    %token = braid.start(%x = %a) : tensor<4xf32> {
      %q = braid.all_reduce sum %x groups = #pair : tensor<4xf32>
      braid.yield %q : tensor<4xf32>
    }
    %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
    %s = arith.addf %acc, %r : tensor<4xf32>
    %t = arith.addf %s, %w : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %sum : tensor<4xf32>
}
func.func @shard_invariant(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %a) -> tensor<4xf32> {
    %r = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %s = arith.addf %acc, %r : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %sum : tensor<4xf32>
}

// -----

#pair = #braid.groups<[[0, 1]]>
shard.grid @grid(shape = 2)

// SINK-LABEL: func.func @used_by_one_rank
// SINK: braid.all_reduce
// SINK: braid.start
// SINK: braid.wait
// SINK: scf.if
// SINK-NOT: braid.
// SINK: return
// SINK-LABEL: func.func @shard_used_by_one_rank
// SINK-NOT: shard.all_reduce
// SINK: scf.if
// SINK-NEXT: shard.all_reduce
func.func @used_by_one_rank(%a: tensor<4xf32>, %is_root: i1) -> tensor<4xf32> {
  %r = braid.all_reduce sum %a groups = #pair : tensor<4xf32>
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %q = braid.all_reduce sum %x groups = #pair : tensor<4xf32>
    braid.yield %q : tensor<4xf32>
  }
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  %i = scf.if %is_root -> tensor<4xf32> {
    %s = arith.addf %r, %w : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %i : tensor<4xf32>
}
func.func @shard_used_by_one_rank(%a: tensor<4xf32>, %is_root: i1) -> tensor<4xf32> {
  %r = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  %i = scf.if %is_root -> tensor<4xf32> {
    %s = arith.addf %r, %r : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %i : tensor<4xf32>
}
