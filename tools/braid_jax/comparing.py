"""Two programs compared in JAX: their results, and the collectives that XLA really compiled.

Values alone prove little: XLA's CPU compiler merges collectives of its own, so a plan that did nothing, or an export that
dropped it, gives the same numbers. Hence the second half: kind, groups, number and elements of the collectives in the
compiled HLO must be those of the program's text.
"""
from collections import Counter
from dataclasses import dataclass, field
import json
import math
import time

import numpy as np

from . import collectives, program, running
from .devices import devices_named_in
from .errors import BraidJaxError

AGREE, DIFFER, NO_ORACLE = 0, 1, 2


def default_tolerance(dtype):
    """Of |a - b| relative to the largest |a| of an output."""
    return 2e-2 if dtype.itemsize <= 2 else 2e-5 if dtype in (np.float32, np.complex64) else 1e-12


@dataclass
class Report:
    """What a comparison found. `problems` empty: they agree."""
    outputs: int = 0
    parts: int = 0          # outputs x devices
    bitwise: int = 0        # parts that are equal bit by bit
    moved: int = 0          # parts that are not, within the tolerance or beyond
    worst: float = 0.0      # the largest relative difference
    problems: list = field(default_factory=list)
    not_an_oracle: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    @property
    def status(self):
        return NO_ORACLE if self.not_an_oracle else DIFFER if self.problems else AGREE

    def __bool__(self):
        return self.status == AGREE

    def lines(self):
        verdict = {AGREE: "agree", DIFFER: "differ", NO_ORACLE: "no oracle"}[self.status]
        values = (f"{verdict}: {self.outputs} outputs, {self.parts} parts, {self.bitwise} bitwise equal, "
                  f"{self.moved} not (worst relative difference {self.worst:.1e})")
        return [*self.notes, *self.not_an_oracle, *self.problems, values]

    def __str__(self):
        return "\n".join(self.lines())


def _relative_difference(a, b):
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = np.isfinite(a)
    if not (finite == np.isfinite(b)).all() or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return math.inf
    if not finite.any():
        return 0.0
    return float(np.max(np.abs(a - b), where=finite, initial=0.0) / max(np.max(np.abs(a), where=finite, initial=0.0), 1e-30))


def judge(report, original, changed, rtol=None, expect_bitwise=False):
    """Compare outputs, [output][part] of numpy arrays, into the report."""
    report.outputs = len(original)
    if len(original) != len(changed):
        report.problems.append(f"outputs: expected {len(original)}, got {len(changed)}")
    for i, (parts, others) in enumerate(zip(original, changed)):
        for d, (a, b) in enumerate(zip(parts, others)):
            report.parts += 1
            where = f"output {i} on device {d}"
            if a.shape != b.shape or a.dtype != b.dtype:
                report.problems.append(f"{where}: expected {a.dtype}{list(a.shape)}, got {b.dtype}{list(b.shape)}")
            elif a.tobytes() == b.tobytes():
                report.bitwise += 1
            else:
                report.moved += 1
                if a.dtype.kind in "iub":
                    report.worst = math.inf
                    report.problems.append(f"{where}: {int((a != b).sum())} of {a.size} integers differ")
                    continue
                error = _relative_difference(a, b)
                report.worst = max(report.worst, error)
                allowed = default_tolerance(a.dtype) if rtol is None else rtol
                if math.isinf(error):
                    report.problems.append(f"{where}: not finite in different places")
                elif error > allowed:
                    report.problems.append(f"{where}: relative difference {error:.1e}, expected at most {allowed:.0e}")
                elif expect_bitwise:
                    report.problems.append(f"{where}: relative difference {error:.1e}, expected equal bits")
    return report


def check_oracle(report, first, again):
    """The original must repeat itself and compute something, or nothing can be judged by it."""
    for i, (parts, others) in enumerate(zip(first, again)):
        for d, (a, b) in enumerate(zip(parts, others)):
            if a.tobytes() != b.tobytes():
                report.not_an_oracle.append(f"output {i} on device {d}: the original gives different bits on two runs")
        if parts[0].dtype.kind not in "iubSV" and all(p.size and not np.isfinite(p.astype(np.complex128)).any() for p in parts):
            report.not_an_oracle.append(f"output {i}: nothing finite in the original, this input tells nothing")


def check_compiled(report, executable, what):
    """What XLA compiled against what the text says."""
    lines = collectives.difference(executable.written, executable.compiled)
    report.notes.append(f"{what}: text {collectives.summary(executable.written)}; compiled {collectives.summary(executable.compiled)}")
    report.problems += [f"{what}, compiled HLO against its text: {line}" for line in lines]


_PLAN_KIND = {"permute": "collective_permute", "broadcast": "collective_broadcast"}


