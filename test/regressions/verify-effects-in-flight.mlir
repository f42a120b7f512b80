// The verifier of plans looks into calls, branches and composites: effects and communication there are as much in flight as
// in the open.
//
// RUN: braid-opt %s --split-input-file --braid-verify-plan --verify-diagnostics

#plan = #braid.plan<engine = nccl, algorithm = "ring">
func.func private @ext(tensor<256xf32>) -> tensor<256xf32>
func.func @main(%a: tensor<256xf32>) -> (tensor<256xf32>, tensor<256xf32>) {
  // expected-note @+1 {{which started here}}
  %t = braid.start(%x = %a) : tensor<256xf32> {
    %s = braid.all_reduce sum %x groups = #braid.iota<[1, 8] from [8]> {plan = #plan} : tensor<256xf32>
    braid.yield %s : tensor<256xf32>
  }
  // expected-error @+1 {{plan rule V4: in flight here, expected nothing, since it has effects or is not known}}
  %e = call @ext(%a) : (tensor<256xf32>) -> tensor<256xf32>
  %r = braid.wait %t, %a : (tensor<256xf32>) -> tensor<256xf32>
  return %r, %e : tensor<256xf32>, tensor<256xf32>
}

// -----

#plan = #braid.plan<engine = nccl, algorithm = "ring">
func.func @main(%a: tensor<256xf32>, %p: tensor<i1>) -> (tensor<256xf32>, tensor<256xf32>) {
  // expected-note @+1 {{which started here}}
  %t = braid.start(%x = %a) : tensor<256xf32> {
    %s = braid.all_reduce sum %x groups = #braid.iota<[1, 8] from [8]> {plan = #plan} : tensor<256xf32>
    braid.yield %s : tensor<256xf32>
  }
  // expected-error @+1 {{plan rule V4: in flight here, expected nothing, since it has effects or is not known}}
  %e = "stablehlo.if"(%p) ({
    %x = "stablehlo.custom_call"(%a) <{call_target_name = "print", has_side_effect = true}> : (tensor<256xf32>) -> tensor<256xf32>
    "stablehlo.return"(%x) : (tensor<256xf32>) -> ()
  }, {"stablehlo.return"(%a) : (tensor<256xf32>) -> ()}) : (tensor<i1>) -> tensor<256xf32>
  %r = braid.wait %t, %a : (tensor<256xf32>) -> tensor<256xf32>
  return %r, %e : tensor<256xf32>, tensor<256xf32>
}

// -----

#plan = #braid.plan<engine = nccl, algorithm = "ring">
func.func private @eff(%a: tensor<256xf32>) -> tensor<256xf32> {
  %x = "stablehlo.custom_call"(%a) <{call_target_name = "print", has_side_effect = true}> : (tensor<256xf32>) -> tensor<256xf32>
  return %x : tensor<256xf32>
}
func.func @main(%a: tensor<256xf32>) -> (tensor<256xf32>, tensor<256xf32>) {
  // expected-note @+1 {{which started here}}
  %t = braid.start(%x = %a) : tensor<256xf32> {
    %s = braid.all_reduce sum %x groups = #braid.iota<[1, 8] from [8]> {plan = #plan} : tensor<256xf32>
    braid.yield %s : tensor<256xf32>
  }
  // expected-error @+1 {{plan rule V4: in flight here, expected nothing, since it has effects or is not known}}
  %e = call @eff(%a) : (tensor<256xf32>) -> tensor<256xf32>
  %r = braid.wait %t, %a : (tensor<256xf32>) -> tensor<256xf32>
  return %r, %e : tensor<256xf32>, tensor<256xf32>
}

// -----

#plan = #braid.plan<engine = nccl, algorithm = "ring">
func.func private @leaf(%a: tensor<256xf32>) -> tensor<256xf32> {
  %x = braid.all_reduce sum %a groups = #braid.iota<[1, 8] from [8]> : tensor<256xf32>
  return %x : tensor<256xf32>
}
func.func @main(%a: tensor<256xf32>) -> (tensor<256xf32>, tensor<256xf32>) {
  // expected-note @+1 {{which started here}}
  %t = braid.start(%x = %a) : tensor<256xf32> {
    %s = braid.all_reduce sum %x groups = #braid.iota<[1, 8] from [8]> {plan = #plan} : tensor<256xf32>
    braid.yield %s : tensor<256xf32>
  }
  // expected-error @+1 {{plan rule V4: in flight here, expected nothing, since it communicates}}
  %e = "stablehlo.composite"(%a) <{decomposition = @leaf, name = "x.y"}> : (tensor<256xf32>) -> tensor<256xf32>
  %r = braid.wait %t, %a : (tensor<256xf32>) -> tensor<256xf32>
  return %r, %e : tensor<256xf32>, tensor<256xf32>
}
