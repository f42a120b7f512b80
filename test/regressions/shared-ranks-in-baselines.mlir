// Two collectives of different groups that share two ranks are never in flight together, on whatever fabrics: neither in the plan nor in a
// baseline that it is compared with. So none of these looks better than what can be run.
//
// RUN: braid-sim compare %s --cluster %clusters/h100-ib-ndr-4x2.yaml --engine braid --budget 1s --format json > %t.json
// RUN: python3 -c "import json, sys; p = {x['name']: x for x in json.load(open(sys.argv[1]))['policies']}; assert p['per-tensor']['exposed_s'] >= 0.999 * p['no-overlap']['exposed_s'] and all(p['braid']['objective_s'] <= p[n]['objective_s'] for n in ('no-overlap', 'per-tensor', 'ddp-25mib', 'xla-30mib', 'one-bucket')), p" %t.json
// RUN: braid-skeleton %s --cluster %clusters/h100-ib-ndr-4x2.yaml --policy per-tensor -o %t.mlir
// RUN: braid-opt %t.mlir --braid-verify-plan

func.func @main(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %x = braid.all_reduce sum %a groups = #braid.groups<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<1024x1024xf32>
  %y = braid.all_reduce sum %b groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1024x1024xf32>
  return %x, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
