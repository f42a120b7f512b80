#!/usr/bin/env python3
"""Models through the whole tool: export, plan with braid-opt, load, call.

Each model goes through the default pipeline, and through fusion and overlap alone (which fuse and start early whether it pays
or not). The loaded callable gives the results and shardings of the original, and what XLA compiled of it has the collectives
of the planned text.
"""
import os
import subprocess

from harness import CLUSTERS, check, expect, main, values_for
import braid_jax

braid_jax.use_host_devices(8)
import models  # noqa: E402
from braid_jax import collectives, numbering, planning, program, running  # noqa: E402

CLUSTER = os.path.join(CLUSTERS, "h100-ib-ndr-1x8.yaml")
TOLERANCE = 2e-6


def fused_and_overlapped(text):
    done = subprocess.run([planning.find_braid_opt(), "--braid-import", "--braid-fuse-collectives", "--braid-overlap-collectives", "--braid-export",
                           "--mlir-print-op-generic"], input=text, capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr[-500:])
    return done.stdout


def kept_by(text):
    """The collectives of a text that XLA must keep."""
    from jaxlib.mlir import ir
    with program.context(), ir.Location.unknown():
        return numbering.collectives_of(program.parse(text), models.DEVICES)


def through_the_tool(name):
    def run():
        jitted, shapes = models.PROGRAMS[name]()
        text, values = braid_jax.export(jitted, *shapes), values_for(shapes)
        said = [collectives.summary(kept_by(text))]
        for changed in (braid_jax.plan(text, cluster=CLUSTER, engine="nccl"), fused_and_overlapped(text)):
            loaded = braid_jax.load(changed, like=(jitted, shapes)).lower(*shapes).compile(compiler_options=running.KEEP_COLLECTIVES)
            compiled = collectives.of_compiled(loaded.runtime_executable().hlo_modules()[0].to_string(), models.DEVICES)
            lines = collectives.difference(kept_by(changed), compiled)
            expect(not lines, f"compiled HLO against the planned text: {lines[:3]}")
            report = braid_jax.compare_callables(jitted, loaded, values, rtol=TOLERANCE)
            expect(report, report)
            said.append(f"{collectives.summary(compiled)} ({'bitwise' if not report.moved else f'{report.worst:.0e}'})")
        return " -> ".join(said)
    run.__name__ = name
    return check(run)


@check
def a_training_loop_with_its_gathers_under_the_next_forward():
    """Five steps in one program, whose weights are gathered at the end of a step: the plan gathers them in the next trip, and nothing
    changes to the last bit."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, PartitionSpec as P

    def step(ws, x):
        def trip(_, ws):
            first = jnp.tanh(x @ ws[0])
            second = jnp.tanh(first @ ws[1])
            shards = [jax.lax.psum_scatter(g, "data", scatter_dimension=0, tiled=True) for g in (x.T @ first, first.T @ second)]
            rows = shards[0].shape[0]
            mine = [jax.lax.dynamic_slice_in_dim(w, jax.lax.axis_index("data") * rows, rows, 0) for w in ws]
            return tuple(jax.lax.all_gather(w - 0.001 * s, "data", axis=0, tiled=True) for w, s in zip(mine, shards))
        return jax.lax.fori_loop(0, 5, trip, ws)

    mesh = Mesh(jax.devices(), ("data",))
    jitted = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False))
    shapes = ((models.shape(64, 64), models.shape(64, 64)), models.shape(128, 64))
    text, values = braid_jax.export(jitted, *shapes), values_for(shapes)
    changed = braid_jax.plan(text, cluster=CLUSTER, engine="nccl", loops="pipeline")
    def in_main(program):  # from the loop on; as JAX writes it, the body is a call of a function
        return program.split('"stablehlo.while"')[1].split("sdy.return", 1)[0].count("stablehlo.all_gather")
    expect(in_main(text) == 0 and in_main(changed) >= 2, f"expected gathers in the loop and behind it, got {in_main(changed)}")
    loaded = braid_jax.load(changed, like=(jitted, shapes)).lower(*shapes).compile(compiler_options=running.KEEP_COLLECTIVES)
    report = braid_jax.compare_callables(jitted, loaded, values, rtol=TOLERANCE)
    expect(report and not report.moved, report)


for name in models.PROGRAMS:
    through_the_tool(name)

main(__file__)
