"""Edits of StableHLO programs for tests: a bucket made by hand, and exports that are broken in one way each.

A broken export is what a faulty planner or exporter would write: it parses, compiles and runs, and must be found out.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools"))

import numpy as np

from braid_jax import program


class NoPlace(Exception):
    """The program has nothing that this edit could be applied to."""


def edited(text, edit):
    """The generic text of a program after edit(module)."""
    from jaxlib.mlir import ir
    with program.context(), ir.Location.unknown():
        module = program.parse(text)
        edit(module)
        module.operation.verify()
        return program.generic_text(module)


def operations(module, name):
    from jaxlib.mlir import ir
    found = []

    def visit(op):
        if op.name == "stablehlo." + name:
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


# ---------------------------------------------------------------- a bucket, made by hand
def bucket_all_reduces(text, count):
    """The last `count` float all_reduces that lie in one block over equal groups, none dependent on another, become one:
    reshaped, concatenated, reduced, sliced, reshaped."""
    return edited(text, lambda module: _bucket(module, count))


def _bucket(module, count):
    from jaxlib.mlir import ir
    blocks = {}
    for op in operations(module, "all_reduce"):
        if len(op.operands) == 1 and str(ir.RankedTensorType(op.operands[0].type).element_type) == "f32":
            blocks.setdefault((str(op.parent.name), str(op.attributes["replica_groups"])), []).append(op)
    for members in blocks.values():
        members = members[-count:]
        if len(members) == count:
            return _merge(members)
    raise NoPlace(f"no {count} all_reduces over the same groups")


def _merge(members):
    from jaxlib.mlir import ir
    create = ir.Operation.create
    first = members[0]
    f32 = ir.F32Type.get()
    types = [ir.RankedTensorType(op.operands[0].type) for op in members]
    sizes = [int(np.prod(t.shape)) for t in types]
    flat = [ir.RankedTensorType.get([n], f32) for n in sizes]
    whole = ir.RankedTensorType.get([sum(sizes)], f32)
    integers = lambda *values: ir.DenseI64ArrayAttr.get(values)
    with ir.InsertionPoint(first):
        parts = [create("stablehlo.reshape", [t], [op.operands[0]]).results[0] for op, t in zip(members, flat)]
        dimension = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
        joined = create("stablehlo.concatenate", [whole], parts, {"dimension": dimension}).results[0]
        attributes = {a: first.attributes[a] for a in first.attributes}
        reduced = create("stablehlo.all_reduce", [whole], [joined], attributes, regions=1)
        first.regions[0].blocks[0].append_to(reduced.regions[0])
        start = 0
        for op, size, part, kind in zip(members, sizes, flat, types):
            sliced = create("stablehlo.slice", [part], [reduced.results[0]], {"start_indices": integers(start), "limit_indices": integers(start + size),
                                                                             "strides": integers(1)}).results[0]
            op.results[0].replace_all_uses_with(create("stablehlo.reshape", [kind], [sliced]).results[0])
            start += size
    for op in members:
        op.erase()


# ---------------------------------------------------------------- broken exports
def wrong_group(text):
    """One all_reduce runs over halves of its groups (or, where groups are pairs, over other pairs)."""
    def edit(module):
        from jaxlib.mlir import ir
        for op in sorted(operations(module, "all_reduce"), key=_elements, reverse=True):
            rows = np.array(ir.DenseIntElementsAttr(op.attributes["replica_groups"]))
            if rows.shape[1] % 2 == 0 and rows.shape[1] > 2:
                rows = rows.reshape(rows.shape[0] * 2, -1)
            elif rows.shape[0] > 1:
                rows = np.concatenate([rows[:, :1], np.roll(rows[:, 1:], 1, axis=0)], axis=1)
            else:
                continue
            op.attributes["replica_groups"] = ir.Attribute.parse(f"dense<{rows.tolist()}> : tensor<{rows.shape[0]}x{rows.shape[1]}xi64>")
            return
        raise NoPlace("no all_reduce over more than one pair")
    return edited(text, edit)


def _elements(op):
    from jaxlib.mlir import ir
    return sum(int(np.prod(ir.RankedTensorType(r.type).shape)) for r in op.results)


def _source(value):
    """Through reshapes to the operation that made a value, or None for an argument of a block."""
    from jaxlib.mlir import ir
    owner = value.owner
    while isinstance(owner, ir.Operation) or hasattr(owner, "operation"):
        op = owner.operation if hasattr(owner, "operation") else owner
        if op.name != "stablehlo.reshape":
            return op
        owner = op.operands[0].owner
    return None


def _results_of(op):
    """The values that stand for the result of an all_reduce outside: of its asynchronous wrapper, if it has one."""
    parent = op.parent
    if parent.name == "stablehlo.async_start":
        return [use.owner.results[0] for use in parent.results[0].uses]
    return [op.results[0]]


def _bucket_parts(op):
    """Of an all_reduce over a concatenation: (what went in, the value with the same part of the result) for each part."""
    from jaxlib.mlir import ir
    start = op.operands[0]
    if op.parent.name == "stablehlo.async_start":
        start = op.parent.operands[0]
    joined = _source(start)
    if joined is None or joined.name != "stablehlo.concatenate":
        return []
    slices = {}
    for value in _results_of(op):
        for use in value.uses:
            user = use.owner
            user = user.operation if hasattr(user, "operation") else user
            if user.name == "stablehlo.slice":
                slices[int(ir.DenseI64ArrayAttr(user.attributes["start_indices"])[0])] = user.results[0]
    parts, at = [], 0
    for operand in joined.operands:
        if at in slices and slices[at].type == operand.type:
            parts.append((operand, slices[at]))
        at += ir.RankedTensorType(operand.type).shape[0]
    return parts


def dropped_operand(text):
    """One operand never takes part: what should have been its reduced value is its own."""
    def edit(module):
        for op in sorted(operations(module, "all_reduce"), key=_elements, reverse=True):
            for operand, result in _bucket_parts(op):
                result.replace_all_uses_with(operand)
                return
        for op in sorted(operations(module, "all_reduce"), key=_elements, reverse=True):
            if op.parent.name != "stablehlo.async_start" and len(op.operands) == 1:
                op.results[0].replace_all_uses_with(op.operands[0])
                return
        raise NoPlace("no all_reduce")
    return edited(text, edit)


def swapped_results(text):
    """Two results of the same type change places: of one bucket, or of two all_reduces."""
    from jaxlib.mlir import ir

    def in_bucket(module):
        for op in operations(module, "all_reduce"):
            slices = [result.owner for _, result in _bucket_parts(op)]
            for i, a in enumerate(slices):
                for b in slices[i + 1:]:
                    if a.results[0].type == b.results[0].type:
                        for name in ("start_indices", "limit_indices"):
                            a.attributes[name], b.attributes[name] = b.attributes[name], a.attributes[name]
                        return
        raise NoPlace("no bucket with two results of one type")

    def of_two(skip):
        """Exchange what goes in, which exchanges what comes out; an operand may be defined too late for that."""
        def edit(module):
            left, ops = skip, [op for op in operations(module, "all_reduce") if op.parent.name != "stablehlo.async_start"]
            for i, a in enumerate(ops):
                for b in ops[i + 1:]:
                    if a.operands[0].type == b.operands[0].type and a.attributes["replica_groups"] == b.attributes["replica_groups"]:
                        if not left:
                            a.operands[0], b.operands[0] = b.operands[0], a.operands[0]
                            return
                        left -= 1
            raise NoPlace("no two results of one type")
        return edit

    try:
        return edited(text, in_bucket)
    except NoPlace:
        pass
    skip = 0
    while True:
        try:
            return edited(text, of_two(skip))
        except ir.MLIRError:
            skip += 1


def longer_chain(text):
    """Not wrong, but slow: a collective waits for an independent one at the end of the longest chain. Values stay the same."""
    def edit(module):
        from jaxlib.mlir import ir
        from braid_jax import numbering
        ops = operations(module, "all_reduce")
        levels = [level for level, _ in numbering.levels_of(module, 8)]
        if len(levels) != len(ops):
            raise NoPlace("other collectives than all_reduces, or equal ones")
        for last, other in ((a, b) for i, a in enumerate(ops) for b in ops[i + 1:] if levels[i] == max(levels)):
            kind = other.operands[0].type
            if last.results[0].type == kind:
                with ir.InsertionPoint(other):
                    zero = ir.Operation.create("stablehlo.subtract", [kind], [last.results[0]] * 2).results[0]
                    other.operands[0] = ir.Operation.create("stablehlo.add", [kind], [other.operands[0], zero]).results[0]
                return
        raise NoPlace("no two all_reduces of one type")
    return edited(text, edit)


BROKEN = {"a wrong group": wrong_group, "a dropped operand": dropped_operand, "swapped results": swapped_results}
