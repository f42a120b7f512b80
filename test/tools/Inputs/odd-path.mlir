func.func @main(%a: tensor<2xi8> {braid.data = "file:a;b \22c"}) -> tensor<2xi8> {
  return %a : tensor<2xi8>
}
