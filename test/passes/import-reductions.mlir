// RUN: braid-opt %s --braid-import --remarks-filter=braid-import --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
//
// A reduction is what its region computes: operands in either order, booleans by their meaning, an accumulation in a wider
// type by its conversions. Everything else stays, with a remark.

// CHECK-LABEL: @sum_f32
// CHECK: braid.all_reduce sum 
// CHECK: } {id_space = 
func.func @sum_f32(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("sum_f32")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @sum_i32
// CHECK: braid.all_reduce sum 
// CHECK: } {id_space = 
func.func @sum_i32(%a: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%s) : (tensor<i32>) -> ()
  }) : (tensor<4xi32>) -> tensor<4xi32> loc("sum_i32")
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: @sum_complex
// CHECK: braid.all_reduce sum 
// CHECK: } {id_space = 
func.func @sum_complex(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):
    %s = "stablehlo.add"(%x, %y) : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
    "stablehlo.return"(%s) : (tensor<complex<f32>>) -> ()
  }) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> loc("sum_complex")
  return %0 : tensor<4xcomplex<f32>>
}

// CHECK-LABEL: @product
// CHECK: braid.all_reduce product 
// CHECK: } {id_space = 
func.func @product(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.multiply"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("product")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @max
// CHECK: braid.all_reduce max 
// CHECK: } {id_space = 
func.func @max(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %s = "stablehlo.maximum"(%x, %y) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
    "stablehlo.return"(%s) : (tensor<bf16>) -> ()
  }) : (tensor<4xbf16>) -> tensor<4xbf16> loc("max")
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: @min
// CHECK: braid.all_reduce min 
// CHECK: } {id_space = 
func.func @min(%a: tensor<4xui8>) -> tensor<4xui8> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<ui8>, %y: tensor<ui8>):
    %s = "stablehlo.minimum"(%x, %y) : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>
    "stablehlo.return"(%s) : (tensor<ui8>) -> ()
  }) : (tensor<4xui8>) -> tensor<4xui8> loc("min")
  return %0 : tensor<4xui8>
}

// CHECK-LABEL: @bits_and
// CHECK: braid.all_reduce and 
// CHECK: } {id_space = 
func.func @bits_and(%a: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = "stablehlo.and"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%s) : (tensor<i32>) -> ()
  }) : (tensor<4xi32>) -> tensor<4xi32> loc("bits_and")
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: @bits_or
// CHECK: braid.all_reduce or 
// CHECK: } {id_space = 
func.func @bits_or(%a: tensor<4xui32>) -> tensor<4xui32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<ui32>, %y: tensor<ui32>):
    %s = "stablehlo.or"(%x, %y) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    "stablehlo.return"(%s) : (tensor<ui32>) -> ()
  }) : (tensor<4xui32>) -> tensor<4xui32> loc("bits_or")
  return %0 : tensor<4xui32>
}

