// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @send_c1_zero_operands() {
  // expected-error @+1 {{operands, expected at least one, got none}}
  "braid.send"() <{peer = 0 : i64, tag = 0 : i64}> : () -> ()
  return
}

// -----

func.func @send_c3_peer(%a: tensor<4xf32>) {
  // expected-error @+1 {{peer, expected a rank of the program, got -1}}
  braid.send %a peer = -1 tag = 0 : tensor<4xf32>
  return
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @send_c3_peer_beyond(%a: tensor<4xf32>) {
    // expected-error @+1 {{peer, expected a rank of the program, from 0 to 1, got 2}}
    braid.send %a peer = 2 tag = 0 : tensor<4xf32>
    return
  }
}

// -----

func.func @send_c3_tag(%a: tensor<4xf32>) {
  // expected-error @+1 {{tag, expected a number that is not negative, got -1}}
  braid.send %a peer = 0 tag = -1 : tensor<4xf32>
  return
}

// -----

func.func @recv_c1_zero_results() {
  // expected-error @+1 {{results, expected at least one, got none}}
  "braid.recv"() <{peer = 0 : i64, tag = 0 : i64}> : () -> ()
  return
}

// -----

func.func @recv_c3_peer() {
  // expected-error @+1 {{peer, expected a rank of the program, got -2}}
  %r = braid.recv peer = -2 tag = 0 : tensor<4xf32>
  return
}

// -----

func.func @recv_c6_dynamic() {
  // expected-error @+1 {{result 0, expected a static shape, got 'tensor<?xf32>'}}
  %r = braid.recv peer = 0 tag = 0 : tensor<?xf32>
  return
}

// -----

func.func @barrier_c2_id_missing() {
  // expected-error @+1 {{groups, expected ids from 0 to 1, got 2}}
  braid.barrier groups = #braid.groups<[[0, 2]]>
  return
}
