// Plans name the source ports of their flows where the cluster file says how its switches hash, and say why.
//
// RUN: rm -rf %t && mkdir %t
// RUN: printf 'base: %clusters/base/cpu.yaml\nname: planes\nhosts: 2\ndevices_per_host: 1\nnics_per_host: 1\nnccl: {bus_bandwidth_inter: 2 GB/s}\n' > %t/planes.yaml
// RUN: printf 'inter: {name: port, assumption: an example, bandwidth: 20 Gb/s, latency: 20 us, profile: {fabric: quiet, most_queue_pairs: 4, queue_pair_cost: 1 us}}\n' >> %t/planes.yaml
// RUN: printf 'topology: {builder: single_switch, planes: 4, routing: hash, hash_seed: 3, source_ports: 20000..20255, destination_port: 47000}\n' >> %t/planes.yaml
// RUN: braid-opt %s --braid-select-algorithms="cluster=%t/planes.yaml engine=braid" --remarks-filter="braid-.*" -o %t/planned.mlir 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s < %t/planned.mlir
// RUN: braid-opt %t/planned.mlir --braid-verify-plan="cluster=%t/planes.yaml"
//
// Other ports are another cluster: the plan is stale.
// RUN: sed 's/hash_seed: 3/hash_seed: 4/' %t/planes.yaml > %t/other.yaml
// RUN: not braid-opt %t/planned.mlir --braid-verify-plan="cluster=%t/other.yaml" 2>&1 | FileCheck %s --check-prefix=STALE
//
// With one port there is nothing to choose, which is not the same as no collisions.
// RUN: sed 's/20000..20255/20000..20000/; s/most_queue_pairs: 4/most_queue_pairs: 1/' %t/planes.yaml > %t/one.yaml
// RUN: braid-opt %s --braid-select-algorithms="cluster=%t/one.yaml engine=braid" --remarks-filter="braid-.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: [Passed] path | {{.*}}source ports of 2 flows: none has a choice, all of its ports lead it the same way
//
// CHECK: #braid.plan<engine = braid, algorithm = "{{.*}}", channels = 4, {{.*}}path = "to47000;0-1:20{{[0-9]*}}.20{{[0-9]*}}.20{{[0-9]*}}.20{{[0-9]*}};1-0:20{{[0-9]*}}.20{{[0-9]*}}.20{{[0-9]*}}.20{{[0-9]*}}", fingerprint =
// WHY: [Passed] path | Category:braid-select-algorithms | {{.*}}source ports of 2 flows, 4 connections each: at once {{.*}} the fewest possible
// STALE: error: {{.*}}plan
func.func @main(%a: tensor<4194304xf32>) -> tensor<4194304xf32> {
  %0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4194304xf32>
  return %0 : tensor<4194304xf32>
}