// CHECK-LABEL: @bits_xor
// CHECK: braid.all_reduce xor 
// CHECK: } {id_space = 
func.func @bits_xor(%a: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = "stablehlo.xor"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%s) : (tensor<i32>) -> ()
  }) : (tensor<4xi32>) -> tensor<4xi32> loc("bits_xor")
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: @bool_and
// CHECK: braid.all_reduce and 
// CHECK: } {id_space = 
func.func @bool_and(%a: tensor<4xi1>) -> tensor<4xi1> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    %s = "stablehlo.and"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }) : (tensor<4xi1>) -> tensor<4xi1> loc("bool_and")
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @bool_or
// CHECK: braid.all_reduce or 
// CHECK: } {id_space = 
func.func @bool_or(%a: tensor<4xi1>) -> tensor<4xi1> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    %s = "stablehlo.or"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }) : (tensor<4xi1>) -> tensor<4xi1> loc("bool_or")
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @bool_add
// CHECK: braid.all_reduce or 
// CHECK: } {id_space = 
func.func @bool_add(%a: tensor<4xi1>) -> tensor<4xi1> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    %s = "stablehlo.add"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }) : (tensor<4xi1>) -> tensor<4xi1> loc("bool_add")
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @bool_max
// CHECK: braid.all_reduce or 
// CHECK: } {id_space = 
func.func @bool_max(%a: tensor<4xi1>) -> tensor<4xi1> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    %s = "stablehlo.maximum"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }) : (tensor<4xi1>) -> tensor<4xi1> loc("bool_max")
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @bool_multiply
// CHECK: braid.all_reduce and 
// CHECK: } {id_space = 
func.func @bool_multiply(%a: tensor<4xi1>) -> tensor<4xi1> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    %s = "stablehlo.multiply"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }) : (tensor<4xi1>) -> tensor<4xi1> loc("bool_multiply")
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @bool_min
// CHECK: braid.all_reduce and 
// CHECK: } {id_space = 
func.func @bool_min(%a: tensor<4xi1>) -> tensor<4xi1> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    %s = "stablehlo.minimum"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }) : (tensor<4xi1>) -> tensor<4xi1> loc("bool_min")
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @bool_xor
// CHECK: braid.all_reduce xor 
// CHECK: } {id_space = 
func.func @bool_xor(%a: tensor<4xi1>) -> tensor<4xi1> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    %s = "stablehlo.xor"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }) : (tensor<4xi1>) -> tensor<4xi1> loc("bool_xor")
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @commuted
// CHECK: braid.all_reduce sum 
// CHECK: } {id_space = 
func.func @commuted(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%y, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("commuted")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @beside_dead_code
// CHECK: braid.all_reduce sum 
// CHECK: } {id_space = 
func.func @beside_dead_code(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %d = "stablehlo.negate"(%x) : (tensor<f32>) -> tensor<f32>
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("beside_dead_code")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @annotated
// CHECK: braid.all_reduce sum 
// CHECK: "sdy.sharding_constraint"
func.func @annotated(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %t = "sdy.sharding_constraint"(%s) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @wider
// CHECK: braid.all_reduce sum 
// CHECK: } {accumulate = f32,
func.func @wider(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %u = "stablehlo.convert"(%x) : (tensor<bf16>) -> tensor<f32>
    %v = "stablehlo.convert"(%y) : (tensor<bf16>) -> tensor<f32>
    %s = "stablehlo.add"(%v, %u) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %t = "stablehlo.convert"(%s) : (tensor<f32>) -> tensor<bf16>
    "stablehlo.return"(%t) : (tensor<bf16>) -> ()
  }) : (tensor<4xbf16>) -> tensor<4xbf16> loc("wider")
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: @wider_integer
// CHECK: braid.all_reduce sum 
// CHECK: } {accumulate = i32,
func.func @wider_integer(%a: tensor<4xi8>) -> tensor<4xi8> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i8>, %y: tensor<i8>):
    %u = "stablehlo.convert"(%x) : (tensor<i8>) -> tensor<i32>
    %v = "stablehlo.convert"(%y) : (tensor<i8>) -> tensor<i32>
    %s = "stablehlo.add"(%u, %v) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = "stablehlo.convert"(%s) : (tensor<i32>) -> tensor<i8>
    "stablehlo.return"(%t) : (tensor<i8>) -> ()
  }) : (tensor<4xi8>) -> tensor<4xi8> loc("wider_integer")
  return %0 : tensor<4xi8>
}

// CHECK-LABEL: @narrower
// CHECK: "stablehlo.all_reduce"
// REMARK: loc("narrower"): [Missed]{{.*}}the reduction region computes no reduction that is known
func.func @narrower(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %u = "stablehlo.convert"(%x) : (tensor<f32>) -> tensor<bf16>
    %v = "stablehlo.convert"(%y) : (tensor<f32>) -> tensor<bf16>
    %s = "stablehlo.add"(%v, %u) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
    %t = "stablehlo.convert"(%s) : (tensor<bf16>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("narrower")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @one_converted
// CHECK: "stablehlo.all_reduce"
// REMARK: loc("one_converted"): [Missed]{{.*}}the reduction region computes no reduction that is known
func.func @one_converted(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %u = "stablehlo.convert"(%x) : (tensor<f32>) -> tensor<f32>
    %s = "stablehlo.add"(%u, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("one_converted")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @subtract
// CHECK: "stablehlo.all_reduce"
// REMARK: loc("subtract"): [Missed]{{.*}}the reduction region computes no reduction that is known
func.func @subtract(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.subtract"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("subtract")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @twice_the_same
// CHECK: "stablehlo.all_reduce"
// REMARK: loc("twice_the_same"): [Missed]{{.*}}the reduction region computes no reduction that is known
func.func @twice_the_same(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("twice_the_same")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @scaled
// CHECK: "stablehlo.all_reduce"
// REMARK: loc("scaled"): [Missed]{{.*}}the reduction region computes no reduction that is known
func.func @scaled(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %u = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = "stablehlo.multiply"(%u, %u) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("scaled")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @first
// CHECK: "stablehlo.all_reduce"
// REMARK: loc("first"): [Missed]{{.*}}the reduction region computes no reduction that is known
func.func @first(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    "stablehlo.return"(%x) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("first")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @capture_free_or_of_floats
// CHECK: "stablehlo.all_reduce"
// REMARK: loc("capture_free_or_of_floats"): [Missed]{{.*}}the reduction region computes no reduction that is known
func.func @capture_free_or_of_floats(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.xor"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("capture_free_or_of_floats")
  return %0 : tensor<4xf32>
}
