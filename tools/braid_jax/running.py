"""Running a StableHLO text on host devices: no jitted function needed, only the text."""
from dataclasses import dataclass

import numpy as np

from . import collectives, program, wrapping
from .devices import devices_named_in, host_devices
from .errors import BraidJaxError

# XLA's CPU compiler merges every independent all_reduce into one, also across barriers; with that pass off the
# collectives stay as the program has them, and what was planned can be seen in what was compiled.
KEEP_COLLECTIVES = {"xla_disable_hlo_passes": "cpu-all-reduce-combiner"}


def numpy_type(kind, what="the program"):
    import ml_dtypes
    plain = dict(i1=np.bool_, bf16=ml_dtypes.bfloat16, f16=np.float16, f32=np.float32, f64=np.float64)
    if kind in plain:
        return np.dtype(plain[kind])
    if kind.startswith("f8") and hasattr(ml_dtypes, "float8_" + kind[2:].lower()):
        return np.dtype(getattr(ml_dtypes, "float8_" + kind[2:].lower()))
    if kind.startswith("complex<"):
        return np.dtype(np.complex64 if "f32" in kind else np.complex128)
    integer = kind.replace("ui", "uint").replace("i", "int", 1) if not kind.startswith("ui") else kind.replace("ui", "uint")
    try:
        return np.dtype(integer)
    except TypeError:
        raise BraidJaxError(f"{what}: no numpy type for elements of {kind}") from None


@dataclass
class Executable:
    """A compiled program: its arguments (global shapes), and what it communicates by its text and in compiled form."""
    loaded: object
    devices: list
    arguments: list
    written: list
    compiled: list

    def run(self, arrays):
        """Every output on every device: [output][device] -> numpy array."""
        import jax
        from jax._src.sharding_impls import GSPMDSharding
        given = self.loaded.get_parameter_shardings()
        shardings = [GSPMDSharding(tuple(self.devices), s) for s in given] if given else self.devices[:1] * len(arrays)
        placed = [jax.device_put(a, s) for a, s in zip(arrays, shardings)]
        outputs = self.loaded.execute_sharded(placed).disassemble_into_single_device_arrays()
        return [[np.asarray(part) for part in output] for output in outputs]


def compile_text(text, what="the program", devices=None):
    """Compile a StableHLO text for `devices` host devices (as many as it names, if not given)."""
    from jax._src import compiler, xla_bridge
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir
    from .numbering import collectives_of
    count = devices or devices_named_in(text if isinstance(text, str) else program.to_generic(text, what))
    chosen = host_devices(count)
    with program.context(), ir.Location.unknown():
        module = program.parse(text, what)
        main = program.main_of(module, what)
        written = collectives_of(module, count)
        if count > 1 and not program.is_manual(module):
            ins, outs = program.signature(main, what)
            wrapping.wrap(module, {"device": count}, [wrapping.stacked(s) for s in ins], [wrapping.stacked(s) for s in outs])
        module.operation.attributes["mhlo.num_replicas"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
        module.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count)
        arguments, _ = program.signature(program.main_of(module), what)
        options = compiler.get_compile_options(num_replicas=1, num_partitions=count, env_options_overrides=KEEP_COLLECTIVES,
                                               device_assignment=np.array([[d.id for d in chosen]]))
        options.executable_build_options.use_spmd_partitioning = True
        options.executable_build_options.use_shardy_partitioner = True
        try:
            loaded = xla_bridge.get_backend("cpu").compile_and_load(module, xla_client.DeviceList(tuple(chosen)), options)
        except Exception as error:  # jaxlib's own exception types: its sentence is the message
            raise BraidJaxError(f"{what}: XLA does not compile it: {str(error).strip()[:600]}") from None
    compiled = collectives.of_compiled(loaded.hlo_modules()[0].to_string(), count)
    return Executable(loaded, chosen, arguments, written, compiled)


def random_inputs(specs, seed, what="the program"):
    """The same arrays for the same seed: normal floats of size 0.3, integers from 0 to 7, booleans."""
    rng, arrays = np.random.default_rng(seed), []
    for spec in specs:
        kind = numpy_type(spec.kind, what)
        if kind == np.bool_:
            arrays.append(rng.integers(0, 2, spec.shape).astype(bool))
        elif kind.kind in "iu":
            arrays.append(rng.integers(0, 8, spec.shape).astype(kind))
        else:
            arrays.append((rng.standard_normal(spec.shape) * 0.3).astype(kind))
    return arrays
