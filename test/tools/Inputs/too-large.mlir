func.func @no_memory(%a: tensor<100000000000000xf32>) -> tensor<100000000000000xf32> {
  %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<100000000000000xf32>
  return %r : tensor<100000000000000xf32>
}
func.func @overflow(%a: tensor<4611686018427387904x8xi8>) -> tensor<4611686018427387904x8xi8> {
  return %a : tensor<4611686018427387904x8xi8>
}
