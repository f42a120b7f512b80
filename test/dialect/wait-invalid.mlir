// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c1_zero_operands(%token: !braid.token) {
  // expected-error @+1 {{operands, expected at least one beside the token, got none}}
  "braid.wait"(%token) : (!braid.token) -> ()
  return
}

// -----

func.func @c2_other_operands(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-note @+1 {{the start is here}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  // expected-error @+1 {{operands, expected those of the start in order}}
  %w = braid.wait %token, %b : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c2_order(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-note @+1 {{the start is here}}
  %token = braid.start(%x = %a, %y = %b) : tensor<4xf32>, tensor<4xf32> {
    %r:2 = braid.all_reduce sum %x, %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>, tensor<4xf32>
    braid.yield %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
  }
  // expected-error @+1 {{operands, expected those of the start in order}}
  %w:2 = braid.wait %token, %b, %a : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @c3_result_types(%a: tensor<4xf32>) {
  // expected-note @+1 {{the start is here}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_gather %x dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
    braid.yield %r : tensor<8xf32>
  }
  // expected-error @+1 {{results, expected the types of the collective's results: 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @token_needed(%a: tensor<4xf32>) {
  // expected-error @+2 {{use of value '%a' expects different type than prior uses: '!braid.token' vs 'tensor<4xf32>'}}
  // expected-note @-2 {{prior use here}}
  %w = braid.wait %a, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}
