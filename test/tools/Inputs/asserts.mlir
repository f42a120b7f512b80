func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %value = tensor.extract %x[] : tensor<i32>
  %positive = arith.cmpi sgt, %value, %zero : i32
  cf.assert %positive, "expected a positive number"
  %result = tensor.from_elements %value : tensor<i32>
  return %result : tensor<i32>
}
