// RUN: braid-opt %s -split-input-file --braid-split-collectives=pieces=3 | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-split-collectives="pieces=3 larger-than=100000" | FileCheck %s --check-prefix=LARGE
// RUN: braid-opt %s -split-input-file --braid-split-collectives="pieces=3" --remarks-filter=braid-split-collectives 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not braid-opt %s --braid-split-collectives="pieces=1" 2>&1 | FileCheck %s --check-prefix=PIECES
// RUN: not braid-opt %s --braid-split-collectives="larger-than=-1" 2>&1 | FileCheck %s --check-prefix=SIZE

// PIECES: pieces: expected 2 or more, got 1
// SIZE: larger-than: expected 0 or more, got -1
// LARGE-NOT: tensor.concat

// 10 rows in three: 4, 3, 3.
// CHECK-LABEL: func @uneven
// CHECK-DAG: %[[A:.*]] = tensor.extract_slice %arg0[0, 0] [4, 8]
// CHECK-DAG: %[[B:.*]] = tensor.extract_slice %arg0[4, 0] [3, 8]
// CHECK-DAG: %[[C:.*]] = tensor.extract_slice %arg0[7, 0] [3, 8]
// CHECK: %[[RA:.*]] = braid.all_reduce sum %[[A]] groups = #braid.groups<{{\[}}[0, 1]]> : tensor<4x8xf32>
// CHECK: %[[RB:.*]] = braid.all_reduce sum %[[B]]
// CHECK: %[[RC:.*]] = braid.all_reduce sum %[[C]]
// CHECK: tensor.concat dim(0) %[[RA]], %[[RB]], %[[RC]]
// REMARK: remark: [Passed] split | Category:braid-split-collectives | {{.*}}Remark="all_reduce of 320 B cut into 3 along dimension 0"
func.func @uneven(%a: tensor<10x8xf32>) -> tensor<10x8xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<10x8xf32>
  return %0 : tensor<10x8xf32>
}

// -----

// Pieces of an all_gather's operand lie in memory one after another; what was gathered does not.
// CHECK-LABEL: func @gather
// CHECK: tensor.extract_slice %arg0[0] [3] [1]
// CHECK: tensor.expand_shape {{.*}} : tensor<3xi32> into tensor<1x3xi32>
// CHECK: %[[A:.*]] = braid.all_gather {{.*}} dims = [0] {{.*}} -> tensor<4x3xi32>
// CHECK: %[[ALL:.*]] = tensor.concat dim(1) %[[A]]
// CHECK: tensor.collapse_shape %[[ALL]] {{.*}} : tensor<4x8xi32> into tensor<32xi32>
// Along its second dimension rows are cut.
// CHECK: tensor.extract_slice %arg1[0, 0] [2, 6]
// CHECK: braid.all_gather {{.*}} dims = [1] {{.*}} -> tensor<2x24xi32>
// CHECK: tensor.concat dim(0)
func.func @gather(%a: tensor<8xi32>, %b: tensor<4x6xi32>) -> (tensor<32xi32>, tensor<4x24xi32>) {
  %0 = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<8xi32>) -> tensor<32xi32>
  %1 = braid.all_gather %b dims = [1] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<4x6xi32>) -> tensor<4x24xi32>
  return %0, %1 : tensor<32xi32>, tensor<4x24xi32>
}

// -----

// Each rank's block is cut, and what is sent brought into one piece.
// CHECK-LABEL: func @scatter
// CHECK: %[[ROWS:.*]] = tensor.expand_shape %arg0 {{.*}} : tensor<32xi32> into tensor<4x8xi32>
// CHECK: %[[A:.*]] = tensor.extract_slice %[[ROWS]][0, 0] [4, 3]
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[A]]
// CHECK: braid.reduce_scatter sum %[[COPY]] dims = [0] {{.*}} -> tensor<1x3xi32>
// CHECK: tensor.collapse_shape {{.*}} : tensor<1x3xi32> into tensor<3xi32>
// CHECK: tensor.concat dim(0)
// CHECK: tensor.extract_slice %arg1[0, 0] [2, 8]
// CHECK: braid.reduce_scatter sum {{.*}} dims = [1] {{.*}} -> tensor<2x2xi32>
func.func @scatter(%a: tensor<32xi32>, %b: tensor<4x8xi32>) -> (tensor<8xi32>, tensor<4x2xi32>) {
  %0 = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<32xi32>) -> tensor<8xi32>
  %1 = braid.reduce_scatter sum %b dims = [1] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<4x8xi32>) -> tensor<4x2xi32>
  return %0, %1 : tensor<8xi32>, tensor<4x2xi32>
}

// -----

