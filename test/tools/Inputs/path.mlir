// One all_reduce whose plan asks for two connections.
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%a: tensor<1000xf32> {braid.data = "ones"}) -> tensor<1000xf32> {
    %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {plan = #braid.plan<engine = braid, algorithm = "ring", channels = 2, path = "x2">} : tensor<1000xf32>
    return %0 : tensor<1000xf32>
  }
}
