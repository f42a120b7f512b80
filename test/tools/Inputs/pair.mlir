func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %y = braid.permute %x pairs = [[0, 1]] : tensor<4xi32>
  return %y : tensor<4xi32>
}
