"""The collectives of a StableHLO module as XLA will keep them.

XLA inlines calls, drops optimization barriers on the CPU, drops what no result needs and what has no elements, may compute
what works on constants only (a psum of ones), and keeps one of several equal collectives (same kind, groups, channel and
operands). llama_fsdp8, which gathers each parameter again in the backward pass, has
56 all_gathers in its text and 29 when compiled, planned or not. To say what must be found in the compiled program, this
file numbers values: two values get the same number if the same operations on the same operands made them, where calls,
barriers and asynchronous wrappers are looked through.
"""
from dataclasses import replace
import math
import re

from . import program
from .collectives import KINDS, Collective, canonical, on_partitions
from .errors import BraidJaxError

_FOLDABLE = {"all_reduce", "reduce_scatter", "all_gather"}  # of a constant that is the same everywhere, XLA's simplifier makes a constant
_DEVICES_DIFFER = {"stablehlo.partition_id", "stablehlo.replica_id"}
_TERMINATORS = {"stablehlo.return", "func.return", "sdy.return"}
_LOOPS_AND_BRANCHES = {"stablehlo.while", "stablehlo.case", "stablehlo.if"}
_NEVER_EQUAL = {"stablehlo.rng", "stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send", "stablehlo.recv", "stablehlo.create_token"}
# Attributes that say nothing about the value.
_COSMETIC = re.compile(r"^(mhlo\.|sdy\.|jax\.|braid\.|xla|channel_handle$|use_global_device_ids$|replica_groups$)")


def _rows(attribute):
    """A 2-D dense integer attribute as lists."""
    import numpy as np
    from jaxlib.mlir import ir
    return np.array(ir.DenseIntElementsAttr(attribute)).tolist()


