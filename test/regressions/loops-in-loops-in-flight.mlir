// Loops in loops are followed in few trips, however deep they are: two trips of each loop in every trip of the one around it were
// hours here.
// RUN: timeout 60 braid-opt %s --braid-verify-in-flight -split-input-file -verify-diagnostics

func.func @ok_deep(%x0: memref<4xi32>, %n: index) -> memref<4xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r0 = scf.for %i0 = %zero to %n step %one iter_args(%x1 = %x0) -> (memref<4xi32>) {
  %r1 = scf.for %i1 = %zero to %n step %one iter_args(%x2 = %x1) -> (memref<4xi32>) {
  %r2 = scf.for %i2 = %zero to %n step %one iter_args(%x3 = %x2) -> (memref<4xi32>) {
  %r3 = scf.for %i3 = %zero to %n step %one iter_args(%x4 = %x3) -> (memref<4xi32>) {
  %r4 = scf.for %i4 = %zero to %n step %one iter_args(%x5 = %x4) -> (memref<4xi32>) {
  %r5 = scf.for %i5 = %zero to %n step %one iter_args(%x6 = %x5) -> (memref<4xi32>) {
  %r6 = scf.for %i6 = %zero to %n step %one iter_args(%x7 = %x6) -> (memref<4xi32>) {
  %r7 = scf.for %i7 = %zero to %n step %one iter_args(%x8 = %x7) -> (memref<4xi32>) {
  %r8 = scf.for %i8 = %zero to %n step %one iter_args(%x9 = %x8) -> (memref<4xi32>) {
  %r9 = scf.for %i9 = %zero to %n step %one iter_args(%x10 = %x9) -> (memref<4xi32>) {
  %r10 = scf.for %i10 = %zero to %n step %one iter_args(%x11 = %x10) -> (memref<4xi32>) {
  %r11 = scf.for %i11 = %zero to %n step %one iter_args(%x12 = %x11) -> (memref<4xi32>) {
  %r12 = scf.for %i12 = %zero to %n step %one iter_args(%x13 = %x12) -> (memref<4xi32>) {
  %r13 = scf.for %i13 = %zero to %n step %one iter_args(%x14 = %x13) -> (memref<4xi32>) {
  %r14 = scf.for %i14 = %zero to %n step %one iter_args(%x15 = %x14) -> (memref<4xi32>) {
  %r15 = scf.for %i15 = %zero to %n step %one iter_args(%x16 = %x15) -> (memref<4xi32>) {
  %r16 = scf.for %i16 = %zero to %n step %one iter_args(%x17 = %x16) -> (memref<4xi32>) {
  %r17 = scf.for %i17 = %zero to %n step %one iter_args(%x18 = %x17) -> (memref<4xi32>) {
  %r18 = scf.for %i18 = %zero to %n step %one iter_args(%x19 = %x18) -> (memref<4xi32>) {
  %r19 = scf.for %i19 = %zero to %n step %one iter_args(%x20 = %x19) -> (memref<4xi32>) {
  %r20 = scf.for %i20 = %zero to %n step %one iter_args(%x21 = %x20) -> (memref<4xi32>) {
  %r21 = scf.for %i21 = %zero to %n step %one iter_args(%x22 = %x21) -> (memref<4xi32>) {
  %r22 = scf.for %i22 = %zero to %n step %one iter_args(%x23 = %x22) -> (memref<4xi32>) {
  %r23 = scf.for %i23 = %zero to %n step %one iter_args(%x24 = %x23) -> (memref<4xi32>) {
  %y = memref.alloc() : memref<4xi32>
  %t = braid.launch all_reduce ins(%x24 : memref<4xi32>) outs(%y : memref<4xi32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  braid.finish %t ins(%x24 : memref<4xi32>) outs(%y : memref<4xi32>)
  scf.yield %y : memref<4xi32> } scf.yield %r23 : memref<4xi32> } scf.yield %r22 : memref<4xi32> }
  scf.yield %r21 : memref<4xi32> } scf.yield %r20 : memref<4xi32> } scf.yield %r19 : memref<4xi32> }
  scf.yield %r18 : memref<4xi32> } scf.yield %r17 : memref<4xi32> } scf.yield %r16 : memref<4xi32> }
  scf.yield %r15 : memref<4xi32> } scf.yield %r14 : memref<4xi32> } scf.yield %r13 : memref<4xi32> }
  scf.yield %r12 : memref<4xi32> } scf.yield %r11 : memref<4xi32> } scf.yield %r10 : memref<4xi32> }
  scf.yield %r9 : memref<4xi32> } scf.yield %r8 : memref<4xi32> } scf.yield %r7 : memref<4xi32> }
  scf.yield %r6 : memref<4xi32> } scf.yield %r5 : memref<4xi32> } scf.yield %r4 : memref<4xi32> }
  scf.yield %r3 : memref<4xi32> } scf.yield %r2 : memref<4xi32> } scf.yield %r1 : memref<4xi32> }
  return %r0 : memref<4xi32>
}

// -----

