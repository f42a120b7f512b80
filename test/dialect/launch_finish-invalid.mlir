// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @unknown_collective(%a: memref<4xf32>) {
  // expected-error @+1 {{collective, expected the name of one, got all_sum}}
  %t = braid.launch all_sum outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>}
  return
}

// -----

func.func @launch_c1_all_gather_without_inputs(%a: memref<4xf32>) {
  // expected-error @+1 {{operands, expected what 'all_gather' takes, got 0 inputs and 1 destinations}}
  %t = braid.launch all_gather outs(%a : memref<4xf32>) {dims = array<i64: 0>, groups = #braid.groups<[[0, 1]]>}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func @launch_c1_send_with_destination(%a: memref<4xf32>) {
  // expected-error @+1 {{operands, expected what 'send' takes, got 1 inputs and 1 destinations}}
  %t = braid.launch send ins(%a : memref<4xf32>) outs(%a : memref<4xf32>) {peer = 0 : i64, tag = 0 : i64}
  braid.finish %t ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
  return
}

// -----

func.func @launch_c2_mixed(%a: tensor<4xf32>, %o: memref<4xf32>) {
  // expected-error @+1 {{operands, expected all tensors or all buffers, got 'tensor<4xf32>' and 'memref<4xf32>'}}
  %t = braid.launch all_reduce ins(%a : tensor<4xf32>) outs(%o : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  return
}

// -----

func.func @launch_c2_result_missing(%a: tensor<4xf32>) {
  // expected-error @+1 {{results, expected one for each of 1 destinations that are tensors, got 0}}
  %t = braid.launch all_reduce outs(%a : tensor<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>}
  return
}

// -----

func.func @launch_c2_result_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{result 0, expected the type of its destination, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %t, %f = braid.launch all_reduce outs(%a : tensor<4xf32>) {groups = #braid.groups<[[0, 1]]>, reduction = #braid<reduction sum>} -> tensor<5xf32>
  return
}

// -----

func.func @launch_c3_no_reduction(%a: memref<4xf32>) {
  // expected-error @+1 {{attribute 'reduction', expected as 'all_reduce' needs it, got none that fits}}
  %t = braid.launch all_reduce outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>}
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func @launch_c3_too_few_dims(%a: memref<4xf32>, %o: memref<8xf32>) {
  // expected-error @+1 {{attribute 'dims', expected as 'all_gather' needs it, got none that fits}}
  %t = braid.launch all_gather ins(%a : memref<4xf32>) outs(%o : memref<8xf32>) {dims = array<i64>, groups = #braid.groups<[[0, 1]]>}
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<8xf32>)
  return
}

// -----

func.func @launch_c4_sizes(%a: memref<4xf32>, %o: memref<6xf32>) {
  // expected-error @+1 {{destination 0, expected element type and sizes of 'all_gather' for 'memref<4xf32>', got 'memref<6xf32>'}}
  %t = braid.launch all_gather ins(%a : memref<4xf32>) outs(%o : memref<6xf32>) {dims = array<i64: 0>, groups = #braid.groups<[[0, 1]]>}
  braid.finish %t ins(%a : memref<4xf32>) outs(%o : memref<6xf32>)
  return
}

// -----

func.func @launch_c5_never_finished(%a: memref<4xf32>) {
  // expected-error @+1 {{token, expected one finish, got none}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  return
}

// -----

func.func @launch_c5_finished_twice(%a: memref<4xf32>) {
  // expected-error @+1 {{token, expected one finish, got two on one path}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  // expected-note @+1 {{another finish is here}}
  braid.finish %t outs(%a : memref<4xf32>)
  braid.finish %t outs(%a : memref<4xf32>)
  return
}

// -----

func.func @launch_c5_finished_in_a_loop(%a: memref<4xf32>, %n: index) {
  // expected-error @+1 {{token, expected one finish, got one in a loop that does not hold the launch}}
  %t = braid.launch broadcast outs(%a : memref<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64}
  scf.for %i = %n to %n step %n {
    // expected-note @+1 {{the finish is here}}
    braid.finish %t outs(%a : memref<4xf32>)
  }
  return
}

// -----

func.func @finish_c1_other_inputs(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-note @+1 {{the launch is here}}
  %t, %f = braid.launch broadcast ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64} -> tensor<4xf32>
  // expected-error @+1 {{inputs, expected those of the launch in order}}
  %r = braid.finish %t ins(%b : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @finish_c2_not_in_flight(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-note @+1 {{the launch is here}}
  %t, %f = braid.launch broadcast ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {groups = #braid.groups<[[0, 1]]>, root = 0 : i64} -> tensor<4xf32>
  // expected-error @+1 {{destinations, expected those of the launch in order}}
  %r = braid.finish %t ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return
}
