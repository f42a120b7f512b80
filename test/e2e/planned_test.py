#!/usr/bin/env python3
"""Models through the whole tool: export, plan with braid-opt, load, call. The planned callable gives the results of the
original, has the collectives of its plan when compiled, and no more of them than before."""
import os

from harness import CLUSTERS, check, expect, main, values_for
import braid_jax

braid_jax.use_host_devices(8)
import models  # noqa: E402

CLUSTER = os.path.join(CLUSTERS, "h100-ib-ndr-1x8.yaml")
TOLERANCE = 2e-6


def through_the_tool(name):
    def run():
        jitted, shapes = models.PROGRAMS[name]()
        text = braid_jax.export(jitted, *shapes)
        planned = braid_jax.plan(text, cluster=CLUSTER, engine="nccl", target="stablehlo")
        report = braid_jax.compare(text, planned, rtol=TOLERANCE)
        expect(report, report)
        called = braid_jax.compare_callables(jitted, braid_jax.load(planned, like=(jitted, shapes)), values_for(shapes), rtol=TOLERANCE)
        expect(called, called)
        return f"{report.notes[0].split('compiled')[1].strip()} -> {report.notes[1].split('compiled')[1].strip()}; {called.lines()[-1]}"
    run.__name__ = name
    return check(run)


for name in models.PROGRAMS:
    through_the_tool(name)

main(__file__)
