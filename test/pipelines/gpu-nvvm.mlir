// Computation on buffers of a device goes through upstream's GPU pipeline to PTX for sm_90, the collective between it to calls of
// the runtime, which host code makes: in one module. The memory space stays, and the runtime is told of it (2, a device's).
//
// RUN: braid-opt %s --braid-to-runtime -o %t.mlir
// RUN: mlir-opt %t.mlir -o %t.gpu.mlir --pass-pipeline="builtin.module(func.func(convert-linalg-to-parallel-loops,gpu-map-parallel-loops,convert-parallel-loops-to-gpu),gpu-kernel-outlining,gpu-lower-to-nvvm-pipeline{cubin-chip=sm_90 cubin-features=+ptx80 cubin-format=isa})"
// RUN: FileCheck %s <%t.gpu.mlir
// RUN: sed 's/\\0A/\n/g; s/\\09/\t/g' %t.gpu.mlir | FileCheck %s --check-prefix=PTX
// RUN: FileCheck %s --check-prefix=SITE <%t.mlir

// SITE: dense<[4, 0, 0, 13, 4, 0, 0, 0, 0, 0, 0, 2, 0, 1, 2, 0, 2, 0, 1]>

// What runs on the host: kernels before and after the collective, whose start and wait are calls.
// CHECK-LABEL: llvm.func @step(%{{.*}}: !llvm.ptr<1>
// CHECK: gpu.launch_func @step_kernel::@step_kernel
// CHECK: llvm.call @braid_module_launch
// CHECK: llvm.call @braid_module_finish
// CHECK: gpu.launch_func @step_kernel_0::@step_kernel
// CHECK: gpu.binary @step_kernel [#gpu.object<#nvvm.target<chip = "sm_90", features = "+ptx80">
// CHECK: gpu.binary @step_kernel_0

// A kernel each, for that machine, with the arithmetic of its linalg op.
// PTX: .version 8.0
// PTX: .target sm_90
// PTX: .visible .entry step_kernel(
// PTX: mul{{(\.rn)?}}.f32
// PTX: st.global
// PTX: .target sm_90
// PTX: .visible .entry step_kernel(
// PTX: sub{{(\.rn)?}}.f32
// PTX: st.global

module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 1 : i32} {
func.func @step(%weights: memref<64x128xf32, 1>, %gradients: memref<64x128xf32, 1>, %rate: f32) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%gradients : memref<64x128xf32, 1>) {
  ^bb0(%g: f32):
    %scaled = arith.mulf %g, %rate : f32
    linalg.yield %scaled : f32
  }
  %t = braid.launch all_reduce outs(%gradients : memref<64x128xf32, 1>)
    {groups = #braid.groups<[[0, 1]]>, id_space = #braid.id_space<replica>, reduction = #braid<reduction average>}
  braid.finish %t outs(%gradients : memref<64x128xf32, 1>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%gradients : memref<64x128xf32, 1>) outs(%weights : memref<64x128xf32, 1>) {
  ^bb0(%g: f32, %w: f32):
    %next = arith.subf %w, %g : f32
    linalg.yield %next : f32
  }
  return
}
}
