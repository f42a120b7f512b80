// RUN: rm -rf %t && mkdir %t
// RUN: braid-opt %s --braid-export=sidecar=%t/xla.json -o /dev/null
// RUN: FileCheck %s < %t/xla.json
// RUN: not braid-opt %s --braid-export=sidecar=%t/nowhere/xla.json -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not ls %t/out.mlir
// RUN: ls %t | FileCheck %s --check-prefix=FILES
//
// The options without which XLA merges collectives again. The file is whole or not there.

// CHECK: "--xla_disable_hlo_passes=cpu-all-reduce-combiner"
// CHECK: "--xla_gpu_all_reduce_combine_threshold_bytes=0"
// ERROR: error: sidecar '{{.*}}nowhere/xla.json': expected a writable place, got: No such file or directory
// FILES: xla.json
// FILES-NOT: {{.}}
module {}
