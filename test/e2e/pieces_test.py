#!/usr/bin/env python3
"""Collectives of models cut into pieces, and the computation around them, give what the models give in JAX.

Every collective that can be is cut, whether it pays or not, in a number of pieces that divides few sizes. Integers are bitwise equal
(split_test.py, on the runtime); XLA's sums of floats are within the tolerance of planned programs.
"""
import subprocess

from harness import check, expect, main, values_for
import braid_jax

braid_jax.use_host_devices(8)
import models  # noqa: E402
from braid_jax import planning, running  # noqa: E402

TOLERANCE = 2e-6
PROGRAMS = ("mlp", "fsdp", "experts", "auto_fsdp")


def cut(text, options):
    """The program with its collectives in three pieces, and how many collectives it had before and after."""
    found = []
    for passes in (["--braid-import"], ["--braid-import", f"--braid-split-collectives=pieces=3 {options}"],
                   ["--braid-import", f"--braid-split-collectives=pieces=3 {options}", "--braid-export"]):
        done = subprocess.run([planning.find_braid_opt(), *passes, "--mlir-print-op-generic"], input=text, capture_output=True, text=True)
        expect(done.returncode == 0, done.stderr[-500:])
        found.append(done.stdout)
    return found[2], *(sum(each.count(f'"braid.{kind}"') for kind in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"))
                       for each in found[:2])


def in_pieces(name):
    def run():
        jitted, shapes = models.PROGRAMS[name]()
        text, values = braid_jax.export(jitted, *shapes), values_for(shapes)
        said = []
        for options in ("", "pipeline"):
            changed, before, after = cut(text, options)
            expect(after >= 2 * before - 12, f"expected most of {before} collectives in three, got {after}")
            loaded = braid_jax.load(changed, like=(jitted, shapes)).lower(*shapes).compile(compiler_options=running.KEEP_COLLECTIVES)
            report = braid_jax.compare_callables(jitted, loaded, values, rtol=TOLERANCE)
            expect(report, report)
            said.append(f"{before} -> {after} collectives ({'bitwise' if not report.moved else f'{report.worst:.0e}'})")
        return "; ".join(said)
    run.__name__ = name
    return check(run)


for name in PROGRAMS:
    in_pieces(name)

main(__file__)
