// Stock passes leave rooted collectives, messages and barriers where they are; single ranks fold, messages do not.
// RUN: braid-opt %s --cse --canonicalize --control-flow-sink --loop-invariant-code-motion | FileCheck %s

#pairs = #braid.groups<[[0, 1]]>
#alone = #braid.groups<[[0], [1]]>

// CHECK-LABEL: func.func @kept
func.func @kept(%a: tensor<4xf32>, %i: tensor<4xf32>, %g: tensor<8xf32>, %c: i1) -> tensor<4xf32> {
  // CHECK-COUNT-2: braid.reduce
  %r = braid.reduce sum %a init %i root = 0 groups = #pairs : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = braid.reduce sum %a init %i root = 0 groups = #pairs : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: braid.gather
  %all = braid.gather %a init %g dims = [0] root = 0 groups = #pairs : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: braid.scatter
  %part = braid.scatter %g dims = [0] root = 0 groups = #pairs : (tensor<8xf32>) -> tensor<4xf32>
  // CHECK: braid.barrier
  // CHECK: braid.barrier
  braid.barrier groups = #pairs
  braid.barrier groups = #pairs
  // CHECK: braid.recv
  %got = braid.recv peer = 0 tag = 0 : tensor<4xf32>
  // CHECK: braid.send
  braid.send %a peer = 0 tag = 0 : tensor<4xf32>
  // CHECK: scf.if
  // CHECK-NOT: braid.scatter
  scf.if %c {
    func.call @use(%part) : (tensor<4xf32>) -> ()
  }
  // CHECK: return
  return %r : tensor<4xf32>
}
func.func private @use(tensor<4xf32>)

// CHECK-LABEL: func.func @alone
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xf32>)
func.func @alone(%a: tensor<4xf32>, %i: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NOT: braid.
  %r = braid.reduce sum %a init %i root = 0 groups = #alone : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = braid.gather %a init %i dims = [0] root = 0 groups = #alone : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = braid.scatter %a dims = [0] root = 0 groups = #alone : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: return %[[A]], %[[A]], %[[A]]
  return %r, %g, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A reduce in flight that nobody takes part in is its operand, not its init.
// CHECK-LABEL: func.func @alone_in_flight
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xf32>)
func.func @alone_in_flight(%a: tensor<4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %t = braid.start(%x = %a, %y = %i) : tensor<4xf32>, tensor<4xf32> {
    %r = braid.reduce sum %x init %y root = 0 groups = #alone : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    braid.yield %r : tensor<4xf32>
  }
  %w = braid.wait %t, %a, %i : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NOT: braid.
  // CHECK: return %[[A]]
  return %w : tensor<4xf32>
}
