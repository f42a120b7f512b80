// Buffers in flight that a function of the module, memory of memory, the end of a scope or a tensor could reach. A function named
// "ok" is right; each other one has one thing wrong.
// RUN: braid-opt %s --braid-verify-in-flight -split-input-file -verify-diagnostics

// A public function that a caller in the module gives one buffer twice.
func.func @two(%a: memref<4xf32>, %b: memref<4xf32>, %v: f32, %i: index) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %b[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}
func.func @twice(%m: memref<4xf32>, %v: f32, %i: index) {
  call @two(%m, %m, %v, %i) : (memref<4xf32>, memref<4xf32>, f32, index) -> ()
  return
}

// -----

// The same function, public and private, given different buffers: those of one call are another's, but never two at once.
func.func @ok_two(%a: memref<4xf32>, %b: memref<4xf32>, %v: f32, %i: index) {
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  memref.store %v, %b[%i] : memref<4xf32>
  braid.finish %t outs(%a : memref<4xf32>)
  return
}
func.func private @ok_private(%a: memref<4xf32>, %b: memref<4xf32>, %v: f32, %i: index) {
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  memref.store %v, %b[%i] : memref<4xf32>
  braid.finish %t outs(%a : memref<4xf32>)
  return
}
func.func @ok_layers(%x: memref<4xf32>, %y: memref<4xf32>, %v: f32, %i: index) {
  %z = memref.alloc() : memref<4xf32>
  call @ok_two(%x, %y, %v, %i) : (memref<4xf32>, memref<4xf32>, f32, index) -> ()
  call @ok_two(%y, %z, %v, %i) : (memref<4xf32>, memref<4xf32>, f32, index) -> ()
  call @ok_private(%z, %x, %v, %i) : (memref<4xf32>, memref<4xf32>, f32, index) -> ()
  return
}

// -----

// Given a global that it writes by name.
memref.global @shared : memref<4xf32>
func.func @by_name(%a: memref<4xf32>, %v: f32, %i: index) {
  %g = memref.get_global @shared : memref<4xf32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %g[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}
func.func @gives_the_global(%v: f32, %i: index) {
  %g = memref.get_global @shared : memref<4xf32>
  call @by_name(%g, %v, %i) : (memref<4xf32>, f32, index) -> ()
  return
}

// -----

// The function that is called reads what is sent: that may be. It is followed, not guessed at.
func.func private @ok_reads(%a: memref<4xf32>, %i: index) -> f32 {
  %r = memref.load %a[%i] : memref<4xf32>
  return %r : f32
}
func.func @ok_call_reads(%a: memref<4xf32>, %o: memref<4xf32>, %i: index) -> f32 {
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  %r = call @ok_reads(%a, %i) : (memref<4xf32>, index) -> f32
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  return %r : f32
}

// -----

func.func private @writes(%a: memref<4xf32>, %v: f32, %i: index) {
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective reads}}
  memref.store %v, %a[%i] : memref<4xf32>
  return
}
func.func @call_writes(%a: memref<4xf32>, %o: memref<4xf32>, %v: f32, %i: index) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  call @writes(%a, %v, %i) : (memref<4xf32>, f32, index) -> ()
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// -----

// What two calls of one function give are two buffers; what each gives is known.
func.func private @ok_makes(%v: f32, %i: index) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  memref.store %v, %a[%i] : memref<4xf32>
  return %a : memref<4xf32>
}
func.func @ok_made(%v: f32, %i: index) {
  %a = call @ok_makes(%v, %i) : (f32, index) -> memref<4xf32>
  %b = call @ok_makes(%v, %i) : (f32, index) -> memref<4xf32>
  %c = call @ok_makes(%v, %i) : (f32, index) -> memref<4xf32>
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  memref.store %v, %b[%i] : memref<4xf32>
  memref.store %v, %c[%i] : memref<4xf32>
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

// It gives back what it was given.
func.func private @same(%a: memref<4xf32>) -> memref<4xf32> {
  return %a : memref<4xf32>
}
func.func @given_back(%a: memref<4xf32>, %v: f32, %i: index) {
  %b = call @same(%a) : (memref<4xf32>) -> memref<4xf32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %b[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

// Left in flight by a function that is called.
func.func private @leaves(%a: memref<4xf32>, %c: i1) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  scf.if %c {
    // expected-note @+1 {{and is finished here}}
    braid.finish %t outs(%a : memref<4xf32>)
  }
  // expected-error @+1 {{collective in flight, expected it to be finished before the function ends}}
  return
}
func.func @calls(%a: memref<4xf32>, %c: i1) {
  call @leaves(%a, %c) : (memref<4xf32>, i1) -> ()
  return
}

// -----

// A function that calls itself is not followed again.
func.func private @again(%a: memref<4xf32>, %c: i1) {
  scf.if %c {
    // expected-note @+1 {{the collective was launched here}}
    %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    // expected-error @+1 {{buffer in flight, expected no operation of unknown effects to get it}}
    func.call @again(%a, %c) : (memref<4xf32>, i1) -> ()
    // expected-note @+1 {{and is finished here}}
    braid.finish %t outs(%a : memref<4xf32>)
  }
  return
}

// -----

// Its address is known outside: whoever calls may give it one buffer twice.
func.func @addressed(%a: memref<4xf32>, %b: memref<4xf32>, %v: f32, %i: index) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
  memref.store %v, %b[%i] : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}
func.func @takes_the_address() -> ((memref<4xf32>, memref<4xf32>, f32, index) -> ()) {
  %f = func.constant @addressed : (memref<4xf32>, memref<4xf32>, f32, index) -> ()
  return %f : (memref<4xf32>, memref<4xf32>, f32, index) -> ()
}

// -----

// A buffer put into another one: who gets any memory may take it out.
func.func private @unknown()
func.func @kept_in_memory(%a: memref<4xf32>, %m: memref<1xmemref<4xf32>>, %i: index) {
  memref.store %a, %m[%i] : memref<1xmemref<4xf32>>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected no operation of unknown effects to get it}}
  func.call @unknown() : () -> ()
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func private @print(memref<4xf32>)
func.func @ok_not_kept(%a: memref<4xf32>, %b: memref<4xf32>, %m: memref<1xmemref<4xf32>>, %i: index) {
  memref.store %b, %m[%i] : memref<1xmemref<4xf32>>
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  func.call @print(%b) : (memref<4xf32>) -> ()
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func private @takes_a_number(i64)
func.func @by_address(%a: memref<4xf32>) {
  %address = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
  %number = arith.index_cast %address : index to i64
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected no operation of unknown effects to get it}}
  func.call @takes_a_number(%number) : (i64) -> ()
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

