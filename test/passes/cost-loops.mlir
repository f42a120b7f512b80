// Trip counts: any constant start, step and limit, up and down; what depends on data counts once and is said.
//
// RUN: braid-opt %s -split-input-file --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" --remarks-filter="braid-plan" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %s -split-input-file --braid-plan="cluster=%clusters/h100-ib-ndr-1x8.yaml" | FileCheck %s --check-prefix=IR

// (11 - 3) / 2 = 4 trips.
// CHECK-NOT: trips | Category
// CHECK: bound | Category:braid-plan | {{.*}}no schedule is faster than [[FOUR:[0-9.]+ us]]
// IR: certified = true
module @up attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %start = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %r:2 = "stablehlo.while"(%start, %a) ({
    ^bb0(%i: tensor<i32>, %x: tensor<64x64xf32>):
      %limit = "stablehlo.constant"() <{value = dense<11> : tensor<i32>}> : () -> tensor<i32>
      %p = "stablehlo.compare"(%i, %limit) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %x: tensor<64x64xf32>):
      %y = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<64x64xf32>
      %step = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
      %next = "stablehlo.add"(%i, %step) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%next, %y) : (tensor<i32>, tensor<64x64xf32>) -> ()
    }) : (tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>)
    return %r#1 : tensor<64x64xf32>
  }
}

// -----

// The same four trips downwards, with the limit carried around the loop and the comparison the other way round.
// CHECK-NOT: trips | Category
// CHECK: bound | Category:braid-plan | {{.*}}no schedule is faster than [[FOUR]]
// IR: certified = true
module @down attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %start = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    %limit = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %r:3 = "stablehlo.while"(%start, %a, %limit) ({
    ^bb0(%i: tensor<i32>, %x: tensor<64x64xf32>, %n: tensor<i32>):
      %p = "stablehlo.compare"(%n, %i) <{comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %x: tensor<64x64xf32>, %n: tensor<i32>):
      %y = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<64x64xf32>
      %step = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
      %next = "stablehlo.subtract"(%i, %step) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%next, %y, %n) : (tensor<i32>, tensor<64x64xf32>, tensor<i32>) -> ()
    }) : (tensor<i32>, tensor<64x64xf32>, tensor<i32>) -> (tensor<i32>, tensor<64x64xf32>, tensor<i32>)
    return %r#1 : tensor<64x64xf32>
  }
}

// -----

// The limit is an argument of the program.
// CHECK: trips | Category:braid-plan | {{.*}}its trip count depends on data: priced as one trip, and the order of collectives is not certified
// IR: certified = false
// IR-SAME: not_certified = ["the trip count of while at
module @data attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<64x64xf32>, %limit: tensor<i32>) -> tensor<64x64xf32> {
    %start = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %r:2 = "stablehlo.while"(%start, %a) ({
    ^bb0(%i: tensor<i32>, %x: tensor<64x64xf32>):
      %p = "stablehlo.compare"(%i, %limit) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %x: tensor<64x64xf32>):
      %y = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<64x64xf32>
      %step = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %next = "stablehlo.add"(%i, %step) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%next, %y) : (tensor<i32>, tensor<64x64xf32>) -> ()
    }) : (tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>)
    return %r#1 : tensor<64x64xf32>
  }
}

// -----

// The counter is added to itself: not a constant step.
// CHECK: trips | Category:braid-plan
// IR: certified = false
module @doubling attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %start = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %limit = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
    %r:2 = "stablehlo.while"(%start, %a) ({
    ^bb0(%i: tensor<i32>, %x: tensor<64x64xf32>):
      %p = "stablehlo.compare"(%i, %limit) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %x: tensor<64x64xf32>):
      %y = braid.all_reduce sum %x groups = #braid.groups<[]> : tensor<64x64xf32>
      %next = "stablehlo.add"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%next, %y) : (tensor<i32>, tensor<64x64xf32>) -> ()
    }) : (tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>)
    return %r#1 : tensor<64x64xf32>
  }
}

// -----

// Of a branch the most expensive side counts, and collectives of both sides are planned.
// CHECK: predicate | Category:braid-plan
// IR: certified = false
// IR: "stablehlo.case"
// IR-COUNT-2: plan = #
module @branch attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<64x64xf32>, %p: tensor<i32>) -> tensor<64x64xf32> {
    %r = "stablehlo.case"(%p) ({
      %y = braid.all_reduce sum %a groups = #braid.groups<[]> : tensor<64x64xf32>
      "stablehlo.return"(%y) : (tensor<64x64xf32>) -> ()
    }, {
      %y = braid.all_reduce max %a groups = #braid.groups<[]> : tensor<64x64xf32>
      "stablehlo.return"(%y) : (tensor<64x64xf32>) -> ()
    }, {
      "stablehlo.return"(%a) : (tensor<64x64xf32>) -> ()
    }) : (tensor<i32>) -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}
