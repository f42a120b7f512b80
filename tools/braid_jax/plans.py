"""The collectives of a planned program that is still in the braid dialect (target=braid): what an export has to have.

jaxlib does not know that dialect; its context takes the generic text with unknown operations and leaves their attributes
as text, which is read here.
"""
from collections import Counter
import math
import re

from . import groups as notation
from . import program
from .collectives import COMPOSITION, Collective, canonical
from .errors import BraidJaxError

_KINDS = {"braid.all_reduce": "all_reduce", "braid.all_gather": "all_gather", "braid.reduce_scatter": "reduce_scatter",
          "braid.all_to_all": "all_to_all", "braid.permute": "collective_permute", "braid.broadcast": "collective_broadcast"}


def _rows(text, devices):
    """Rows of a groups attribute of the braid dialect: lists, iota, or mesh axes. No rows: all devices in one."""
    numbers = lambda t: [int(n) for n in re.findall(r"-?\d+", t)]
    if text.startswith("#braid.iota<"):
        return notation.of_hlo(re.sub(r"\s", "", text.removeprefix("#braid.iota<").removesuffix(">").replace(" from ", "<=")))
    if text.startswith("#braid.groups<"):
        rows = [numbers(row) for row in re.findall(r"\[([-\d, ]+)\]", text)]
        return rows or [list(range(devices))]
    if m := re.fullmatch(r"#braid\.mesh_axes<\[(.*?)\], axes = \[(.*?)\](?:, device_ids = (.*))?>", text):
        axes = [(a, int(n)) for a, n in re.findall(r'"([^"]+)" = (\d+)', m[1])]
        used = [(a, (int(p), int(n)) if p else None) for a, p, n in re.findall(r'"([^"]+)"(?::\((\d+)\)(\d+))?', m[2])]
        order = None
        if m[3]:
            order = sum(_rows(m[3], devices), []) if m[3].startswith("#braid.iota") else numbers(m[3])
        return notation.of_mesh_axes(axes, used, order)
    raise BraidJaxError(f"groups of a planned program: expected #braid.groups, #braid.iota or #braid.mesh_axes, got {text[:80]}")


def planned_collectives(text, devices, what="the planned program"):
    """The collectives of a program in the braid dialect, each operation once; those left in StableHLO too."""
    from jaxlib.mlir import ir
    from .collectives import KINDS
    found = []

    def visit(op):
        kind = _KINDS.get(op.name) or (op.name.removeprefix("stablehlo.") if op.name.removeprefix("stablehlo.") in KINDS else None)
        if kind is None:
            return ir.WalkResult.ADVANCE
        if kind == "collective_permute":
            spelled = str(op.attributes["pairs" if op.name.startswith("braid.") else "source_target_pairs"])
            rows = [[int(a), int(b)] for a, b in re.findall(r"\[(\d+), (\d+)\]", spelled)]
        elif op.name.startswith("braid."):
            rows = _rows(str(op.attributes["groups"]), devices)
        else:
            rows = [[int(n) for n in re.findall(r"\d+", row)] for row in re.findall(r"\[([\d, ]+)\]", str(op.attributes["replica_groups"]))]
        elements = Counter()  # by type
        for result in op.results:
            of = ir.RankedTensorType(result.type)
            elements[str(of.element_type)] += math.prod(of.shape)
        if "plan" in op.attributes and COMPOSITION in str(op.attributes["plan"]):
            for total in elements.values():  # each rank has a share of whole elements in between
                share = -(-total // len(rows[0]))
                found.append(Collective("reduce_scatter", canonical("reduce_scatter", rows), share))
                found.append(Collective("all_gather", canonical("all_gather", rows), share * len(rows[0])))
        else:
            found.append(Collective(kind, canonical(kind, rows), elements.total()))
        return ir.WalkResult.ADVANCE

    with program.context() as ctx, ir.Location.unknown():
        ctx.allow_unregistered_dialects = True
        program.parse(text, what).operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
