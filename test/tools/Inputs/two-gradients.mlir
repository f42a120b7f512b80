// Two layers of 16 MiB: held as written 82 MiB, with an all_reduce beside the update of the other layer 98 MiB.
func.func @main(%w1: tensor<1024x4096xf32>, %w2: tensor<4096x1024xf32>, %x: tensor<512x1024xf32>)
    -> (tensor<1024x4096xf32>, tensor<4096x1024xf32>) {
  %h = "stablehlo.dot_general"(%x, %w1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<512x1024xf32>, tensor<1024x4096xf32>) -> tensor<512x4096xf32>
  %y = "stablehlo.dot_general"(%h, %w2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<512x4096xf32>, tensor<4096x1024xf32>) -> tensor<512x1024xf32>
  %g2 = "stablehlo.dot_general"(%h, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<512x4096xf32>, tensor<512x1024xf32>) -> tensor<4096x1024xf32>
  %r2 = braid.all_reduce sum %g2 groups = #braid.iota<[1, 8] from [8]> : tensor<4096x1024xf32>
  %e = "stablehlo.dot_general"(%y, %w2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<512x1024xf32>, tensor<4096x1024xf32>) -> tensor<512x4096xf32>
  %g1 = "stablehlo.dot_general"(%x, %e) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<512x1024xf32>, tensor<512x4096xf32>) -> tensor<1024x4096xf32>
  %r1 = braid.all_reduce sum %g1 groups = #braid.iota<[1, 8] from [8]> : tensor<1024x4096xf32>
  %n1 = "stablehlo.subtract"(%w1, %r1) : (tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %n2 = "stablehlo.subtract"(%w2, %r2) : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %n1, %n2 : tensor<1024x4096xf32>, tensor<4096x1024xf32>
}
