// How buffers can be the same: views, casts, choices, loops, calls, globals; and tokens that loops and branches pass on. A
// function named "ok" is right; each other one has one thing wrong.
// RUN: braid-opt %s --braid-verify-in-flight -split-input-file -verify-diagnostics

// -----

func.func @subview_of_the_same(%a: memref<8xf32>, %v: f32, %i: index) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<8xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  %half = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %half[%i] : memref<4xf32, strided<[1], offset: 4>>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<8xf32>)
  return
}

// -----

// The other half could be written, but halves are not told apart.
func.func @halves(%a: memref<8xf32>, %v: f32, %i: index) {
  %low = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%low : memref<4xf32, strided<[1]>>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  %high = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %high[%i] : memref<4xf32, strided<[1], offset: 4>>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%low : memref<4xf32, strided<[1]>>)
  return
}

// -----

func.func @reinterpret_cast(%a: memref<4xf32>, %v: f32, %i: index) {
  %b = memref.reinterpret_cast %a to offset: [0], sizes: [2, 2], strides: [2, 1] : memref<4xf32> to memref<2x2xf32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %b[%i, %i] : memref<2x2xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func @expand_shape(%a: memref<4xf32>, %v: f32, %i: index) {
  %b = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %b[%i, %i] : memref<2x2xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func @cast(%a: memref<4xf32>, %v: f32, %i: index) {
  %b = memref.cast %a : memref<4xf32> to memref<?xf32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %b[%i] : memref<?xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func @strided_metadata(%a: memref<4xf32>, %v: f32, %i: index) {
  %base, %offset, %size, %stride = memref.extract_strided_metadata %a : memref<4xf32> -> memref<f32>, index, index, index
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %base[] : memref<f32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func @select(%a: memref<4xf32>, %b: memref<4xf32>, %c: i1, %v: f32, %i: index) {
  %x = arith.select %c, %a, %b : memref<4xf32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%x : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %b[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%x : memref<4xf32>)
  return
}

// -----

func.func @branch_result(%a: memref<4xf32>, %b: memref<4xf32>, %c: i1, %v: f32, %i: index) {
  %x = scf.if %c -> memref<4xf32> {
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %b : memref<4xf32>
  }
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to read what the collective writes}}
  %r = memref.load %x[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func @block_argument(%a: memref<4xf32>, %b: memref<4xf32>, %c: i1, %v: f32, %i: index) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  cf.cond_br %c, ^next(%a : memref<4xf32>), ^next(%b : memref<4xf32>)
^next(%x: memref<4xf32>):
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %x[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

// Two buffers trade places in a loop: whichever is in flight, the other one is not.
func.func @ok_swapped_in_a_loop(%c: i1, %v: f32, %i: index) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %r:2 = scf.for %k = %i to %i step %i iter_args(%x = %a, %y = %b) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %y, %x : memref<4xf32>, memref<4xf32>
  }
  %t = braid.launch broadcast outs(%r#0 : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  memref.store %v, %r#1[%i] : memref<4xf32>
  braid.finish %t outs(%r#0 : memref<4xf32>)
  return
}

// -----

// Under the name from before the loop it is either.
func.func @swapped_in_a_loop(%c: i1, %v: f32, %i: index) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %r:2 = scf.for %k = %i to %i step %i iter_args(%x = %a, %y = %b) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %y, %x : memref<4xf32>, memref<4xf32>
  }
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%r#0 : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %a[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%r#0 : memref<4xf32>)
  return
}

// -----

// Two that trade places are two in every trip.
func.func @ok_double_buffer(%c: i1, %v: f32, %i: index) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %r:2 = scf.for %k = %i to %i step %i iter_args(%x = %a, %y = %b) -> (memref<4xf32>, memref<4xf32>) {
    %t = braid.launch broadcast outs(%x : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    memref.store %v, %y[%i] : memref<4xf32>
    braid.finish %t outs(%x : memref<4xf32>)
    scf.yield %y, %x : memref<4xf32>, memref<4xf32>
  }
  return
}

// -----

// Unless they were one to begin with, or become one in some trip.
func.func @one_buffer_twice(%c: i1, %v: f32, %i: index) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %r:2 = scf.for %k = %i to %i step %i iter_args(%x = %a, %y = %b) -> (memref<4xf32>, memref<4xf32>) {
    // expected-note @+1 {{the collective was launched here}}
    %t = braid.launch broadcast outs(%x : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
    memref.store %v, %y[%i] : memref<4xf32>
    // expected-note @+1 {{and is finished here}}
    braid.finish %t outs(%x : memref<4xf32>)
    scf.yield %y, %y : memref<4xf32>, memref<4xf32>
  }
  return
}

// -----

// A fresh buffer on each trip is not the one of the trip before.
func.func @ok_fresh_in_each_trip(%c: i1, %v: f32, %i: index) {
  %a = memref.alloc() : memref<4xf32>
  %r = scf.for %k = %i to %i step %i iter_args(%x = %a) -> memref<4xf32> {
    %y = memref.alloc() : memref<4xf32>
    %t = braid.launch broadcast outs(%y : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    memref.store %v, %x[%i] : memref<4xf32>
    memref.dealloc %x : memref<4xf32>
    braid.finish %t outs(%y : memref<4xf32>)
    scf.yield %y : memref<4xf32>
  }
  return
}

// -----

// But what two trips hold may be.
func.func @older_ones(%c: i1, %v: f32, %i: index) {
  %a = memref.alloc() : memref<4xf32>
  %r:2 = scf.for %k = %i to %i step %i iter_args(%x = %a, %z = %a) -> (memref<4xf32>, memref<4xf32>) {
    %y = memref.alloc() : memref<4xf32>
    // expected-note @+1 {{the collective was launched here}}
    %t = braid.launch broadcast outs(%x : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
    memref.store %v, %z[%i] : memref<4xf32>
    // expected-note @+1 {{and is finished here}}
    braid.finish %t outs(%x : memref<4xf32>)
    scf.yield %y, %x : memref<4xf32>, memref<4xf32>
  }
  return
}

// -----

func.func private @callee(memref<4xf32>)
func.func private @same(memref<4xf32>) -> memref<4xf32>
func.func @from_a_call(%a: memref<4xf32>, %v: f32, %i: index) {
  %b = func.call @same(%a) : (memref<4xf32>) -> memref<4xf32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %b[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func private @callee(memref<4xf32>)
func.func @ok_call_of_another(%a: memref<4xf32>, %b: memref<4xf32>) {
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  func.call @callee(%b) : (memref<4xf32>) -> ()
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func private @callee()
memref.global @shared : memref<4xf32>
func.func @a_global_and_a_call() {
  %a = memref.get_global @shared : memref<4xf32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected no operation of unknown effects to get it}}
  func.call @callee() : () -> ()
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

// Who knows a function's address may give it one buffer twice.
func.func private @addressed() -> ((memref<4xf32>, memref<4xf32>, f32, index) -> ()) {
  %f = func.constant @arguments : (memref<4xf32>, memref<4xf32>, f32, index) -> ()
  return %f : (memref<4xf32>, memref<4xf32>, f32, index) -> ()
}
func.func private @arguments(%a: memref<4xf32>, %b: memref<4xf32>, %v: f32, %i: index) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %b[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func @memory_from_memory(%m: memref<1xmemref<4xf32>>, %a: memref<4xf32>, %v: f32, %i: index) {
  %b = memref.load %m[%i] : memref<1xmemref<4xf32>>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %b[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

// One collective in flight from each trip to the next: the trip fills a buffer of its own meanwhile.
func.func @ok_across_trips(%c: i1, %v: f32, %i: index) {
  %a = memref.alloc() : memref<4xf32>
  %first = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  %last:2 = scf.for %k = %i to %i step %i iter_args(%t = %first, %x = %a) -> (!braid.token, memref<4xf32>) {
    %y = memref.alloc() : memref<4xf32>
    memref.store %v, %y[%i] : memref<4xf32>
    braid.finish %t outs(%x : memref<4xf32>)
    %r = memref.load %x[%i] : memref<4xf32>
    memref.dealloc %x : memref<4xf32>
    %u = braid.launch broadcast outs(%y : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    scf.yield %u, %y : !braid.token, memref<4xf32>
  }
  braid.finish %last#0 outs(%last#1 : memref<4xf32>)
  memref.dealloc %last#1 : memref<4xf32>
  return
}

// -----

// Touched before the finish: on the first trip that of the launch before the loop, later that of the trip before.
func.func @touched_across_trips(%c: i1, %v: f32, %i: index) {
  %a = memref.alloc() : memref<4xf32>
  // expected-note @+1 {{the collective was launched here}}
  %first = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-note @+1 {{and is passed on here}}
  %last:2 = scf.for %k = %i to %i step %i iter_args(%t = %first, %x = %a) -> (!braid.token, memref<4xf32>) {
    // expected-error @+1 {{buffer in flight, expected nobody to read what the collective writes}}
    %r = memref.load %x[%i] : memref<4xf32>
    braid.finish %t outs(%x : memref<4xf32>)
    %y = memref.alloc() : memref<4xf32>
    // expected-note @+1 {{the collective was launched here}}
    %u = braid.launch broadcast outs(%y : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    // expected-note @+1 {{and is passed on here}}
    scf.yield %u, %y : !braid.token, memref<4xf32>
  }
  braid.finish %last#0 outs(%last#1 : memref<4xf32>)
  return
}

// -----

// The buffer of the trip is launched, then written before the trip ends.
func.func @written_after_the_launch(%c: i1, %v: f32, %i: index) {
  %a = memref.alloc() : memref<4xf32>
  %first = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  %last:2 = scf.for %k = %i to %i step %i iter_args(%t = %first, %x = %a) -> (!braid.token, memref<4xf32>) {
    braid.finish %t outs(%x : memref<4xf32>)
    // expected-note @+1 {{the collective was launched here}}
    %u = braid.launch broadcast outs(%x : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
    memref.store %v, %x[%i] : memref<4xf32>
    // expected-note @+1 {{and is passed on here}}
    scf.yield %u, %x : !braid.token, memref<4xf32>
  }
  braid.finish %last#0 outs(%last#1 : memref<4xf32>)
  return
}

// -----

// Either of two collectives, by the path.
func.func @ok_token_of_a_branch(%a: memref<4xf32>, %b: memref<4xf32>, %d: memref<4xf32>, %c: i1, %v: f32, %i: index) {
  %t, %x = scf.if %c -> (!braid.token, memref<4xf32>) {
    %u = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    scf.yield %u, %a : !braid.token, memref<4xf32>
  } else {
    %u = braid.launch broadcast outs(%b : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    scf.yield %u, %b : !braid.token, memref<4xf32>
  }
  memref.store %v, %d[%i] : memref<4xf32>
  braid.finish %t outs(%x : memref<4xf32>)
  memref.store %v, %a[%i] : memref<4xf32>
  return
}

// -----

func.func @token_of_a_branch(%a: memref<4xf32>, %b: memref<4xf32>, %c: i1, %v: f32, %i: index) {
  %t, %x = scf.if %c -> (!braid.token, memref<4xf32>) {
    // expected-note @+1 {{the collective was launched here}}
    %u = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    // expected-note @+1 {{and is passed on here}}
    scf.yield %u, %a : !braid.token, memref<4xf32>
  } else {
    // expected-note @+1 {{the collective was launched here}}
    %u = braid.launch broadcast outs(%b : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    // expected-note @+1 {{and is passed on here}}
    scf.yield %u, %b : !braid.token, memref<4xf32>
  }
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %a[%i] : memref<4xf32>
  braid.finish %t outs(%x : memref<4xf32>)
  return
}

// -----

// Finished in one branch only.
func.func @on_one_path(%a: memref<4xf32>, %b: memref<4xf32>, %c: i1) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  scf.if %c {
    // expected-note @+1 {{and is finished here}}
    braid.finish %t outs(%a : memref<4xf32>)
  }
  // expected-error @+1 {{collective in flight, expected it to be finished before the function ends}}
  return
}

// -----

func.func @never(%a: memref<4xf32>, %c: i1) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  %u = scf.if %c -> !braid.token {
    // expected-note @+1 {{and is passed on here}}
    scf.yield %t : !braid.token
  } else {
    // expected-note @+1 {{and is passed on here}}
    scf.yield %t : !braid.token
  }
  // expected-error @+1 {{collective in flight, expected it to be finished before the function ends}}
  return
}

// -----

func.func @from_a_caller(%t: !braid.token, %a: memref<4xf32>) {
  // expected-error @+1 {{token, expected a collective in flight, got one that is finished already, or comes from a caller}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func private @takes(!braid.token)
func.func @to_a_function(%a: memref<4xf32>) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+2 {{token, expected to be finished, or passed on by loops and branches}}
  // expected-note @+1 {{and is passed on here}}
  func.call @takes(%t) : (!braid.token) -> ()
  return
}

// -----

// Left in flight at the end of a trip.
func.func @every_trip(%c: i1, %v: f32, %i: index) {
  scf.for %k = %i to %i step %i {
    %a = memref.alloc() : memref<4xf32>
    // expected-error @+2 {{collective in flight, expected it to be finished before its token is lost}}
    // expected-note @+1 {{the collective was launched here}}
    %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    scf.if %c {
      // expected-note @+1 {{and is finished here}}
      braid.finish %t outs(%a : memref<4xf32>)
    }
  }
  // expected-error @+1 {{collective in flight, expected it to be finished before the function ends}}
  return
}

// -----

// A while loop carries it; the condition is asked while it is in flight.
func.func @ok_while(%v: f32, %i: index, %c: i1) {
  %a = memref.alloc() : memref<4xf32>
  %first = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  %last:2 = scf.while (%t = %first, %x = %a) : (!braid.token, memref<4xf32>) -> (!braid.token, memref<4xf32>) {
    scf.condition(%c) %t, %x : !braid.token, memref<4xf32>
  } do {
  ^bb0(%t: !braid.token, %x: memref<4xf32>):
    braid.finish %t outs(%x : memref<4xf32>)
    memref.store %v, %x[%i] : memref<4xf32>
    %u = braid.launch broadcast outs(%x : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    scf.yield %u, %x : !braid.token, memref<4xf32>
  }
  braid.finish %last#0 outs(%last#1 : memref<4xf32>)
  return
}

// -----

// Freed on a condition, and it may be another one: that is the runtime's to decide, which refuses what is in flight.
func.func @ok_one_of_two_is_freed(%c: i1, %d: i1) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %x = arith.select %c, %a, %b : memref<4xf32>
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  scf.if %d {
    memref.dealloc %x : memref<4xf32>
  }
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

// A body whose paths are not followed.
func.func @in_a_parallel_body(%a: memref<4xf32>, %v: f32) {
  affine.parallel (%i) = (0) to (4) {
    // expected-error @+1 {{collective, expected in a function, or in loops and branches of scf or affine whose paths are known, got one in affine.parallel}}
    %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    affine.store %v, %a[%i] : memref<4xf32>
    // expected-error @+1 {{got one in affine.parallel}}
    braid.finish %t outs(%a : memref<4xf32>)
  }
  return
}

// -----

// Through a pointer that is no buffer any more.
func.func @bare_pointer(%a: memref<4xf32>, %v: f32) {
  %address = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
  %number = arith.index_cast %address : index to i64
  %pointer = llvm.inttoptr %number : i64 to !llvm.ptr
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  llvm.store %v, %pointer : f32, !llvm.ptr
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

// One of several buffers is apart from what all of them are apart from: a loop hands on %x and %y, which are never one.
func.func @ok_either(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %v: f32, %i: index, %p: i1) {
  %l:2 = scf.for %n = %i to %i step %i iter_args(%s = %a, %t = %b) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %t, %s : memref<4xf32>, memref<4xf32>
  }
  %t = braid.launch broadcast outs(%l#0 : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  %z = arith.select %p, %l#1, %c : memref<4xf32>
  memref.store %v, %z[%i] : memref<4xf32>
  braid.finish %t outs(%l#0 : memref<4xf32>)
  return
}
func.func @either(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %v: f32, %i: index, %p: i1) {
  %l:2 = scf.for %n = %i to %i step %i iter_args(%s = %a, %t = %b) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %t, %s : memref<4xf32>, memref<4xf32>
  }
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%l#0 : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  %z = arith.select %p, %l#0, %l#1 : memref<4xf32>
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %z[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%l#0 : memref<4xf32>)
  return
}
