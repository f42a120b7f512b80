"""StableHLO programs as jaxlib's MLIR modules: reading, naming what can't be read, printing in generic form."""
from dataclasses import dataclass
import os
import re

from .errors import BraidJaxError
from .groups import stablehlo_text_with_lists

# What braid-opt reads: the generic form of the operations, where each name is quoted.
_GENERIC = re.compile(r'"(?:builtin\.module|func\.func|stablehlo\.\w+)"\s*\(')


def read(path):
    """The bytes of a program file as text, or as bytes if it is MLIR bytecode."""
    if not os.path.isfile(path):
        raise BraidJaxError(f"{path}: no such file")
    with open(path, "rb") as file:
        data = file.read()
    if not data.strip():
        raise BraidJaxError(f"{path}: expected a StableHLO program, the file is empty")
    if data[:4] == b"ML\xefR":
        return data
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BraidJaxError(f"{path}: expected StableHLO text or MLIR bytecode, got neither") from None


def is_generic(text):
    return isinstance(text, str) and bool(_GENERIC.search(text))


def context():
    from jax._src.interpreters import mlir
    return mlir.make_ir_context()


def parse(text, what="the program"):
    """A module in the current context; groups over mesh axes become lists first (groups.py says why)."""
    from jaxlib.mlir import ir
    try:
        module = ir.Module.parse(stablehlo_text_with_lists(text) if isinstance(text, str) else text)
        module.operation.verify()
    except ir.MLIRError as error:
        raise BraidJaxError(f"{what}: jaxlib can't read it as StableHLO: {str(error).strip()}") from None
    return module


def generic_text(module, locations=False):
    return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=locations) + "\n"


def to_generic(data, what="the program", locations=False):
    """Generic text of a program in any spelling that jaxlib reads: pretty text, bytecode, a portable artifact."""
    from jaxlib.mlir import ir
    with context() as ctx, ir.Location.unknown():
        if isinstance(data, bytes):
            from jaxlib.mlir.dialects import stablehlo
            try:
                module = stablehlo.deserialize_portable_artifact(ctx, data)
            except Exception:  # not a portable artifact: plain bytecode
                module = parse(data, what)
        else:
            module = parse(data, what)
        return generic_text(module, locations)


def symbol(op):
    from jaxlib.mlir import ir
    return ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else None


def functions(module):
    return {symbol(op): op for op in module.body.operations if op.operation.name == "func.func"}


def reached_functions(module):
    """The names of the functions that main reaches, itself included; all of them in a module without main."""
    from jaxlib.mlir import ir
    known, reached = functions(module), set()
    new = {"main"} if "main" in known else set(known)

    def visit(op):
        for attribute in op.attributes.values():
            if isinstance(attribute, ir.FlatSymbolRefAttr):
                new.add(attribute.value)
        return ir.WalkResult.ADVANCE

    while new - reached:
        name = (new - reached).pop()
        reached.add(name)
        if name in known:
            known[name].operation.walk(visit)
    return reached & set(known)


def main_of(module, what="the program"):
    found = functions(module)
    if "main" not in found:
        raise BraidJaxError(f"{what}: expected a function @main, got {sorted(found) or 'no functions'}")
    return found["main"]


@dataclass(frozen=True)
class TensorSpec:
    """Shape and element type of an argument or a result, as written: (8, 16) and "f32"."""
    shape: tuple
    kind: str

    @classmethod
    def of(cls, mlir_type, what="the program"):
        from jaxlib.mlir import ir
        try:
            tensor = ir.RankedTensorType(mlir_type)
        except ValueError:
            raise BraidJaxError(f"{what}: arguments and results must be ranked tensors, got {mlir_type}") from None
        if not tensor.has_static_shape:
            raise BraidJaxError(f"{what}: a dynamic dimension in {mlir_type}; JAX runs static shapes only")
        return cls(tuple(tensor.shape), str(tensor.element_type))

    def __str__(self):
        return "tensor<" + "".join(f"{n}x" for n in self.shape) + self.kind + ">"


def signature(function, what="the program"):
    """(specs of the arguments, specs of the results) of a func.func."""
    return [TensorSpec.of(t, what) for t in function.type.inputs], [TensorSpec.of(t, what) for t in function.type.results]


def is_manual(module):
    """Whether the program is written for all devices at once, with its per-device part in sdy.manual_computation."""
    found = False

    def visit(op):
        nonlocal found
        from jaxlib.mlir import ir
        found |= op.name == "sdy.manual_computation"
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def _bytes(mlir_type):
    spec = TensorSpec.of(mlir_type)
    size = 1
    for n in spec.shape:
        size *= n
    complex_parts = 2 if spec.kind.startswith("complex<") else 1
    bits = re.search(r"\d+", spec.kind)
    return size * complex_parts * max(int(bits[0]) // 8, 1)


@dataclass(frozen=True)
class CollectiveOp:
    """One collective operation as a text has it, before anything is merged or dropped."""
    kind: str
    operand_bytes: int
    result_bytes: int
    group_size: int  # the largest; 0 for a permute


def collective_ops(text, what="the program"):
    """The collective operations of a text that main reaches, each once, in the order of the text."""
    from jaxlib.mlir import ir
    from .collectives import KINDS
    found = []

    def visit(op):
        kind = op.name.removeprefix("stablehlo.")
        if kind in KINDS:
            size = 0 if kind == "collective_permute" else ir.RankedTensorType(op.attributes["replica_groups"].type).shape[1]
            found.append(CollectiveOp(kind, sum(_bytes(v.type) for v in op.operands), sum(_bytes(v.type) for v in op.results), size))
        return ir.WalkResult.ADVANCE

    with context(), ir.Location.unknown():
        module = parse(text, what)
        reached = reached_functions(module)
        for name, function in functions(module).items():
            if name in reached:
                function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
