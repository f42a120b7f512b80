// A function that main does not reach communicates, too: it is no part of the step.
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<1024xf32>) -> tensor<1024xf32> {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<1024xf32>
    return %0 : tensor<1024xf32>
  }
  func.func private @left_over(%a: tensor<4096xf32>) -> tensor<4096xf32> {
    %0 = braid.all_reduce max %a groups = #braid.groups<[]> : tensor<4096xf32>
    return %0 : tensor<4096xf32>
  }
}
