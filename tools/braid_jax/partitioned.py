"""Programs that XLA partitions (jax.jit with shardings): the per-device program right after the partitioner.

`lower()` of such a program has no collectives yet; XLA adds them at compile time. Here the program is compiled with the
HLO dump of the partitioning pass on, for this one compilation, and the dumped module is turned back into StableHLO.
"""
import glob
import os
import tempfile

from .errors import BraidJaxError
from . import groups, program


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def _first_field(message):
    """Field 1 of a protocol buffer message: in an HloProto, the module. Fields of other kinds than bytes are skipped."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        if tag & 7 == 2:
            size, at = _varint(message, at)
            if tag >> 3 == 1:
                return message[at:at + size]
            at += size
        elif tag & 7 == 0:
            _, at = _varint(message, at)
        else:
            at += 8 if tag & 7 == 1 else 4
    raise BraidJaxError("dump of XLA's partitioner: expected an HloProto, got something else")


def _compile_with_dump(lowered):
    """The module after spmd-partitioning as the bytes of an HloModuleProto."""
    from jax._src import config
    with tempfile.TemporaryDirectory(prefix="braid-jax-") as folder:
        # A program found in jax's persistent cache is not compiled, so nothing would be dumped.
        with config.enable_compilation_cache(False):
            lowered.compile(compiler_options={"xla_dump_to": folder, "xla_dump_hlo_pass_re": "spmd-partitioning",
                                              "xla_dump_hlo_as_proto": True})
        found = glob.glob(os.path.join(folder, "*.after_spmd-partitioning.*.hlo.pb"))
        if len(found) != 1:
            raise BraidJaxError(f"XLA's partitioner: expected one dumped module after it, got {len(found)}; the program must be jitted for "
                                "more than one device, and XLA_FLAGS must not set --xla_dump_to or --xla_dump_hlo_module_re")
        with open(found[0], "rb") as file:
            return _first_field(file.read())


def _drop_copies(module):
    """HLO's copies, which the partitioner adds, mean nothing in SSA form; StableHLO has no operation for them."""
    from jaxlib.mlir import ir
    copies = []

    def visit(op):
        if op.name == "mhlo.copy":
            copies.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for op in copies:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.erase()


def _drop_unused_functions(module):
    """Bodies of loops and reductions are regions in StableHLO, and their functions stay behind, called by nobody."""
    reached = program.reached_functions(module)
    for name, function in program.functions(module).items():
        if name not in reached:
            function.operation.erase()


def per_device_module(lowered, devices, keep_device_order=True):
    """A StableHLO module (in the current context) of what one device runs, with the collectives of XLA's partitioner.

    Groups that HLO writes as axes of a mesh may carry a device order, which the conversion to StableHLO loses: the text
    then names wrong groups. So they are written as lists while they are still HLO. keep_device_order=False leaves that
    out; it exists so that tests can show the difference.
    """
    from jax._src.lib import _jax
    from jaxlib import _hlo
    from jaxlib.mlir import ir
    proto = _compile_with_dump(lowered)
    module = _hlo.HloModule.from_serialized_hlo_module_proto(proto)
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True  # the default prints `constant({...})`, which would be read back as other numbers
    text = module.to_string(options)
    if keep_device_order and "replica_groups=mesh" in text:
        proto = _hlo.hlo_module_from_text(groups.hlo_text_with_lists(text)).as_serialized_hlo_module_proto()
    stablehlo = ir.Module.parse(_jax.mlir.hlo_to_stablehlo(proto))
    converted = program.parse(program.generic_text(stablehlo, locations=True), "XLA's partitioner")
    _drop_copies(converted)
    _drop_unused_functions(converted)
    integer = ir.IntegerType.get_signless(32)
    converted.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(integer, devices)
    converted.operation.attributes["mhlo.num_replicas"] = ir.IntegerAttr.get(integer, 1)
    return converted
