// RUN: braid-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{plan, expected the name of an algorithm, got an empty string}}
#c1_no_algorithm = #braid.plan<engine = nccl, algorithm = "">

// -----

// expected-error @+1 {{plan, expected channels and chunks that are not negative, got -1 and 0}}
#c2_negative_channels = #braid.plan<engine = nccl, algorithm = "ring", channels = -1>

// -----

// expected-error @+2 {{expected ::mlir::braid::EngineKind to be one of: braid, nccl, mpi, xla}}
// expected-error @+1 {{failed to parse Braid_PlanAttr parameter 'engine'}}
#parse_engine = #braid.plan<engine = gloo, algorithm = "ring">

// -----

// expected-error @+1 {{struct is missing required parameter: algorithm}}
#parse_missing = #braid.plan<engine = nccl>

// -----

func.func @plan_of_another_kind(%a: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'plan' failed to satisfy constraint: how a collective will be run}}
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {plan = "ring"} : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{attribute 'braid.cluster', expected the path of a cluster file as a string, got 1 : i64}}
module attributes {braid.cluster = 1} {}

// -----

// expected-error @+1 {{attribute 'braid.size_hint', expected on a collective}}
module attributes {braid.size_hint = array<i64: 1>} {}