// The memory ends with the scope, the collective does not.
func.func @alloca_scope() {
  %t, %x = memref.alloca_scope -> (!braid.token, memref<4xf32>) {
    %a = memref.alloca() : memref<4xf32>
    // expected-note @+1 {{the collective was launched here}}
    %u = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    // expected-note @+2 {{and is passed on here}}
    // expected-error @+1 {{buffer in flight, expected memory that outlives the collective, got a memref.alloca that ends here}}
    memref.alloca_scope.return %u, %a : !braid.token, memref<4xf32>
  }
  braid.finish %t outs(%x : memref<4xf32>)
  return
}

// -----

// A trip is a scope too.
func.func @alloca_of_a_trip(%a: memref<4xf32>, %i: index) {
  %first = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  %last:2 = scf.for %k = %i to %i step %i iter_args(%t = %first, %x = %a) -> (!braid.token, memref<4xf32>) {
    braid.finish %t outs(%x : memref<4xf32>)
    %y = memref.alloca() : memref<4xf32>
    // expected-note @+1 {{the collective was launched here}}
    %u = braid.launch broadcast outs(%y : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    // expected-note @+2 {{and is passed on here}}
    // expected-error @+1 {{buffer in flight, expected memory that outlives the collective, got a memref.alloca that ends here}}
    scf.yield %u, %y : !braid.token, memref<4xf32>
  }
  braid.finish %last#0 outs(%last#1 : memref<4xf32>)
  return
}

// -----

// Within its scope, and an outer one's.
func.func @ok_alloca(%v: f32, %i: index) {
  %b = memref.alloca() : memref<4xf32>
  %t = memref.alloca_scope -> (!braid.token) {
    %a = memref.alloca() : memref<4xf32>
    %u = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    memref.store %v, %b[%i] : memref<4xf32>
    braid.finish %u outs(%a : memref<4xf32>)
    %w = braid.launch broadcast outs(%b : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
    memref.alloca_scope.return %w : !braid.token
  }
  braid.finish %t outs(%b : memref<4xf32>)
  return
}

// -----

// A tensor that stands for a buffer.
func.func @through_a_tensor(%a: memref<4xf32>, %i: index) -> f32 {
  %x = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-error @+1 {{buffer in flight, expected nobody to read what the collective writes}}
  %r = tensor.extract %x[%i] : tensor<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t outs(%a : memref<4xf32>)
  return %r : f32
}

// -----

func.func @ok_through_a_tensor(%a: memref<4xf32>, %b: memref<4xf32>, %i: index) -> f32 {
  %x = bufferization.to_tensor %b restrict : memref<4xf32> to tensor<4xf32>
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  %r = tensor.extract %x[%i] : tensor<4xf32>
  braid.finish %t outs(%a : memref<4xf32>)
  %y = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  %s = tensor.extract %y[%i] : tensor<4xf32>
  %z = arith.addf %r, %s : f32
  return %z : f32
}

// -----

// Views of another buffer that upstream does not call views.
func.func @ok_transposed(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %v: f32, %i: index) {
  %c = memref.transpose %b (i, j) -> (j, i) : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  %t = braid.launch broadcast outs(%a : memref<4x4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  memref.store %v, %c[%i, %i] : memref<4x4xf32, strided<[1, 4]>>
  braid.finish %t outs(%a : memref<4x4xf32>)
  return
}
