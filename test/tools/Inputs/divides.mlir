func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %hundred = arith.constant 100 : i32
  %value = tensor.extract %x[] : tensor<i32>
  %quotient = arith.divsi %hundred, %value : i32
  %result = tensor.from_elements %quotient : tensor<i32>
  return %result : tensor<i32>
}
