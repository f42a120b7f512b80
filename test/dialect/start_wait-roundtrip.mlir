// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @one
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>)
func.func @one(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[T:.*]] = braid.start(%[[X:.*]] = %[[A]]) : tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = braid.all_reduce sum %[[X]] groups = #braid.groups<{{\[\[}}0, 1]]> : tensor<4xf32>
  // CHECK-NEXT: braid.yield %[[R]] : tensor<4xf32>
  // CHECK-NEXT: }
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  // CHECK: braid.wait %[[T]], %[[A]] : (tensor<4xf32>) -> tensor<4xf32>
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  return %w : tensor<4xf32>
}

// CHECK-LABEL: func.func @bucket
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<8xf32>)
func.func @bucket(%a: tensor<4xf32>, %b: tensor<8xf32>) {
  // CHECK: braid.start(%{{.*}} = %[[A]], %{{.*}} = %[[B]]) : tensor<4xf32>, tensor<8xf32> attributes {note = "x"} {
  // CHECK: braid.yield %{{.*}}#0, %{{.*}}#1 : tensor<8xf32>, tensor<16xf32>
  %token = braid.start(%x = %a, %y = %b) : tensor<4xf32>, tensor<8xf32> attributes {note = "x"} {
    %r:2 = braid.all_gather %x, %y dims = [0, 0] groups = #braid.groups<[[0, 1]]>
      : (tensor<4xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<16xf32>)
    braid.yield %r#0, %r#1 : tensor<8xf32>, tensor<16xf32>
  }
  // CHECK: braid.wait %{{.*}}, %[[A]], %[[B]] {note = "y"} : (tensor<4xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<16xf32>)
  %w:2 = braid.wait %token, %a, %b {note = "y"} : (tensor<4xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<16xf32>)
  return
}

// A token may cross a function; then start and wait don't see each other.
// CHECK-LABEL: func.func @token_argument(%{{.*}}: !braid.token
func.func @token_argument(%token: !braid.token, %a: tensor<4xf32>) -> !braid.token {
  %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
  %next = braid.start(%x = %w) : tensor<4xf32> {
    %r = braid.permute %x pairs = [[0, 1]] : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  return %next : !braid.token
}

// One wait on each path is one wait.
// CHECK-LABEL: func.func @c5_one_wait_on_each_path
func.func @c5_one_wait_on_each_path(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %token = braid.start(%x = %a) : tensor<4xf32> {
    %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  // CHECK: scf.if
  // CHECK: braid.wait
  // CHECK: else
  // CHECK: braid.wait
  %i = scf.if %c -> tensor<4xf32> {
    %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  } else {
    %w = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
    %s = arith.addf %w, %w : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %i : tensor<4xf32>
}
