// What is put into memory may be reached by a function that is not given it, also by one that was called before it in the text, in
// a loop; and an operation that says what it does, but not to which memory, may do it through a pointer.
// RUN: braid-opt %s --braid-verify-in-flight -split-input-file -verify-diagnostics

func.func private @elsewhere()

func.func @kept_by_the_trip_before(%holder: memref<1xmemref<4xi32>>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = memref.alloc() : memref<4xi32>
  %y = memref.alloc() : memref<4xi32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%x : memref<4xi32>) outs(%y : memref<4xi32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  scf.for %i = %zero to %n step %one {
    // expected-error @+1 {{buffer in flight, expected no operation of unknown effects to get it}}
    func.call @elsewhere() : () -> ()
    memref.store %y, %holder[%zero] : memref<1xmemref<4xi32>>
  }
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%x : memref<4xi32>) outs(%y : memref<4xi32>)
  return
}

// -----

func.func private @elsewhere()

// Kept when nothing is in flight any more: nobody reaches it before.
func.func @ok_kept_after(%holder: memref<1xmemref<4xi32>>) {
  %zero = arith.constant 0 : index
  %x = memref.alloc() : memref<4xi32>
  %y = memref.alloc() : memref<4xi32>
  %t = braid.launch all_reduce ins(%x : memref<4xi32>) outs(%y : memref<4xi32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  braid.finish %t ins(%x : memref<4xi32>) outs(%y : memref<4xi32>)
  memref.store %y, %holder[%zero] : memref<1xmemref<4xi32>>
  call @elsewhere() : () -> ()
  return
}

// -----

func.func @assembly() {
  %x = memref.alloc() : memref<4xi32>
  %y = memref.alloc() : memref<4xi32>
  %z = memref.alloc() : memref<4xi32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%x : memref<4xi32>) outs(%y : memref<4xi32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  %p = memref.extract_aligned_pointer_as_index %z : memref<4xi32> -> index
  %q = arith.index_cast %p : index to i64
  llvm.inline_asm has_side_effects "movl $$1, ($0)", "r,~{memory}" %q : (i64) -> () // another buffer
  %r = memref.extract_aligned_pointer_as_index %x : memref<4xi32> -> index
  %s = arith.index_cast %r : index to i64
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective reads}}
  llvm.inline_asm has_side_effects "movl $$1, ($0)", "r,~{memory}" %s : (i64) -> ()
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%x : memref<4xi32>) outs(%y : memref<4xi32>)
  return
}
