"""What a program communicates, in one form for StableHLO and for compiled HLO: the unit that they are compared in."""
from collections import Counter
from dataclasses import dataclass, field
import re

from . import groups as notation

KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "collective_broadcast")

# The algorithm in a plan of an all_reduce that goes out as two collectives, padded so that each rank has a share of whole elements.
COMPOSITION = "reduce_scatter+all_gather"

# Kinds in which a device's place inside its group decides what it gets; in an all_reduce it does not.
_PLACE_MATTERS = {"all_gather", "reduce_scatter", "all_to_all", "collective_broadcast"}


@dataclass(frozen=True)
class Collective:
    """One collective: its kind, who takes part, and the elements of all its results on one device.

    foldable: it works on constants only, so XLA may compute its result instead of communicating.
    """
    kind: str
    groups: tuple
    elements: int
    foldable: bool = field(default=False, compare=False)

    def __str__(self):
        rows = [list(r) for r in self.groups]
        return f"{self.kind} of {self.elements} elements over {rows if len(rows) < 9 else f'{len(rows)} groups'}"


def canonical(kind, rows):
    """The order of the rows never matters, the order inside a row only for some kinds; -1 is padding."""
    rows = [[i for i in row if i >= 0] for row in rows]
    keep = kind in _PLACE_MATTERS or kind == "collective_permute"
    return tuple(sorted(tuple(row if keep else sorted(row)) for row in rows))


def on_partitions(kind, rows, devices, channel, global_ids):
    """Rows of partition ids, for a program of one replica and `devices` partitions.

    StableHLO and HLO say by the presence of a channel and of `use_global_device_ids` what the ids in the groups mean:
    flattened ids (with one replica: partitions), replicas across all partitions, or replicas of each partition alone.
    """
    partition_ids = global_ids or (channel and kind in ("all_to_all", "collective_permute", "collective_broadcast"))
    if kind == "collective_permute":
        return rows if partition_ids else []  # between replicas, of which there is one: nothing moves
    if not rows:
        rows = [list(range(devices))] if partition_ids else [[0]]
    if partition_ids:
        return rows
    return [list(range(devices))] if channel else [[p] for p in range(devices)]


def difference(expected, found):
    """Lines that say what is missing and what is too much; empty if both hold the same collectives. What is foldable may be missing."""
    optional = Counter(c for c in expected if c.foldable)
    expected, found = Counter(expected), Counter(found)
    lines = [f"{n} x {c}: expected, not found" for c, n in sorted((expected - found - optional).items(), key=str)]
    return lines + [f"{n} x {c}: found, not expected" for c, n in sorted((found - expected).items(), key=str)]


def summary(found):
    """Such as "30 all_gather, 2 all_reduce"."""
    kinds = Counter(c.kind for c in found)
    return ", ".join(f"{kinds[k]} {k}" for k in KINDS if kinds[k]) or "no collectives"


# ---------------------------------------------------------------- compiled HLO
_OPCODE = {k.replace("_", "-"): k for k in KINDS}
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = (\(.*?\)|\S+) ([a-z][a-z\-]*)\((.*)$")
_CALLEE = re.compile(r"\b(?:to_apply|calls|body|condition|true_computation|false_computation|branch_computations|called_computations)="
                     r"(\{[^}]*\}|%?[\w.\-]+)")


def _elements(hlo_type):
    total = 0
    for dims in re.findall(r"\b[a-z]\w*\[([\d,]*)\]", re.sub(r"/\*.*?\*/", "", hlo_type)):
        size = 1
        for n in filter(None, dims.split(",")):
            size *= int(n)
        total += size
    return total


def _collective(result, opcode, rest, devices):
    """The collective that an instruction is, or None. The start half of an asynchronous pair counts, its done half does not."""
    started = opcode.endswith("-start")
    kind = _OPCODE.get(opcode.removesuffix("-start"))
    if kind is None:
        return None
    elements = _elements(result)
    if started and kind in ("all_gather", "collective_permute"):  # their type is (operands, results, ...)
        parts = re.findall(r"\b[a-z]\w*\[[\d,]*\]", result)
        parts = [p for p in parts if not p.startswith("u32[]")]
        elements = sum(_elements(p) for p in parts[len(parts) // 2:])
    if kind == "collective_permute":
        pairs = re.search(r"source_target_pairs=\{((?:\{[\d,]+\},?)*)\}", rest)
        rows = notation.of_hlo("{" + pairs[1] + "}")
    else:
        found = re.search(notation.HLO_GROUPS, rest)
        rows = notation.of_hlo(found[1]) if found else []
    rows = on_partitions(kind, rows, devices, "channel_id=" in rest, "use_global_device_ids=true" in rest)
    return Collective(kind, canonical(kind, rows), elements)


def of_compiled(text, devices):
    """The collectives of an optimised HLO text, as often as their computations are called; a loop body counts once."""
    own, calls, entry, name = {}, {}, None, None
    for line in text.splitlines():
        if head := re.match(r"^(ENTRY )?%?([\w.\-]+) \(.*\{\s*$", line):
            name = head[2]
            own[name], calls[name] = [], []
            entry = name if head[1] else entry
        elif name and (m := _INSTRUCTION.match(line)):
            if c := _collective(m[1], m[2], m[3], devices):
                own[name].append(c)
            for callee in _CALLEE.findall(m[3]):
                calls[name] += re.findall(r"[\w.\-]+", callee)
    memo = {}

    def total(computation):
        if computation not in memo:
            memo[computation] = own.get(computation, []) + [c for callee in calls.get(computation, []) for c in total(callee)]
        return memo[computation]

    return total(entry)
