// Each function but the first has one thing wrong between launch and finish.
// RUN: braid-opt %s --braid-verify-in-flight -split-input-file -verify-diagnostics

func.func @nothing_wrong(%a: memref<4xf32>, %b: memref<4xf32>, %c: i1) {
  %o = memref.alloc() : memref<4xf32>
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  // Reading what is sent, writing what has nothing to do with it, and on one path finishing first.
  memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  scf.if %c {
    braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
    memref.copy %b, %a : memref<4xf32> to memref<4xf32>
  } else {
    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
    braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  }
  memref.dealloc %o : memref<4xf32>
  return
}

// -----

// Blocks instead of regions, and a loop around both.
func.func @nothing_wrong_in_blocks(%a: memref<4xf32>, %b: memref<4xf32>, %o: memref<4xf32>, %c: i1) {
  cf.br ^head
^head:
  memref.copy %b, %a : memref<4xf32> to memref<4xf32>
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  cf.cond_br %c, ^left, ^right
^left:
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  memref.copy %b, %a : memref<4xf32> to memref<4xf32>
  cf.br ^head
^right:
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// -----

func.func @f1_in_another_block(%a: memref<4xf32>, %b: memref<4xf32>, %o: memref<4xf32>, %c: i1) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  cf.cond_br %c, ^left, ^right
^left:
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective reads}}
  memref.copy %b, %a : memref<4xf32> to memref<4xf32>
  cf.br ^right
^right:
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// -----

func.func @f1_writes_what_is_sent(%a: memref<4xf32>, %b: memref<4xf32>, %o: memref<4xf32>) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective reads}}
  memref.copy %b, %a : memref<4xf32> to memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// -----

func.func @f1_writes_through_a_view(%a: memref<8xf32>, %b: memref<4xf32>, %o: memref<4xf32>, %v: f32, %i: index) {
  %half = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%half : memref<4xf32, strided<[1]>>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  scf.for %k = %i to %i step %i {
    // expected-error @+1 {{buffer in flight, expected nobody to write what the collective reads}}
    memref.store %v, %a[%k] : memref<8xf32>
  }
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%half : memref<4xf32, strided<[1]>>) outs(%o : memref<4xf32>)
  return
}

// -----

func.func @f1_frees_what_is_sent(%o: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  // expected-error @+1 {{buffer in flight, expected nobody to free what the collective reads}}
  memref.dealloc %a : memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// -----

func.func @f2_reads_the_destination(%a: memref<4xf32>, %b: memref<4xf32>, %o: memref<4xf32>) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  // expected-error @+1 {{buffer in flight, expected nobody to read what the collective writes}}
  memref.copy %o, %b : memref<4xf32> to memref<4xf32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// -----

func.func @f2_two_collectives_into_one(%a: memref<4xf32>, %o: memref<4xf32>) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  // expected-error @+2 {{buffer in flight, expected nobody to write what the collective writes}}
  // expected-note @+1 {{the collective was launched here}}
  %u = braid.launch broadcast ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-note @+2 {{and is finished here}}
  // expected-error @+1 {{buffer in flight, expected nobody to read what the collective writes}}
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  // expected-note @+1 {{and is finished here}}
  braid.finish %u ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// -----

func.func @f2_in_place_is_written_on_one_path(%a: memref<4xf32>, %b: memref<4xf32>, %c: i1) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  scf.if %c {
    // expected-note @+1 {{and is finished here}}
    braid.finish %t outs(%a : memref<4xf32>)
  } else {
    // expected-error @+1 {{buffer in flight, expected nobody to write what the collective writes}}
    memref.copy %b, %a : memref<4xf32> to memref<4xf32>
    // expected-note @+1 {{and is finished here}}
    braid.finish %t outs(%a : memref<4xf32>)
  }
  return
}

// -----

func.func private @unknown(memref<4xf32>)
func.func @f3_gives_it_away(%a: memref<4xf32>, %b: memref<4xf32>, %o: memref<4xf32>) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  func.call @unknown(%b) : (memref<4xf32>) -> ()
  // expected-error @+1 {{buffer in flight, expected no operation of unknown effects to get it}}
  func.call @unknown(%a) : (memref<4xf32>) -> ()
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// -----

func.func @f4_another_destination(%a: memref<4xf32>, %o: memref<4xf32>, %p: memref<4xf32>) {
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  // expected-error @+2 {{destination 0, expected the buffer of the launch}}
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%a : memref<4xf32>) outs(%p : memref<4xf32>)
  return
}
