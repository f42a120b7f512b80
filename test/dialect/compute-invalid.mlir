// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @compute_c1_no_unit() {
  // expected-error @+1 {{duration, expected a number that is not negative and one of ns, us, ms, s, as in "3.2 us", got "3.2"}}
  braid.compute "softmax" for "3.2"
  return
}

// -----

func.func @compute_c1_unknown_unit() {
  // expected-error @+1 {{got "3 min"}}
  braid.compute "softmax" for "3 min"
  return
}

// -----

func.func @compute_c1_negative() {
  // expected-error @+1 {{got "-1 us"}}
  braid.compute "softmax" for "-1 us"
  return
}

// -----

func.func @compute_c1_not_a_number() {
  // expected-error @+1 {{got "nan us"}}
  braid.compute "softmax" for "nan us"
  return
}

// -----

func.func @compute_c2_mixed(%a: memref<4xf32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{operands, expected all tensors or all buffers, got 'memref<4xf32>' and 'tensor<4xf32>'}}
  %r = braid.compute "mixed" for "1 us" ins(%a : memref<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @compute_c2_no_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected}}
  braid.compute "no result" for "1 us" outs(%x : tensor<4xf32>)
  return
}

// -----

func.func @compute_c2_other_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected}}
  %r = braid.compute "other type" for "1 us" outs(%x : tensor<4xf32>) -> tensor<5xf32>
  return
}
