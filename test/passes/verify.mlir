// Each planted fault is found by the rule that names it; the first module has none.
//
// RUN: braid-opt %s -split-input-file -verify-diagnostics --braid-verify-plan

// In flight together: groups that share one rank only, and one communicator in order.
module @good attributes {braid.certificate = {cluster_hash = "c0ffee", in_flight = 2 : i64}, mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %t = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1], [2, 3]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "d3faf8a97d0d0df9">} : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    %u = braid.start(%x = %b) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 2], [1, 3]]> : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    %v = braid.start(%x = %b) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    %0 = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
    %1 = braid.wait %u, %b : (tensor<4xf32>) -> tensor<4xf32>
    %2 = braid.wait %v, %b : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// The plan was made for another size.
module @v1 attributes {braid.certificate = {cluster_hash = "c0ffee"}, mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{plan rule V1: the plan is stale, it was made for other bytes, types or groups, or another cluster; plan again (braid-plan); expected fingerprint}}
    %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1], [2, 3]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "d3faf8a97d0d0df9">} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// The wait is on one path only.
module @v2 attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%a: tensor<4xf32>, %p: i1) {
    // expected-error @below {{plan rule V2: the token, expected one braid.wait in the same block, got another use}}
    // expected-note @below {{which started here}}
    %t = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    // expected-error @below {{plan rule V4: in flight here, expected nothing, since it communicates, got a collective}}
    scf.if %p {
      %0 = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
    }
    return
  }
}

// -----

module @v3 attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-note @below {{the other one started here}}
    %t = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1], [2, 3]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    // expected-error @below {{plan rule V3: collectives of different groups in flight together, expected at most one rank in common, got two or more}}
    %0 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>
    %1 = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// One more than the plan was made for.
module @v3_cap attributes {braid.certificate = {in_flight = 1 : i64}, mhlo.num_partitions = 2 : i32} {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %t = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    // expected-error @below {{plan rule V3: collectives in flight on one communicator, expected at most 1, got 2}}
    %0 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    %1 = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module @v4 attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @below {{which started here}}
    %t = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    // expected-error @below {{plan rule V4: in flight here, expected nothing, since it has effects or is not known, got a collective}}
    "stablehlo.custom_call"() <{call_target_name = "print", has_side_effect = true}> : () -> ()
    %1 = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

module @v4_call attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-note @below {{which started here}}
    %t = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> {plan = #braid.plan<engine = nccl, algorithm = "ring", fingerprint = "0">} : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    // expected-error @below {{plan rule V4: in flight here, expected nothing, since it communicates, got a collective}}
    %0 = func.call @layer(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = braid.wait %t, %a : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @layer(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error @below {{plan rule V5: order of collectives, expected hash 0 (braid.certificate), got}}
module @v5 attributes {braid.certificate = {order = "0"}, mhlo.num_partitions = 2 : i32} {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
