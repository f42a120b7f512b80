"""load: a planned text as a callable with the trees and shardings of the function that it came from."""
import dataclasses

from . import exporting, program, wrapping
from .errors import BraidJaxError


def _axes_of(sharding, mesh, rank, what):
    """For each dimension, the mesh axes that split it."""
    from jax._src.sharding_impls import parse_flatten_op_sharding
    from jax.sharding import NamedSharding
    if isinstance(sharding, NamedSharding) and sharding.mesh == mesh:
        spec = sharding.spec
    else:  # another mesh over the same devices, or a sharding that XLA chose
        try:
            spec = parse_flatten_op_sharding(sharding._to_xla_hlo_sharding(rank), mesh)[0]
        except Exception:
            raise BraidJaxError(f"{what}: its sharding {sharding} can't be said in axes of the mesh {dict(mesh.shape)}") from None
    axes = [() if a is None else (a,) if isinstance(a, str) else tuple(a) for a in spec]
    return tuple(axes) + ((),) * (rank - len(axes))


def _mesh_of(shardings):
    from jax.sharding import NamedSharding
    meshes = [s.mesh for s in shardings if isinstance(s, NamedSharding)]
    if not meshes:
        raise BraidJaxError("load: none of the original's arguments and results has a NamedSharding, so there is no mesh to load onto")
    return max(meshes, key=lambda m: (m.size, len(m.shape)))


def _wrap_like(module, original, compiled, kept):
    """Put a per-device module back over the mesh, with the shardings that the original was compiled to."""
    import jax
    from jax.sharding import Sharding
    is_leaf = lambda s: s is None or isinstance(s, Sharding)
    given = jax.tree.leaves(compiled.input_shardings, is_leaf=is_leaf)
    made = jax.tree.leaves(compiled.output_shardings, is_leaf=is_leaf)
    given = [given[i] for i in kept]
    mesh = _mesh_of([*given, *made])
    ins, outs = program.signature(program.main_of(module, "the planned program"), "the planned program")
    whole_in, whole_out = program.signature(original, "the original")
    if (len(ins), len(outs)) != (len(whole_in), len(whole_out)):
        raise BraidJaxError(f"different signatures: the original has {len(whole_in)} arguments and {len(whole_out)} results, "
                            f"the planned program {len(ins)} and {len(outs)}")
    sizes = dict(mesh.shape)
    place = lambda what, local, shardings: [wrapping.Placement(t, _axes_of(s, mesh, len(t.shape), f"{what} {i}"))
                                            for i, (t, s) in enumerate(zip(local, shardings))]
    arguments, results = place("argument", ins, given), place("result", outs, made)
    for what, placements, whole in (("argument", arguments, whole_in), ("result", results, whole_out)):
        for i, (p, w) in enumerate(zip(placements, whole)):
            if p.whole(sizes) != w:
                raise BraidJaxError(f"different signatures: {what} {i} of the original is {w}, of the planned program on this mesh {p.whole(sizes)}")
    wrapping.wrap(module, sizes, arguments, results)


def _check_signature(module, original):
    for what, mine, theirs in zip(("argument", "result"), program.signature(program.main_of(module)), program.signature(original)):
        if mine != theirs:
            raise BraidJaxError(f"different signatures: the {what}s of the original are [{', '.join(map(str, theirs))}], "
                                f"of the planned program [{', '.join(map(str, mine))}]")


def load(text, like):
    """A jitted callable that runs `text` in the place of `like` = (jitted, args), from which `text` was exported.

    It takes and returns the same trees, and arrays of the same global shapes and shardings; arguments that the original
    donates are donated.
    """
    import jax
    from jax._src.export import _export
    from jaxlib.mlir import ir
    try:
        jitted, args = like
    except (TypeError, ValueError):
        raise BraidJaxError("load: like must be (jitted function, arguments)") from None
    jitted = exporting.as_jit(jitted)
    exported = jax.export.export(jitted)(*args)
    lowered = exporting.lower(jitted, args)
    compiled = lowered.compile()
    with program.context(), ir.Location.unknown():
        module = program.parse(text, "the planned program")
        originals = program.parse(exported.mlir_module(), "the original")
        original = program.main_of(originals, "the original")
        if exported.nr_devices == 1 or program.is_manual(module):
            _check_signature(module, original)
        else:
            _wrap_like(module, original, compiled, exported.module_kept_var_idx)
        try:
            changed = dataclasses.replace(exported, mlir_module_serialized=_export._module_to_bytecode(module))
        except jax.errors.JaxRuntimeError as error:
            raise BraidJaxError(f"the planned program: jax can't serialise it: {str(error).strip()[:600]}") from None
    donated = lowered.args_info[0]
    donated = [i for i, arg in enumerate(donated) if jax.tree.leaves(arg) and all(leaf.donated for leaf in jax.tree.leaves(arg))]
    return jax.jit(changed.call, in_shardings=compiled.input_shardings[0], out_shardings=compiled.output_shardings, donate_argnums=donated)
