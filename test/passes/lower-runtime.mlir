// RUN: braid-opt %s --braid-to-runtime --cse -split-input-file -verify-diagnostics | FileCheck %s

module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32} {

// Version, number, kind, type (f32), reduction, root, peer, tag, channels, chunks, accumulation (of the type itself), memory
// (of the host), engine (braid, plus one), 2 groups of 4 ids in all, no pairs.
// CHECK-DAG: memref.global "private" constant @[[REDUCE:.*]] : memref<22xi64> = dense<[4, 0, 0, 13, 4, 0, 0, 0, 2, 8, 0, 0, 1, 2, 4, 0, 2, 2, 0, 2, 1, 3]>
// CHECK-DAG: dense<[114, 105, 110, 103, 0]>

// CHECK-LABEL: func.func @planned
func.func @planned(%a: memref<4x2xf32>) {
  // CHECK: memref.get_global @[[REDUCE]]
  // CHECK: %[[CALL:.*]] = call @braid_module_begin(
  // CHECK: call @braid_module_tensor(%[[CALL]], %[[P:.*]], %[[P]],
  // CHECK: call @braid_module_launch(%[[CALL]])
  %t = braid.launch all_reduce outs(%a : memref<4x2xf32>)
    {groups = #braid.groups<[[0, 1]]>, id_space = #braid.id_space<replica>, reduction = #braid<reduction average>,
     plan = #braid.plan<engine = braid, algorithm = "ring", channels = 2, chunks = 8>}
  // CHECK: call @braid_module_finish(%[[CALL]])
  braid.finish %t outs(%a : memref<4x2xf32>)
  return
}

}

// -----

// A block that lies in the middle of a larger buffer is addressed by its offset; outer is what lies before the dimension that
// is cut or concatenated; dynamic sizes are read.
// CHECK-LABEL: func.func @addresses
func.func @addresses(%a: memref<8x6xf16>, %o: memref<8x6xf16>, %d: memref<?x3xf16>, %p: memref<?x3xf16>) {
  %part = memref.subview %a[2, 0] [4, 6] [1, 1] : memref<8x6xf16> to memref<4x6xf16, strided<[6, 1], offset: 12>>
  %out = memref.subview %o[4, 0] [4, 6] [1, 1] : memref<8x6xf16> to memref<4x6xf16, strided<[6, 1], offset: 24>>
  // CHECK-DAG: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index
  // CHECK-DAG: %[[BYTES:.*]] = arith.muli %{{.*}}, %c2_i64
  // CHECK-DAG: arith.addi %{{.*}}, %[[BYTES]]
  // CHECK-DAG: %[[N:.*]] = arith.constant 24 : i64
  // CHECK-DAG: %[[OUTER:.*]] = arith.constant 4 : i64
  // CHECK: call @braid_module_tensor(%{{.*}}, %{{.*}}, %{{.*}}, %[[N]], %[[N]], %[[OUTER]], %[[OUTER]])
  %t = braid.launch all_to_all ins(%part : memref<4x6xf16, strided<[6, 1], offset: 12>>) outs(%out : memref<4x6xf16, strided<[6, 1], offset: 24>>)
    {groups = #braid.groups<[[0, 1]]>, dims = array<i64: 1>, concat_dims = array<i64: 1>}
  braid.finish %t ins(%part : memref<4x6xf16, strided<[6, 1], offset: 12>>) outs(%out : memref<4x6xf16, strided<[6, 1], offset: 24>>)
  // CHECK: %[[DIM:.*]] = memref.dim %arg2
  // CHECK: %[[WORD:.*]] = arith.index_cast %[[DIM]] : index to i64
  // CHECK: arith.muli %[[WORD]], %c3_i64
  %u = braid.launch permute ins(%d : memref<?x3xf16>) outs(%p : memref<?x3xf16>) {pairs = dense<[[0, 1]]> : tensor<1x2xi64>}
  braid.finish %u ins(%d : memref<?x3xf16>) outs(%p : memref<?x3xf16>)
  return
}

// -----

// A finish on each of two paths, and this rank's number.
// CHECK-LABEL: func.func @paths
func.func @paths(%a: memref<4xf32>, %c: i1) -> index {
  // CHECK: %[[CALL:.*]] = call @braid_module_begin
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[]>, root = 0 : i64}
  // CHECK: scf.if
  // CHECK-NEXT: func.call @braid_module_finish(%[[CALL]])
  // CHECK-NEXT: else
  // CHECK-NEXT: func.call @braid_module_finish(%[[CALL]])
  scf.if %c {
    braid.finish %t outs(%a : memref<4xf32>)
  } else {
    braid.finish %t outs(%a : memref<4xf32>)
  }
  // CHECK: %[[RANK:.*]] = call @braid_module_rank() : () -> i64
  // CHECK: arith.index_cast %[[RANK]] : i64 to index
  %rank = braid.rank
  return %rank : index
}

// -----

// A buffer with gaps is copied to one piece, and back where the collective has written; dynamic sizes are those of the buffer.
// CHECK-LABEL: func.func @gaps(%arg0: memref<?xf32, strided<[2]>>, %arg1: memref<4xf32, strided<[2]>>, %arg2: i1)
// CHECK: memref.copy %arg0, %[[SENT:.*]] : memref<?xf32, strided<[2]>> to memref<?xf32>
// CHECK: memref.copy %arg1, %[[GOT:.*]] : memref<4xf32, strided<[2]>> to memref<4xf32>
// CHECK: call @braid_module_launch
// CHECK: scf.if
// CHECK: func.call @braid_module_finish
// CHECK-NEXT: memref.copy %[[GOT]], %arg1
// CHECK: llvm.call @braid_module_free
// CHECK: llvm.call @braid_module_free
// CHECK: else
// CHECK: func.call @braid_module_finish
// CHECK-NEXT: memref.copy %[[GOT]], %arg1
// CHECK: llvm.call @braid_module_free
// CHECK: llvm.call @braid_module_free
func.func @gaps(%a: memref<?xf32, strided<[2]>>, %b: memref<4xf32, strided<[2]>>, %c: i1) {
  %t = braid.launch all_reduce ins(%a : memref<?xf32, strided<[2]>>) outs(%b : memref<4xf32, strided<[2]>>) {groups = #braid.groups<[]>, reduction = #braid<reduction sum>}
  scf.if %c {
    braid.finish %t ins(%a : memref<?xf32, strided<[2]>>) outs(%b : memref<4xf32, strided<[2]>>)
  } else {
    braid.finish %t ins(%a : memref<?xf32, strided<[2]>>) outs(%b : memref<4xf32, strided<[2]>>)
  }
  return
}

// -----

// A layout that a loop or a branch has made unknown is looked through.
// CHECK-LABEL: func.func @cast(
// CHECK-NOT: memref.copy
// CHECK: call @braid_module_launch
func.func @cast(%a: memref<4xf32>) {
  %x = memref.cast %a : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
  %t = braid.launch broadcast outs(%x : memref<4xf32, strided<[?], offset: ?>>) {groups = #braid.groups<[]>, root = 0 : i64}
  braid.finish %t outs(%x : memref<4xf32, strided<[?], offset: ?>>)
  return
}

// -----

func.func @goes_round(%a: memref<4xf32, strided<[2]>>, %n: index) {
  // expected-error @+1 {{buffer, expected one that is known to be contiguous, got 'memref<4xf32, strided<[2]>>': start the collective on a copy (bufferization.alloc_tensor), or wait for it before}}
  %t = braid.launch broadcast outs(%a : memref<4xf32, strided<[2]>>) {groups = #braid.groups<[]>, root = 0 : i64}
  %u = scf.for %i = %n to %n step %n iter_args(%s = %t) -> (!braid.token) {
    scf.yield %s : !braid.token
  }
  braid.finish %u outs(%a : memref<4xf32, strided<[2]>>)
  return
}

// -----

func.func @element_type(%a: memref<4xi4>) {
  // expected-error @+1 {{element type, expected one of the runtime (f64 f32 f16 bf16 f8 i8 to i64, i1), got 'i4'}}
  %t = braid.launch broadcast outs(%a : memref<4xi4>) {groups = #braid.groups<[]>, root = 0 : i64}
  braid.finish %t outs(%a : memref<4xi4>)
  return
}

// -----

// The engine of a plan (nccl: 2, mpi: 3) comes to the runtime, with the algorithm in its own words.
// CHECK-DAG: memref.global "private" constant @__braid_site_0 : memref<16xi64> = dense<[4, 0, 5, 13, 0, 0, 0, 0, 16, 0, 0, 0, 2, 0, 0, 0]>
// CHECK-DAG: dense<[114, 105, 110, 103, 47, 76, 76, 49, 50, 56, 0]>
// CHECK-DAG: memref.global "private" constant @__braid_site_{{[0-9]+}} : memref<16xi64> = dense<[4, 1, 5, 13, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]>
// CHECK-LABEL: func.func @engines
func.func @engines(%a: memref<4xf32>) {
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[]>, root = 0 : i64, plan = #braid.plan<engine = nccl, algorithm = "ring", protocol = "LL128", channels = 16>}
  braid.finish %t outs(%a : memref<4xf32>)
  %u = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[]>, root = 0 : i64, plan = #braid.plan<engine = mpi, algorithm = "default">}
  braid.finish %u outs(%a : memref<4xf32>)
  return
}

// -----

func.func @engine(%a: memref<4xf32>) {
  // expected-error @+1 {{plan, expected one for an engine of the runtime (braid, nccl, mpi), got 'xla'}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[]>, root = 0 : i64, plan = #braid.plan<engine = xla, algorithm = "ring">}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

// f16 (11) is summed in f32 (13, plus one).
// CHECK: memref.global "private" constant @__braid_site_0 : memref<16xi64> = dense<[4, 0, 0, 11, 0, 0, 0, 0, 0, 0, 14, 0, 0, 0, 0, 0]>
func.func @accumulate(%a: memref<4xf16>) {
  %t = braid.launch all_reduce outs(%a : memref<4xf16>) {groups = #braid.groups<[]>, reduction = #braid<reduction sum>, accumulate = f32}
  braid.finish %t outs(%a : memref<4xf16>)
  return
}

// -----

// Tensors of two types are moved as bytes (u8: 5): 4 elements of 2 bytes, 3 of 4.
// CHECK: dense<[4, 0, 5, 5, 0,
// CHECK-LABEL: func.func @mixed
func.func @mixed(%a: memref<4xf16>, %b: memref<3xi32>) {
  // CHECK-DAG: %[[HALVES:.*]] = arith.muli %c4_i64, %c2_i64
  // CHECK-DAG: call @braid_module_tensor(%{{.*}}, %{{.*}}, %{{.*}}, %[[HALVES]],
  // CHECK-DAG: %[[WORDS:.*]] = arith.muli %c3_i64, %c4_i64
  // CHECK-DAG: call @braid_module_tensor(%{{.*}}, %{{.*}}, %{{.*}}, %[[WORDS]],
  %t = braid.launch broadcast outs(%a, %b : memref<4xf16>, memref<3xi32>) {groups = #braid.groups<[]>, root = 0 : i64}
  braid.finish %t outs(%a, %b : memref<4xf16>, memref<3xi32>)
  return
}

// -----

// A program that is entered for the first time describes its sites, in order; another function of it does so too, where it is
// the first. Buffers are the runtime's: what a launch may touch, through views and choices, comes with its site.
// CHECK-DAG: llvm.func @braid_module_alloc(i64, i64) -> (!llvm.ptr {llvm.noalias})
// CHECK-DAG: llvm.func @braid_module_free(!llvm.ptr)
// CHECK-LABEL: func.func @buffers
func.func @buffers(%n: index, %c: i1) {
  // CHECK: %[[NEW:.*]] = call @braid_module_open(%[[SITE:[0-9]+]])
  // CHECK: %[[FIRST:.*]] = arith.cmpi ne, %[[NEW]]
  // CHECK: scf.if %[[FIRST]] {
  // CHECK-NEXT: func.call @__braid_sites() : () -> ()
  // CHECK: arith.index_cast %arg0 : index to i64
  // CHECK: llvm.call @braid_module_alloc(%{{.*}}, %[[SITE]])
  %a = memref.alloc(%n) : memref<?x2xf32>
  // CHECK: llvm.call @braid_module_alloc(%{{.*}}, %[[SITE]])
  %b = memref.alloc(%n) : memref<?x2xf32>
  // CHECK: llvm.call @braid_module_alloc(%{{.*}}, %c0_i64)
  %private = memref.alloc() : memref<7xf64>
  %either = arith.select %c, %a, %b : memref<?x2xf32>
  %part = memref.cast %either : memref<?x2xf32> to memref<4x2xf32>
  %t = braid.launch broadcast outs(%part : memref<4x2xf32>) {groups = #braid.groups<[]>, root = 0 : i64}
  braid.finish %t outs(%part : memref<4x2xf32>)
  // CHECK-COUNT-3: llvm.call @braid_module_free(
  memref.dealloc %a : memref<?x2xf32>
  memref.dealloc %b : memref<?x2xf32>
  memref.dealloc %private : memref<7xf64>
  return
}
// CHECK-LABEL: func.func @second_entry
// CHECK: call @braid_module_open(
func.func @second_entry() {
  return
}
// CHECK-LABEL: func.func private @not_an_entry
// CHECK-NOT: braid_module_open
func.func private @not_an_entry() {
  return
}
// CHECK: func.func private @__braid_sites() {
// CHECK: call @braid_module_site(
// CHECK: call @braid_module_agree()

// -----

func.func @on_tensors(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{operands, expected buffers, got tensors: bufferize first}}
  %t, %f = braid.launch broadcast outs(%a : tensor<4xf32>) {groups = #braid.groups<[]>, root = 0 : i64} -> tensor<4xf32>
  %r = braid.finish %t outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @functional(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected launch and finish on buffers: run braid-to-destination and bufferize first}}
  %r = braid.broadcast %a root = 0 groups = #braid.groups<[]> : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A path is the last of what an algorithm takes: "ring(order=hosts path=x4)" and a zero.
module attributes {mhlo.num_partitions = 2 : i32} {
// CHECK-DAG: dense<[114, 105, 110, 103, 40, 111, 114, 100, 101, 114, 61, 104, 111, 115, 116, 115, 32, 112, 97, 116, 104, 61, 120, 52, 41, 0]>
// CHECK-LABEL: func.func @path
func.func @path(%a: memref<4xf32>) {
  %t = braid.launch all_reduce outs(%a : memref<4xf32>)
    {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>,
     plan = #braid.plan<engine = braid, algorithm = "ring(order=hosts)", channels = 4, path = "x4">}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}
}

// -----

// Buffers of a device, by number or by name: the runtime is told so (2), and allocates there.
// CHECK-DAG: memref<15xi64> = dense<[3, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]>
// CHECK-DAG: memref<15xi64> = dense<[3, 1, 1, 13, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]>
// CHECK-DAG: llvm.func @braid_module_alloc_device(i64) -> (!llvm.ptr {llvm.noalias})
// CHECK-LABEL: func.func @device
func.func @device(%a: memref<4xf32, 1>, %b: memref<4xf32, #gpu.address_space<global>>, %c: memref<2xf32, #gpu.address_space<global>>) {
  // CHECK: memref.extract_aligned_pointer_as_index %{{.*}} : memref<4xf32, 1>
  %t = braid.launch all_reduce outs(%a : memref<4xf32, 1>) {groups = #braid.groups<[]>, reduction = #braid<reduction sum>}
  braid.finish %t outs(%a : memref<4xf32, 1>)
  // CHECK: memref.extract_aligned_pointer_as_index %{{.*}} : memref<4xf32, #gpu.address_space<global>>
  %u = braid.launch reduce_scatter ins(%b : memref<4xf32, #gpu.address_space<global>>) outs(%c : memref<2xf32, #gpu.address_space<global>>) {groups = #braid.groups<[]>, reduction = #braid<reduction sum>, dims = array<i64: 0>}
  braid.finish %u ins(%b : memref<4xf32, #gpu.address_space<global>>) outs(%c : memref<2xf32, #gpu.address_space<global>>)
  // CHECK: %[[MEMORY:.*]] = llvm.call @braid_module_alloc_device(
  // CHECK: llvm.addrspacecast %[[MEMORY]] : !llvm.ptr to !llvm.ptr<1>
  // CHECK: llvm.addrspacecast %{{.*}} : !llvm.ptr<1> to !llvm.ptr
  // CHECK: llvm.call @braid_module_free
  %own = memref.alloc() : memref<8xf32, 1>
  memref.dealloc %own : memref<8xf32, 1>
  return
}

// -----

func.func @workgroup(%a: memref<4xf32, 3>) {
  // expected-error @+1 {{memory space, expected that of the host (none) or global memory of a device (1, #gpu.address_space<global>), got 'memref<4xf32, 3>'}}
  %t = braid.launch broadcast outs(%a : memref<4xf32, 3>) {groups = #braid.groups<[]>, root = 0 : i64}
  braid.finish %t outs(%a : memref<4xf32, 3>)
  return
}

// -----

func.func @both(%a: memref<4xf32, 1>, %b: memref<4xf32>) {
  // expected-error @+1 {{buffers, expected all in one memory, got some of the host and some of a device}}
  %t = braid.launch broadcast outs(%a, %b : memref<4xf32, 1>, memref<4xf32>) {groups = #braid.groups<[]>, root = 0 : i64}
  braid.finish %t outs(%a, %b : memref<4xf32, 1>, memref<4xf32>)
  return
}

// -----

func.func @columns(%a: memref<4x4xf32, 1>, %b: memref<4x2xf32, 1>) {
  // expected-error @+1 {{dimension, expected the first for buffers of a device, got 1}}
  %t = braid.launch reduce_scatter ins(%a : memref<4x4xf32, 1>) outs(%b : memref<4x2xf32, 1>) {groups = #braid.groups<[]>, reduction = #braid<reduction sum>, dims = array<i64: 1>}
  braid.finish %t ins(%a : memref<4x4xf32, 1>) outs(%b : memref<4x2xf32, 1>)
  return
}

// -----

func.func @strided(%a: memref<4x4xf32, strided<[8, 1]>, 1>) {
  // expected-error @+1 {{buffer, expected one in one piece in memory of a device, got 'memref<4x4xf32, strided<[8, 1]>, 1>': copy it on the device first}}
  %t = braid.launch broadcast outs(%a : memref<4x4xf32, strided<[8, 1]>, 1>) {groups = #braid.groups<[]>, root = 0 : i64}
  braid.finish %t outs(%a : memref<4x4xf32, strided<[8, 1]>, 1>)
  return
}
