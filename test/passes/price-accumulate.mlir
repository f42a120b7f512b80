// What is priced is what travels: Braid's runtime sends what a reduction accumulates in, so bf16 summed in f32 costs what f32 does.
// NCCL's messages have the operand's type.
//
// RUN: braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-4x2.yaml engine=braid" --remarks-filter="braid-.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BRAID
// RUN: braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-4x2.yaml engine=nccl" --remarks-filter="braid-.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NCCL
// RUN: braid-opt %s --braid-select-algorithms="cluster=%clusters/h100-ib-ndr-4x2.yaml engine=braid" | FileCheck %s --check-prefix=PLAN

// BRAID: Remark="[[F32:.*]]"
// BRAID: Remark="[[F32]]"
// BRAID-NOT: Remark="[[F32]]"
// BRAID: Remark="{{.*}}"

// NCCL: Remark="[[F32:.*]]"
// NCCL-NOT: Remark="[[F32]]"
// NCCL: Remark="[[BF16:.*]]"
// NCCL: Remark="[[BF16]]"

// A plan without the attribute is another's.
// PLAN: fingerprint = "[[WIDE:[0-9a-f]+]]"
// PLAN-NOT: fingerprint = "[[WIDE]]"
func.func @main(%a: tensor<1048576xf32>, %b: tensor<1048576xbf16>, %c: tensor<1048576xbf16>) {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1048576xf32>
  %1 = braid.all_reduce sum %b groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> {accumulate = f32} : tensor<1048576xbf16>
  %2 = braid.all_reduce sum %c groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1048576xbf16>
  return
}
