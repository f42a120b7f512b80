"""export: a jitted function as generic-form StableHLO whose collectives can be seen."""
import functools
import os
import re

from . import partitioned, program
from .errors import BraidJaxError

# Outside of a manual computation, an explicit program may do these: nothing that XLA's partitioner would have to split.
_HARMLESS = {"sdy.manual_computation", "sdy.mesh", "func.func", "func.return", "func.call", "stablehlo.constant", "stablehlo.reshape",
             "stablehlo.custom_call"}


def lower(jitted, args):
    """The lowered program of a jitted function, or of a pmap (which is one in disguise)."""
    if not hasattr(jitted, "lower"):
        raise BraidJaxError(f"export: expected a jitted function (jax.jit, jax.pmap), got {type(jitted).__name__}")
    _hide_own_lines()
    return as_jit(jitted).lower(*args)


@functools.cache
def _hide_own_lines():
    """Locations name lines of the user's program: not of this package, nor of what runs it as a command (python -m)."""
    from jax._src import source_info_util
    source_info_util.register_exclusion(os.path.dirname(os.path.abspath(__file__)) + os.sep)
    source_info_util.register_exclusion("<frozen runpy>")


def as_jit(function):
    import jax
    return function if hasattr(function, "trace") else jax.jit(function)


def device_count(lowered):
    text = lowered.compiler_ir("stablehlo").operation.attributes
    return int(re.match(r"\d+", str(text["mhlo.num_partitions"]))[0]) if "mhlo.num_partitions" in text else 1


def is_explicit(module):
    """Whether every collective that the program will have is written already.

    True for shard_map over all axes of the mesh; false if anything with a shape happens outside the manual part, or if
    some axis was left to the partitioner.
    """
    from jaxlib.mlir import ir
    meshes = {program.symbol(op): dict(re.findall(r'"([^"]+)"=(\d+)', str(op.attributes["mesh"])))
              for op in module.body.operations if op.operation.name == "sdy.mesh"}
    explicit, manual = True, False

    def visit(op):
        nonlocal explicit, manual
        if op.name == "sdy.manual_computation":
            manual = True
            wanted = {a for axes in meshes.values() for a, n in axes.items() if int(n) > 1}
            explicit &= wanted <= set(re.findall(r'"([^"]+)"', str(op.attributes["manual_axes"])))
            return ir.WalkResult.SKIP
        return ir.WalkResult.ADVANCE

    def shaped_work(function, seen):
        """Whether a function works on arrays outside of manual computations, itself or in what it calls."""
        for op in function.regions[0].blocks[0].operations:
            op = op.operation
            if op.name == "func.call":
                callee = str(op.attributes["callee"]).strip('@"')
                if callee not in seen and shaped_work(functions[callee], seen | {callee}):
                    return True
            elif op.name not in _HARMLESS and any(program.TensorSpec.of(v.type).shape for v in [*op.operands, *op.results]):
                return True
        return False

    functions = program.functions(module)
    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return manual and explicit and not shaped_work(functions["main"], {"main"})


def export(jitted, *args, path=None, partitioner="auto", locations=False, keep_device_order=True):
    """Generic-form StableHLO of `jitted` for arguments (arrays or jax.ShapeDtypeStructs), also written to `path` if given.

    partitioner: "auto" runs XLA's partitioner if the program leaves collectives to it (jit with shardings), "always" and
    "never" say so. What comes out then is a per-device program; `load` knows how to put it back.
    """
    if partitioner not in ("auto", "always", "never"):
        raise BraidJaxError(f"partitioner: expected auto, always or never, got {partitioner}")
    lowered = lower(jitted, args)
    from jaxlib.mlir import ir
    with program.context(), ir.Location.unknown():
        module = program.parse(program.generic_text(lowered.compiler_ir("stablehlo"), locations), "the lowered program")
        devices = device_count(lowered)
        if devices > 1 and (partitioner == "always" or (partitioner == "auto" and not is_explicit(module))):
            module = partitioned.per_device_module(lowered, devices, keep_device_order)
        text = program.generic_text(module, locations)
    if path is not None:
        part = f"{os.fspath(path)}.part{os.getpid()}"
        with open(part, "w") as file:
            file.write(text)
        os.replace(part, path)
    return text
