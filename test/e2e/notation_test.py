#!/usr/bin/env python3
"""Groups in every notation, and collectives read from HLO text: no jax is started."""
from harness import check, expect, expect_error, main
from braid_jax import collectives, devices, groups


def same(found, expected):
    expect(found == expected, f"expected {expected}, got {found}")


@check
def hlo_notations():
    same(groups.of_hlo("{{0,1},{2,3}}"), [[0, 1], [2, 3]])
    same(groups.of_hlo("{}"), [])
    same(groups.of_hlo("[2,4]<=[8]"), [[0, 1, 2, 3], [4, 5, 6, 7]])
    same(groups.of_hlo("[2,4]<=[4,2]T(1,0)"), [[0, 2, 4, 6], [1, 3, 5, 7]])
    same(groups.of_hlo("mesh['a'=2,'b'=4] {'a'}"), [[0, 4], [1, 5], [2, 6], [3, 7]])
    same(groups.of_hlo("mesh['a'=1,'b'=8], device_ids=([2,4]T(1,0)) {'b'}"), [[0, 4, 1, 5, 2, 6, 3, 7]])
    same(groups.of_hlo("mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'b'}"), [[0, 2], [1, 3]])
    same(groups.of_hlo("mesh['a'=2,'b'=4] {'b','a'}"), [[0, 4, 1, 5, 2, 6, 3, 7]])
    same(groups.of_hlo("mesh['a'=8] {'a':(1)2}"), [[0, 4], [1, 5], [2, 6], [3, 7]])
    same(groups.of_hlo("mesh['a'=8] {'a':(4)2}"), [[0, 1], [2, 3], [4, 5], [6, 7]])
    expect_error(["replica groups", "garbage"], groups.of_hlo, "garbage")
    expect_error(["'c'", "'a'"], groups.of_hlo, "mesh['a'=2] {'c'}")


@check
def hlo_text_keeps_the_device_order():
    text = "x = all-gather(y), replica_groups=mesh['a'=1,'b'=4], device_ids=([2,2]T(1,0)) {'b'}, dimensions={1}"
    same(groups.hlo_text_with_lists(text), "x = all-gather(y), replica_groups={{0,2,1,3}}, dimensions={1}")


@check
def stablehlo_meshes():
    group = "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @m1, axes = [#stablehlo.axis_ref<name = \"b\"%s>]>, use_global"
    generic = '"sdy.mesh"() <{mesh = #sdy.mesh<["a"=2, "b"=2]>, sym_name = "m"}>\n' \
              '"sdy.mesh"() <{mesh = #sdy.mesh<["a"=2, "b"=4], device_ids=[0, 2, 1, 3, 4, 6, 5, 7]>, sym_name = "m1"}>\n'
    pretty = 'sdy.mesh @m = <["a"=2, "b"=2]>\nsdy.mesh @m1 = <["a"=2, "b"=4], device_ids=[0, 2, 1, 3, 4, 6, 5, 7]>\n'
    for head in (generic, pretty):
        found = groups.stablehlo_text_with_lists(head + group % "")
        expect("dense<[[0, 2, 1, 3], [4, 6, 5, 7]]> : tensor<2x4xi64>, use_global" in found, found)
        found = groups.stablehlo_text_with_lists(head + group % ", sub_axis_info = (2)2")
        expect("dense<[[0, 2], [1, 3], [4, 6], [5, 7]]> : tensor<4x2xi64>" in found, found)
    expect_error(["@m1"], groups.stablehlo_text_with_lists, group % "")


@check
def braid_attributes():
    from braid_jax.plans import _rows as rows
    same(rows("#braid.groups<[[0, 1], [2, -1]]>", 4), [[0, 1], [2, -1]])
    same(rows("#braid.groups<[]>", 4), [[0, 1, 2, 3]])
    same(rows("#braid.iota<[2, 4] from [4, 2] T(1, 0)>", 8), [[0, 2, 4, 6], [1, 3, 5, 7]])
    same(rows('#braid.mesh_axes<["x" = 8], axes = ["x":(1)2]>', 8), [[0, 4], [1, 5], [2, 6], [3, 7]])
    same(rows('#braid.mesh_axes<["x" = 2, "y" = 2], axes = ["y"], device_ids = [0, 2, 1, 3]>', 4), [[0, 2], [1, 3]])


@check
def compiled_text():
    """Asynchronous pairs count once, computations as often as they are called, tuples by the sum of their parts."""
    text = """HloModule m, num_partitions=4

%sum (a: f32[], b: f32[]) -> f32[] {
  ROOT %c = f32[] add(%a, %b)
}

%wrapped (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %r = f32[8]{0} collective-permute(%p), channel_id=3, source_target_pairs={{0,1},{1,0}}
}

%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %g = f32[32]{0} all-gather(%x), channel_id=1, replica_groups=[1,4]<=[4], dimensions={0}, use_global_device_ids=true
}

ENTRY %main (p: f32[8]) -> f32[8] {
  %a = (f32[8]{0}, f32[2,2]{1,0}) all-reduce(%p, %q), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=%sum
  %s = (f32[8]{0}, f32[32]{0}) all-gather-start(%p), channel_id=2, replica_groups={}, dimensions={0}, use_global_device_ids=true
  %d = f32[32]{0} all-gather-done(%s)
  %w = ((f32[8]{0}), f32[8]{0}, u32[]) async-start(%p), calls=%wrapped
  %e = f32[8]{0} async-done(%w)
  %l = (s32[], f32[8]{0}) while(%t), condition=%cond, body=%body
  %t2 = (f32[2]{0}, f32[2]{0}, /*index=2*/f32[2]{0}, f32[2]{0}) all-to-all(%p, %p, %p, %p), channel_id=5, replica_groups={{0,1,2,3}}
  ROOT %n = f32[8]{0} all-reduce(%p), replica_groups={{0}}, to_apply=%sum
}
"""
    all4 = ((0, 1, 2, 3),)
    expected = [collectives.Collective("all_reduce", ((0, 1), (2, 3)), 12), collectives.Collective("all_gather", all4, 32),
                collectives.Collective("collective_permute", ((0, 1), (1, 0)), 8), collectives.Collective("all_gather", all4, 32),
                collectives.Collective("all_to_all", all4, 8), collectives.Collective("all_reduce", ((0,), (1,), (2,), (3,)), 8)]
    same(collectives.difference(expected, collectives.of_compiled(text, 4)), [])
    lines = collectives.difference(expected, collectives.of_compiled(text.replace("{{0,1},{2,3}}", "{{0,2},{1,3}}"), 4))
    expect(len(lines) == 2 and "not found" in lines[0] and "not expected" in lines[1], lines)


@check
def place_in_a_group():
    """It matters to a gather, not to a sum."""
    same(collectives.canonical("all_reduce", [[3, 2], [1, 0]]), collectives.canonical("all_reduce", [[0, 1], [2, 3]]))
    expect(collectives.canonical("all_gather", [[1, 0]]) != collectives.canonical("all_gather", [[0, 1]]), "rows were sorted")
    same(collectives.canonical("all_gather", [[2, -1], [0, 1]]), ((0, 1), (2,)))


@check
def devices_that_a_text_names():
    same(devices.devices_named_in('mhlo.num_partitions = 16 : i32 #sdy.mesh<["a"=2, "b"=4]>'), 16)
    same(devices.devices_named_in('sdy.mesh @mesh = <["a"=2, "b"=4]>'), 8)
    same(devices.devices_named_in("replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"), 4)
    same(devices.devices_named_in("func.func @main()"), 1)


main(__file__)
