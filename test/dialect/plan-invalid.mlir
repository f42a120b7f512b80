// RUN: braid-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{plan, expected the name of an algorithm, got an empty string}}
#c1_no_algorithm = #braid.plan<engine = nccl, algorithm = "">

// -----

// expected-error @+1 {{plan, expected channels and chunks that are not negative, got -1 and 0}}
#c2_negative_channels = #braid.plan<engine = nccl, algorithm = "ring", channels = -1>

// -----

// expected-error @+1 {{plan, expected a path like x4 (1 to 64 connections) or to4791;0-1:50003.50007;1-0:50001 (flows between two ranks, each once, and their source ports), got 'x65'}}
#c3_connections = #braid.plan<engine = braid, algorithm = "ring", path = "x65">

// -----

// expected-error @+1 {{plan, expected a path like x4 (1 to 64 connections) or to4791;0-1:50003.50007;1-0:50001 (flows between two ranks, each once, and their source ports), got 'to4791'}}
#c3_no_flow = #braid.plan<engine = braid, algorithm = "ring", path = "to4791">

// -----

// expected-error @+1 {{plan, expected a path like x4 (1 to 64 connections) or to4791;0-1:50003.50007;1-0:50001 (flows between two ranks, each once, and their source ports), got '0-1:65536'}}
#c3_port = #braid.plan<engine = braid, algorithm = "ring", path = "0-1:65536">

// -----

// expected-error @+1 {{plan, expected a path like x4 (1 to 64 connections) or to4791;0-1:50003.50007;1-0:50001 (flows between two ranks, each once, and their source ports), got '0-0:5'}}
#c3_itself = #braid.plan<engine = braid, algorithm = "ring", path = "0-0:5">

// -----

// expected-error @+1 {{plan, expected a path like x4 (1 to 64 connections) or to4791;0-1:50003.50007;1-0:50001 (flows between two ranks, each once, and their source ports), got '0-1:5;0-1:6'}}
#c3_twice = #braid.plan<engine = braid, algorithm = "ring", path = "0-1:5;0-1:6">

// -----

// expected-error @+1 {{plan, expected a path like x4 (1 to 64 connections) or to4791;0-1:50003.50007;1-0:50001 (flows between two ranks, each once, and their source ports), got '0-1:'}}
#c3_word = #braid.plan<engine = braid, algorithm = "ring", path = "0-1:">

// -----

// expected-error @+1 {{plan, expected a path like x4 (1 to 64 connections) or to4791;0-1:50003.50007;1-0:50001 (flows between two ranks, each once, and their source ports), got '0-1:a/5'}}
#c3_rail = #braid.plan<engine = braid, algorithm = "ring", path = "0-1:a/5">

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
