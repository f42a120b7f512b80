// Trips that begin elsewhere: weights gathered a trip ahead, and a sum beside the end of one trip and the beginning of the next.
// RUN: braid-opt %s --braid-pipeline-loops=shift=ahead -split-input-file | FileCheck %s --check-prefix=AHEAD
// RUN: braid-opt %s --braid-pipeline-loops=shift=around -split-input-file | FileCheck %s --check-prefix=AROUND
// RUN: braid-opt %s --braid-pipeline-loops=shift=ahead -split-input-file --remarks-filter=braid-pipeline-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=AHEAD-REMARK
// RUN: braid-opt %s --braid-pipeline-loops=shift=around -split-input-file --remarks-filter=braid-pipeline-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=AROUND-REMARK
// RUN: braid-opt %s --braid-pipeline-loops=shift=ahead -split-input-file --braid-overlap-collectives --braid-verify-plan --braid-lower-pipeline -o /dev/null
// RUN: braid-opt %s --braid-pipeline-loops=shift=around -split-input-file --braid-overlap-collectives --braid-verify-plan --braid-lower-pipeline -o /dev/null

// Layers of stacked shards. The first layer's weights are gathered in front of the loop, each trip gathers those of the next beside
// its own layer, and the last layer stands behind. The stack is handed on once.
// AHEAD-LABEL: func.func @layers
// AHEAD-SAME: %[[STACK:.*]]: tensor<8x2x8xf32>, %[[X:.*]]: tensor<8x8xf32>
// AHEAD: %[[SHARD:.*]] = tensor.extract_slice %[[STACK]][%c0
// AHEAD: %[[W0:.*]] = braid.all_gather %[[SHARD]]
// AHEAD: %[[R:.*]]:2 = scf.for %[[I:.*]] = %c1{{.*}} to %c8{{.*}} iter_args(%[[H:.*]] = %[[X]], %[[W:.*]] = %[[W0]]) -> (tensor<8x8xf32>, tensor<8x8xf32>)
// AHEAD: %[[NEXT:.*]] = tensor.extract_slice %[[STACK]][%[[I]]
// AHEAD: %[[V:.*]] = braid.all_gather %[[NEXT]]
// AHEAD: %[[Y:.*]] = linalg.add ins(%[[H]], %[[W]]
// AHEAD: scf.yield %[[Y]], %[[V]]
// AHEAD: %[[LAST:.*]] = linalg.add ins(%[[R]]#0, %[[R]]#1
// AHEAD: return %[[LAST]]
// AHEAD-REMARK: Remark="all_gather runs a trip ahead, beside 1 kernel of the trip before that it does not need"
// AROUND-LABEL: func.func @layers
// AROUND-NOT: scf.for {{.*}} = %c1
// AROUND-REMARK: Remark="does not run between trips: {{.*}}"
#g = #braid.groups<[[0, 1, 2, 3]]>
func.func @layers(%stack: tensor<8x2x8xf32>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %r = scf.for %i = %zero to %eight step %one iter_args(%h = %x) -> (tensor<8x8xf32>) {
    %s = tensor.extract_slice %stack[%i, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<8x2x8xf32> to tensor<2x8xf32>
    %w = braid.all_gather %s dims = [0] groups = #g : (tensor<2x8xf32>) -> tensor<8x8xf32>
    %e = tensor.empty() : tensor<8x8xf32>
    %y = linalg.add ins(%h, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %y : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// -----

// The sum is handed on and needed in the middle of the next trip; what follows it in its own trip does not need it. Number of trips not known:
// a branch around all of it. What is handed on under two names is carried once for each, not for each reader.
// AROUND-LABEL: func.func @between
// AROUND: arith.cmpi slt
// AROUND: scf.if
// AROUND: linalg.exp
// AROUND: linalg.mul
// AROUND: scf.for
// AROUND: braid.all_reduce
// AROUND: linalg.log
// AROUND: linalg.exp
// AROUND: linalg.mul
// AROUND: scf.yield
// AROUND: braid.all_reduce
// AROUND: linalg.log
// AROUND: else
// AROUND-REMARK: Remark="all_reduce runs between trips, beside what follows in its own and 1 kernel of the next"
// AHEAD-LABEL: func.func @between
// AHEAD: linalg.exp
// AHEAD-REMARK: Remark="all_reduce runs a trip ahead, beside 1 kernel of the trip before that it does not need"
#g = #braid.groups<[[0, 1, 2, 3]]>
func.func @between(%w: tensor<4xf32>, %v: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%p = %w, %q = %v) -> (tensor<4xf32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %head = linalg.exp ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %g = linalg.mul ins(%head, %p : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = braid.all_reduce sum %g groups = #g : tensor<4xf32>
    %tail = linalg.log ins(%q : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s, %tail : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What reads all of the trip before stays, and so does what stands behind a loop that communicates.
// AHEAD-LABEL: func.func @chained
// AHEAD: scf.for %{{.*}} = %c0
// AHEAD-REMARK: Remark="does not run a trip ahead: it waits for all computation of the trip before"
#g = #braid.groups<[[0, 1, 2, 3]]>
func.func @chained(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %r = scf.for %i = %zero to %nine step %one iter_args(%p = %x) -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %s = braid.all_reduce sum %p groups = #g : tensor<4xf32>
    %y = linalg.exp ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A gather in front of a loop that communicates could run a trip ahead only behind that loop, where nothing is left to run beside.
// AHEAD-LABEL: func.func @stops
// AHEAD: scf.for %{{.*}} = %c0
// AHEAD-REMARK: Remark="does not run a trip ahead: it waits for all computation of the trip before"
#g = #braid.groups<[[0, 1, 2, 3]]>
func.func @stops(%stack: tensor<8x2x8xf32>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %r = scf.for %i = %zero to %eight step %one iter_args(%h = %x) -> (tensor<8x8xf32>) {
    %s = tensor.extract_slice %stack[%i, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<8x2x8xf32> to tensor<2x8xf32>
    %w = braid.all_gather %s dims = [0] groups = #g : (tensor<2x8xf32>) -> tensor<8x8xf32>
    %e = tensor.empty() : tensor<8x8xf32>
    %y = linalg.max ins(%h, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    %z = scf.for %j = %zero to %eight step %one iter_args(%k = %y) -> (tensor<8x8xf32>) {
      %t = braid.all_reduce sum %k groups = #g : tensor<8x8xf32>
      scf.yield %t : tensor<8x8xf32>
    }
    scf.yield %z : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}