class _Numbering:
    def __init__(self, module, devices):
        self.functions, self.devices = program.functions(module), devices
        self.numbers, self.needs, self.constant, self.found = {}, [], [], {}

    def number(self, key, needs=(), varies=False):
        """The number of a value made in the way `key`; values of the same key are the same value. What is made from
        nothing that varies, between devices or calls, is constant."""
        if key not in self.numbers:
            self.numbers[key] = len(self.needs)
            self.needs.append(tuple(needs))
            self.constant.append(not varies and all(self.constant[n] for n in needs))
        return self.numbers[key]

    def unique(self, needs=(), varies=False):
        return self.number(("unique", len(self.needs)), needs, varies)

    def block(self, block, env):
        """Number a block's values; returns what its terminator passes on."""
        for op in block.operations:
            op = op.operation
            operands = tuple(env[v] for v in op.operands)
            if op.name in _TERMINATORS:
                return operands
            for value, number in zip(op.results, self.results(op, operands, env)):
                env[value] = number
        return ()

    def region(self, region, arguments, env):
        block = region.blocks[0]
        return self.block(block, {**env, **dict(zip(block.arguments, arguments))})

    def results(self, op, operands, env):
        name, count = op.name.removeprefix("stablehlo."), len(op.results)
        if name == "optimization_barrier":
            return operands
        if name in ("func.call", "call"):
            callee = str(op.attributes["callee"]).strip('@"')
            if callee not in self.functions:
                raise BraidJaxError(f"call of @{callee}: the module has no such function")
            return self.region(self.functions[callee].regions[0], operands, {})
        if op.name == "sdy.manual_computation":
            inside = [self.number(("part", v, i if operands.count(v) > 1 else 0), (v,)) for i, v in enumerate(operands)]
            return self.region(op.regions[0], inside, env)
        if name == "async_start":
            return self.region(op.regions[0], operands, env)
        if name == "async_done":
            return operands[:count]
        if name in KINDS:
            return self.collective(op, name, operands, env)
        if op.name in _LOOPS_AND_BRANCHES:
            return self.control(op, operands, env)
        if op.name in _NEVER_EQUAL or (name == "custom_call" and "has_side_effect = true" in str(op.attributes)):
            return [self.unique(operands, varies=True) for _ in range(count)]
        if name in ("reshape", "convert") and op.operands[0].type == op.results[0].type:
            return operands
        key = (op.name, self.attributes(op), tuple(str(r.type) for r in op.results), operands, self.regions(op, env))
        return [self.number((*key, i), operands, op.name in _DEVICES_DIFFER) for i in range(count)]

    def attributes(self, op):
        names = [n for n in sorted(a.name if hasattr(a, "name") else a for a in op.attributes) if not _COSMETIC.match(n)]
        try:
            return tuple((n, str(op.attributes[n])) for n in names)
        except TypeError:  # jaxlib's bindings have no class for complex constants; these have no operands, so their text will do
            return op.get_asm(print_generic_op_form=True).partition("=")[2]

    def regions(self, op, env):
        """Regions of reductions, sorts and the like, by what they compute from their arguments."""
        keys = []
        for depth, region in enumerate(op.regions):
            if len(region.blocks):
                arguments = [self.number(("argument", depth, i, str(a.type))) for i, a in enumerate(region.blocks[0].arguments)]
                keys.append(self.region(region, arguments, env))
        return tuple(keys)

    def control(self, op, operands, env):
        """Loops and branches: their bodies are numbered with fresh arguments, so nothing inside equals anything outside
        but what is made from outer values alone."""
        needs = list(operands)
        for region in op.regions:
            if len(region.blocks):
                arguments = [self.unique((v,)) for v in operands[:len(region.blocks[0].arguments)]]
                needs += self.region(region, arguments, env)
        return [self.unique(needs) for _ in op.results]

    def communication(self, op, kind):
        """The collective that an operation is, and its channel."""
        from jaxlib.mlir import ir
        handle = re.search(r"handle = (\d+)", str(op.attributes["channel_handle"])) if "channel_handle" in op.attributes else None
        channel = int(handle[1]) if handle else 0
        rows = _rows(op.attributes["source_target_pairs" if kind == "collective_permute" else "replica_groups"])
        rows = on_partitions(kind, rows, self.devices, bool(channel), "use_global_device_ids" in op.attributes)
        elements = sum(math.prod(ir.RankedTensorType(r.type).shape) for r in op.results)
        return Collective(kind, canonical(kind, rows), elements), channel

    def collective(self, op, kind, operands, env):
        collective, channel = self.communication(op, kind)  # XLA keeps equal collectives apart if their channels differ
        types = tuple(str(r.type) for r in op.results)
        key = (kind, collective.groups, channel, self.attributes(op), types, operands, self.regions(op, env))
        numbers = [self.number((*key, i), operands) for i in range(len(op.results))]
        if kind in _FOLDABLE and all(self.constant[v] for v in operands):
            collective = replace(collective, foldable=True)
        if collective.elements:
            for number in numbers:
                self.found[number] = (numbers[0], collective)
        return numbers

    def live(self, outputs):
        """The numbers that the outputs need."""
        seen, pending = set(), list(outputs)
        while pending:
            number = pending.pop()
            if number not in seen:
                seen.add(number)
                pending += self.needs[number]
        return seen


def _trace(module, devices):
    main = program.main_of(module)
    numbering = _Numbering(module, devices)
    arguments = [numbering.unique(varies=True) for _ in main.regions[0].blocks[0].arguments]
    return numbering, numbering.live(numbering.region(main.regions[0], arguments, {}))


def collectives_of(module, devices):
    """The collectives of a module that XLA must keep, each once."""
    numbering, live = _trace(module, devices)
    return list({first: c for number, (first, c) in numbering.found.items() if number in live}.values())


def levels_of(module, devices):
    """For each collective that must be kept: how many collectives, itself included, lie one after another on the longest
    chain of dependences up to it. Fusing and moving can't make a chain shorter; a plan that makes it longer has put
    independent collectives after each other."""
    numbering, live = _trace(module, devices)
    level = []
    for number, needs in enumerate(numbering.needs):  # numbers are given in order of definition, so needs come first
        level.append(max((level[n] for n in needs), default=0) + (number in numbering.found))
    firsts = {first: c for number, (first, c) in numbering.found.items() if number in live}
    return [(level[number], c) for number, c in firsts.items()]


def written_collectives(module, devices):
    """The collectives as the text has them: each operation once, nothing merged, nothing dropped."""
    from jaxlib.mlir import ir
    numbering, found = _Numbering(module, devices), []

    def visit(op):
        if op.name.removeprefix("stablehlo.") in KINDS:
            found.append(numbering.communication(op, op.name.removeprefix("stablehlo."))[0])
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