def check_plan(report, plan, text, what):
    """The collectives of a plan (the JSON of `braid-sim compare`, or its "plan" list) against those that a text has."""
    entries = plan["plan"] if isinstance(plan, dict) else plan
    wanted, composed = Counter(), []
    for entry in entries:
        kind = _PLAN_KIND.get(entry["kind"], entry["kind"])
        size = int(entry["bytes"]), 0 if kind == "collective_permute" else int(entry["group_size"])
        if entry.get("algorithm") == collectives.COMPOSITION:
            composed.append(size)
        else:
            wanted[kind, *size] += 1
    found = Counter((c.kind, c.operand_bytes, c.group_size) for c in program.collective_ops(text, what))
    for size, ranks in composed:  # the element type, which the padding depends on, is the text's
        halves = next(((("reduce_scatter", b, ranks), ("all_gather", b // ranks, ranks)) for kind, b, group in sorted(found)
                       if kind == "reduce_scatter" and group == ranks and b % ranks == 0 and size <= b < size + 16 * ranks),
                      ((collectives.COMPOSITION, size, ranks),))
        wanted.update(halves)
    say = lambda key: f"{key[0]} of {key[1]} bytes in groups of {key[2]}"
    report.problems += [f"{what} against the plan: {n} x {say(k)}: planned, not found" for k, n in sorted((wanted - found).items())]
    report.problems += [f"{what} against the plan: {n} x {say(k)}: found, not planned" for k, n in sorted((found - wanted).items())]


def _timed(say, what, action, *arguments):
    """Says what begins, and how long it took: XLA compiles large programs for minutes."""
    say(what)
    begin = time.monotonic()
    result = action(*arguments)
    say(f"{what}: done in {time.monotonic() - begin:.1f} s")
    return result


def compare(original, changed, *, seed=0, rtol=None, expect_bitwise=False, plan=None, names=("original", "changed"), devices=None,
            say=lambda text: None):
    """Run two StableHLO programs (text or bytecode) on host devices with the same random inputs; returns a Report.

    Each output is compared on each device; the original runs twice. rtol: relative to the largest value of an output
    (default by type). plan: what `braid-sim compare --format=json` printed, as a dict or a path. The original may also be
    what running.compile_text made of it, for several comparisons with one program. say: is called with a sentence on each stage as
    it begins and ends.
    """
    report = Report()
    first = original
    if not isinstance(original, running.Executable):
        first = _timed(say, f"{names[0]}: XLA compiles it", running.compile_text, original, names[0], devices)
    named = devices_named_in(changed) if isinstance(changed, str) else 1
    if not devices and named not in (1, len(first.devices)):  # XLA would say it with a stack trace
        raise BraidJaxError(f"{names[1]}: expected a program for {len(first.devices)} devices, as {names[0]} is, got one for {named}")
    second = _timed(say, f"{names[1]}: XLA compiles it", running.compile_text, changed, names[1], devices or len(first.devices))
    if first.arguments != second.arguments:
        one, two = ([str(s) for s in e.arguments] for e in (first, second))
        place = next((i for i, (a, b) in enumerate(zip(one, two)) if a != b), min(len(one), len(two)))
        raise BraidJaxError(f"different signatures: {names[0]} has {len(one)} arguments, {names[1]} has {len(two)}; argument {place} is "
                            f"{one[place] if place < len(one) else 'absent'} and {two[place] if place < len(two) else 'absent'}")
    check_compiled(report, first, names[0])
    check_compiled(report, second, names[1])
    if plan is not None:
        if isinstance(plan, str):
            plan = json.loads(program.read(plan))
        check_plan(report, plan, changed, names[1])
    arrays = running.random_inputs(first.arguments, seed, names[0])
    before = _timed(say, f"{names[0]}: runs on {len(first.devices)} host devices", first.run, arrays)
    check_oracle(report, before, _timed(say, f"{names[0]}: runs again, it must repeat itself", first.run, arrays))
    after = _timed(say, f"{names[1]}: runs with the same inputs", second.run, arrays)
    return judge(report, before, after, rtol, expect_bitwise)


def compare_callables(original, changed, args, *, rtol=None, expect_bitwise=False):
    """Call two functions with the same arguments and compare every leaf of their results, on every device, and its sharding."""
    import jax
    report = Report()
    one, again, two = original(*args), original(*args), changed(*args)
    trees = [jax.tree.structure(out) for out in (one, two)]
    if trees[0] != trees[1]:
        report.problems.append(f"result tree: expected {trees[0]}, got {trees[1]}")
    for i, (a, b) in enumerate(zip(jax.tree.leaves(one), jax.tree.leaves(two))):
        if not a.sharding.is_equivalent_to(b.sharding, a.ndim):
            report.problems.append(f"output {i}: expected sharding {a.sharding}, got {b.sharding}")
    parts = lambda out: [[np.asarray(s.data) for s in sorted(leaf.addressable_shards, key=lambda s: s.device.id)]
                         for leaf in jax.tree.leaves(out)]
    check_oracle(report, parts(one), parts(again))
    return judge(report, parts(one), parts(two), rtol, expect_bitwise)
