"""Per-device programs (what XLA's partitioner writes) put back into a program for all devices.

A new @main holds one sdy.manual_computation over a mesh, which calls the per-device program. Running such a program as N
replicas instead would break every collective that counts partitions.
"""
from dataclasses import dataclass
import math

from . import program

_INNER = "braid_per_device"
_MESH = "braid_mesh"


@dataclass(frozen=True)
class Placement:
    """How one array lies on the mesh: its part on a device, and for each dimension the axes that it is split over."""
    local: program.TensorSpec
    axes: tuple

    def whole(self, sizes):
        shape = tuple(n * math.prod(sizes[a] for a in axes) for n, axes in zip(self.local.shape, self.axes))
        return program.TensorSpec(shape, self.local.kind)

    def sharding(self):
        dims = ", ".join("{" + ", ".join(f'"{a}"' for a in axes) + "}" for axes in self.axes)
        return f"<@{_MESH}, [{dims}]>"


def stacked(spec):
    """The placement of an array with a leading axis of devices: each device has its own, whatever the program thinks of it."""
    return Placement(program.TensorSpec((1, *spec.shape), spec.kind), (("device",),) + ((),) * len(spec.shape))


def _list(items):
    return ", ".join(map(str, items))


def wrap(module, mesh, arguments, results):
    """Rename the per-device @main of `module` and add the new one. Mesh: {axis: size}, in order.

    Where a placement's local shape differs from the per-device program's by a leading 1 (stacked), it is reshaped.
    """
    from jaxlib.mlir import ir
    main = program.main_of(module)
    ins, outs = program.signature(main)
    main.attributes["sym_name"] = ir.StringAttr.get(_INNER)
    main.attributes["sym_visibility"] = ir.StringAttr.get("private")
    for name in ("arg_attrs", "res_attrs"):  # shardings of the partitioner, donations: not of this function's business any more
        if name in main.attributes:
            del main.attributes[name]
    for name in ("spmd_output_sharding", "spmd_parameters_shardings", "input_output_alias", "cross_program_prefetches"):
        if "mhlo." + name in module.operation.attributes:  # the same, said of the module
            del module.operation.attributes["mhlo." + name]
    for op in list(module.body.operations):
        if op.operation.name == "sdy.mesh":  # groups are lists by now; a second mesh would only be resolved wrongly
            op.operation.erase()

    local_in, local_out = [p.local for p in arguments], [p.local for p in results]
    whole_in, whole_out = [p.whole(mesh) for p in arguments], [p.whole(mesh) for p in results]
    shardings = lambda placements: "[" + ", ".join(p.sharding() for p in placements) + "]"
    attrs = lambda placements: "[" + ", ".join("{sdy.sharding = #sdy.sharding" + p.sharding() + "}" for p in placements) + "]"
    axes = ", ".join(f'"{a}"={n}' for a, n in mesh.items())
    manual = ", ".join(f'"{a}"' for a in mesh)
    body = []

    def reshaped(names, prefix, old, wanted):
        """The names of values of types `old` once they are `wanted`: a reshape where the two differ."""
        for i, (a, b) in enumerate(zip(old, wanted)):
            if a != b:
                body.append(f'%{prefix}{i} = "stablehlo.reshape"({names[i]}) : ({a}) -> {b}')
        return ", ".join(f"%{prefix}{i}" if a != b else names[i] for i, (a, b) in enumerate(zip(old, wanted)))

    packed = lambda letter, count: [f"%{letter}#{i}" for i in range(count)]
    bind = lambda letter: f"%{letter}:{len(outs)} = " if outs else ""
    given = reshaped([f"%b{i}" for i in range(len(ins))], "c", local_in, ins)
    body.append(f'{bind("o")}"func.call"({given}) <{{callee = @{_INNER}}}> : ({_list(ins)}) -> ({_list(outs)})')
    returned = reshaped(packed("o", len(outs)), "p", outs, local_out)
    blocks = lambda letter, specs: f"^bb0({', '.join(f'%{letter}{i}: {t}' for i, t in enumerate(specs))}):"
    shell = "\n".join([
        "module {",
        f'"sdy.mesh"() <{{mesh = #sdy.mesh<[{axes}]>, sym_name = "{_MESH}"}}> : () -> ()',
        f"func.func private @{_INNER}({_list(ins)}) -> ({_list(outs)})",
        f'"func.func"() <{{arg_attrs = {attrs(arguments)}, function_type = ({_list(whole_in)}) -> ({_list(whole_out)}), '
        f'res_attrs = {attrs(results)}, sym_name = "main", sym_visibility = "public"}}> ({{',
        blocks("a", whole_in),
        f'{bind("r")}"sdy.manual_computation"({", ".join(f"%a{i}" for i in range(len(ins)))}) <{{in_shardings = #sdy.sharding_per_value<{shardings(arguments)}>, '
        f"manual_axes = #sdy<manual_axes{{{manual}}}>, out_shardings = #sdy.sharding_per_value<{shardings(results)}>}}> ({{",
        blocks("b", local_in),
        *body,
        f'"sdy.return"({returned}) : ({_list(local_out)}) -> ()',
        f"}}) : ({_list(whole_in)}) -> ({_list(whole_out)})",
        f'"func.return"({", ".join(packed("r", len(outs)))}) : ({_list(whole_out)}) -> ()',
        "}) : () -> ()",
        "}"])
    wrapper = program.parse(shell, "the wrapper of a per-device program")  # in a variable: its operations live as long as it
    for op in list(wrapper.body.operations):
        if program.symbol(op) != _INNER:
            module.body.append(op.operation.clone())
    module.operation.verify()