// What goes wrong inside is still found.
func.func @deep(%x0: memref<4xi32>, %n: index) -> memref<4xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r0 = scf.for %i0 = %zero to %n step %one iter_args(%x1 = %x0) -> (memref<4xi32>) {
  %r1 = scf.for %i1 = %zero to %n step %one iter_args(%x2 = %x1) -> (memref<4xi32>) {
  %r2 = scf.for %i2 = %zero to %n step %one iter_args(%x3 = %x2) -> (memref<4xi32>) {
  %r3 = scf.for %i3 = %zero to %n step %one iter_args(%x4 = %x3) -> (memref<4xi32>) {
  %r4 = scf.for %i4 = %zero to %n step %one iter_args(%x5 = %x4) -> (memref<4xi32>) {
  %r5 = scf.for %i5 = %zero to %n step %one iter_args(%x6 = %x5) -> (memref<4xi32>) {
  %r6 = scf.for %i6 = %zero to %n step %one iter_args(%x7 = %x6) -> (memref<4xi32>) {
  %r7 = scf.for %i7 = %zero to %n step %one iter_args(%x8 = %x7) -> (memref<4xi32>) {
  %r8 = scf.for %i8 = %zero to %n step %one iter_args(%x9 = %x8) -> (memref<4xi32>) {
  %r9 = scf.for %i9 = %zero to %n step %one iter_args(%x10 = %x9) -> (memref<4xi32>) {
  %r10 = scf.for %i10 = %zero to %n step %one iter_args(%x11 = %x10) -> (memref<4xi32>) {
  %r11 = scf.for %i11 = %zero to %n step %one iter_args(%x12 = %x11) -> (memref<4xi32>) {
  %r12 = scf.for %i12 = %zero to %n step %one iter_args(%x13 = %x12) -> (memref<4xi32>) {
  %r13 = scf.for %i13 = %zero to %n step %one iter_args(%x14 = %x13) -> (memref<4xi32>) {
  %r14 = scf.for %i14 = %zero to %n step %one iter_args(%x15 = %x14) -> (memref<4xi32>) {
  %r15 = scf.for %i15 = %zero to %n step %one iter_args(%x16 = %x15) -> (memref<4xi32>) {
  %r16 = scf.for %i16 = %zero to %n step %one iter_args(%x17 = %x16) -> (memref<4xi32>) {
  %r17 = scf.for %i17 = %zero to %n step %one iter_args(%x18 = %x17) -> (memref<4xi32>) {
  %r18 = scf.for %i18 = %zero to %n step %one iter_args(%x19 = %x18) -> (memref<4xi32>) {
  %r19 = scf.for %i19 = %zero to %n step %one iter_args(%x20 = %x19) -> (memref<4xi32>) {
  %r20 = scf.for %i20 = %zero to %n step %one iter_args(%x21 = %x20) -> (memref<4xi32>) {
  %r21 = scf.for %i21 = %zero to %n step %one iter_args(%x22 = %x21) -> (memref<4xi32>) {
  %r22 = scf.for %i22 = %zero to %n step %one iter_args(%x23 = %x22) -> (memref<4xi32>) {
  %r23 = scf.for %i23 = %zero to %n step %one iter_args(%x24 = %x23) -> (memref<4xi32>) {
  %y = memref.alloc() : memref<4xi32>
  // expected-note @+1 {{the collective was launched here}}
  %t = braid.launch all_reduce ins(%x24 : memref<4xi32>) outs(%y : memref<4xi32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  %v = arith.constant 1 : i32
  // expected-error @+1 {{buffer in flight, expected nobody to write what the collective reads}}
  memref.store %v, %x24[%zero] : memref<4xi32>
  // expected-note @+1 {{and is finished here}}
  braid.finish %t ins(%x24 : memref<4xi32>) outs(%y : memref<4xi32>)
  scf.yield %y : memref<4xi32> } scf.yield %r23 : memref<4xi32> } scf.yield %r22 : memref<4xi32> }
  scf.yield %r21 : memref<4xi32> } scf.yield %r20 : memref<4xi32> } scf.yield %r19 : memref<4xi32> }
  scf.yield %r18 : memref<4xi32> } scf.yield %r17 : memref<4xi32> } scf.yield %r16 : memref<4xi32> }
  scf.yield %r15 : memref<4xi32> } scf.yield %r14 : memref<4xi32> } scf.yield %r13 : memref<4xi32> }
  scf.yield %r12 : memref<4xi32> } scf.yield %r11 : memref<4xi32> } scf.yield %r10 : memref<4xi32> }
  scf.yield %r9 : memref<4xi32> } scf.yield %r8 : memref<4xi32> } scf.yield %r7 : memref<4xi32> }
  scf.yield %r6 : memref<4xi32> } scf.yield %r5 : memref<4xi32> } scf.yield %r4 : memref<4xi32> }
  scf.yield %r3 : memref<4xi32> } scf.yield %r2 : memref<4xi32> } scf.yield %r1 : memref<4xi32> }
  return %r0 : memref<4xi32>
}