// CHECK-LABEL: func @exchange
// CHECK: braid.all_to_all {{.*}} split = [0] concat = [0] {{.*}} : (tensor<4x3xi32>) -> tensor<4x3xi32>
// CHECK: tensor.concat dim(1)
// CHECK: tensor.collapse_shape {{.*}} : tensor<4x8xi32> into tensor<32xi32>
// Split and concatenated along all that there is: the blocks of the second dimension are cut.
// CHECK: braid.all_to_all {{.*}} split = [0] concat = [1] {{.*}} : (tensor<4x1x2xi32>) -> tensor<1x4x2xi32>
// CHECK: tensor.concat dim(2)
// A third dimension is left.
// CHECK: braid.all_to_all {{.*}} split = [0] concat = [1] {{.*}} : (tensor<4x6x1xi32>) -> tensor<1x24x1xi32>
func.func @exchange(%a: tensor<32xi32>, %b: tensor<4x6xi32>, %c: tensor<4x6x3xi32>) -> (tensor<32xi32>, tensor<1x24xi32>, tensor<1x24x3xi32>) {
  %0 = braid.all_to_all %a split = [0] concat = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<32xi32>) -> tensor<32xi32>
  %1 = braid.all_to_all %b split = [0] concat = [1] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<4x6xi32>) -> tensor<1x24xi32>
  %2 = braid.all_to_all %c split = [0] concat = [1] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<4x6x3xi32>) -> tensor<1x24x3xi32>
  return %0, %1, %2 : tensor<32xi32>, tensor<1x24xi32>, tensor<1x24x3xi32>
}

// -----

// CHECK-LABEL: func @others
// CHECK-COUNT-3: braid.permute {{.*}} : tensor<2xi32>
// CHECK-COUNT-3: braid.broadcast {{.*}} root = 1 {{.*}} : tensor<2xi32>
func.func @others(%a: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
  %0 = braid.permute %a pairs = [[0, 1]] : tensor<6xi32>
  %1 = braid.broadcast %a root = 1 groups = #braid.groups<[[0, 1]]> : tensor<6xi32>
  return %0, %1 : tensor<6xi32>, tensor<6xi32>
}

// -----

// A program that came as StableHLO; where channels are told apart, so are those of pieces.
// CHECK-LABEL: func @stablehlo
// CHECK: %[[A:.*]] = "stablehlo.slice"(%{{.*}}) <{limit_indices = array<i64: 2>, start_indices = array<i64: 0>, strides = array<i64: 1>}>
// CHECK: braid.all_reduce sum %[[A]] {{.*}}channel = 3
// CHECK: braid.all_reduce sum {{.*}}channel = 5
// CHECK: braid.all_reduce sum {{.*}}channel = 6
// CHECK: "stablehlo.concatenate"({{.*}}) <{dimension = 0 : i64}>
// CHECK: braid.all_reduce max {{.*}}channel = 4
func.func @stablehlo(%a: tensor<6xf32>) -> (tensor<6xf32>, tensor<f32>) {
  %0 = "stablehlo.negate"(%a) : (tensor<6xf32>) -> tensor<6xf32>
  %1 = braid.all_reduce sum %0 groups = #braid.groups<[[0, 1]]> {channel = 3 : i64} : tensor<6xf32>
  %2 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %3 = braid.all_reduce max %2 groups = #braid.groups<[[0, 1]]> {channel = 4 : i64} : tensor<f32>
  return %1, %3 : tensor<6xf32>, tensor<f32>
}

// -----

// What stays whole, and why.
// REMARK-DAG: Remark="not cut: it has a plan, which is for its size"
// REMARK-DAG: Remark="not cut: it is a bucket of several tensors"
// REMARK-DAG: Remark="not cut: its size is dynamic"
// REMARK-DAG: Remark="not cut: no dimension of it can be cut: a piece would be less than one row"
// REMARK-DAG: Remark="not cut: it is in flight already"
// REMARK-DAG: Remark="not cut: a rooted collective, a message or a barrier is never cut"
// REMARK-DAG: Remark="not cut: a compiler still has to divide it (sdy.sharding)"
// CHECK-LABEL: func @whole
// CHECK-NOT: concat
func.func @whole(%a: tensor<6xf32>, %d: tensor<?xf32>, %s: tensor<1x1xf32>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {plan = #braid.plan<engine = nccl, algorithm = "ring">} : tensor<6xf32>
  %1:2 = braid.all_reduce sum %a, %a groups = #braid.groups<[[0, 1]]> : tensor<6xf32>, tensor<6xf32>
  %2 = braid.all_reduce sum %d groups = #braid.groups<[[0, 1]]> {braid.size_hint = array<i64: 4096>} : tensor<?xf32>
  %3 = braid.all_reduce sum %s groups = #braid.groups<[[0, 1]]> : tensor<1x1xf32>
  %t = braid.start(%x = %a) : tensor<6xf32> {
    %y = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<6xf32>
    braid.yield %y : tensor<6xf32>
  }
  %4 = braid.wait %t, %a : (tensor<6xf32>) -> tensor<6xf32>
  %5 = braid.reduce sum %a init %a root = 0 groups = #braid.groups<[[0, 1]]> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %6 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {sdy.sharding = "yet"} : tensor<6xf32>
  return
}
