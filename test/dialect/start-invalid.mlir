// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @c1_zero_operands(%a: tensor<4xf32>) {
  // expected-error @+1 {{operands, expected at least one, got none}}
  %token = braid.start() {
    braid.yield
  }
  return
}

// -----

func.func @c1_no_block_argument(%a: tensor<4xf32>) {
  // expected-error @+1 {{block arguments, expected one for each of 1 operands, got 0}}
  %token = "braid.start"(%a) ({
    "braid.yield"() : () -> ()
  }) : (tensor<4xf32>) -> !braid.token
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c1_type_of_block_argument(%a: tensor<4xf32>) {
  // expected-error @+1 {{block argument 0, expected the operand's type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %token = "braid.start"(%a) ({
  ^bb0(%x: tensor<8xf32>):
    "braid.yield"(%x) : (tensor<8xf32>) -> ()
  }) : (tensor<4xf32>) -> !braid.token
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c2_no_collective(%a: tensor<4xf32>) {
  // expected-error @+1 {{body, expected one collective and a yield, got no collective}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    braid.yield %x : tensor<4xf32>
  }
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c2_two_collectives(%a: tensor<4xf32>) {
  // expected-error @+1 {{body, expected one collective and a yield, got another collective}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    // expected-note @+1 {{see braid.permute}}
    %p = braid.permute %r pairs = [[0, 1]] : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c2_computation(%a: tensor<4xf32>) {
  // expected-error @+1 {{body, expected one collective and a yield, got another operation}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    // expected-note @+1 {{see arith.addf}}
    %s = arith.addf %r, %r : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c2_no_yield(%a: tensor<4xf32>) {
  %token = "braid.start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    // expected-error @+1 {{block with no terminator}}
    %r = "braid.permute"(%x) <{pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  }) : (tensor<4xf32>) -> !braid.token
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c3_order_of_operands(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{collective's operands, expected the block arguments in order}}
  %token = braid.start(%x = %a, %y = %b) : tensor<4xf32>, tensor<4xf32> {
    // expected-note @+1 {{the collective is here}}
    %r:2 = braid.all_reduce sum %y, %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>, tensor<4xf32>
    braid.yield %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
  }
  %w:2 = braid.wait %token, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @c4_order_of_results(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{yielded values, expected all results of the collective in order}}
  %token = braid.start(%x = %a, %y = %b) : tensor<4xf32>, tensor<4xf32> {
    %r:2 = braid.all_reduce sum %x, %y groups = #braid.groups<[[0, 1]]> : tensor<4xf32>, tensor<4xf32>
    // expected-note @+1 {{the yield is here}}
    braid.yield %r#1, %r#0 : tensor<4xf32>, tensor<4xf32>
  }
  %w:2 = braid.wait %token, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @c4_yields_its_argument(%a: tensor<4xf32>) {
  // expected-error @+1 {{yielded values, expected all results of the collective in order}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    // expected-note @+1 {{the yield is here}}
    braid.yield %x : tensor<4xf32>
  }
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c5_never_waited(%a: tensor<4xf32>) {
  // expected-error @+1 {{token, expected one wait, got none}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  return
}

// -----

func.func @c5_waited_twice(%a: tensor<4xf32>) {
  // expected-error @+1 {{token, expected one wait, got two on one path}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  // expected-note @+1 {{wait is here}}
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{wait is here}}
  %w2 = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c5_waited_again_in_a_branch(%a: tensor<4xf32>, %c: i1) {
  // expected-error @+1 {{token, expected one wait, got two on one path}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  // expected-note @+1 {{one wait is here}}
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  scf.if %c {
    // expected-note @+1 {{another wait is here}}
    %w2 = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  }
  return
}

// -----

func.func @c5_waited_in_a_loop(%a: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{token, expected one wait, got one in a loop that does not hold the start}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    // expected-note @+1 {{the wait is here}}
    %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  }
  return
}

// -----

func.func @isolated(%a: tensor<4xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %token = braid.start(%x = %a) : tensor<4xf32> {
    // expected-error @+1 {{using value defined outside the region}}
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @parse_types_missing(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected ':'}}
  %token = braid.start(%x = %a) {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  return
}

// -----

func.func @yield_outside(%a: tensor<4xf32>) {
  // expected-error @+1 {{'braid.yield' op expects parent op 'braid.start'}}
  "braid.yield"(%a) : (tensor<4xf32>) -> ()
  return
}
