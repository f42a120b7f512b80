#!/usr/bin/env python3
"""Layers under jax.lax.scan whose weights are sharded and gathered layer by layer (FSDP), as JAX writes them: the plan gathers the next
layer's weights beside the present one's computation, and sends the last one's gradients beside the next; results stay the same to
the last bit, and the step is predicted to be shorter."""
import json
import os
import subprocess
import tempfile

from harness import CLUSTERS, check, expect, main, values_for
import braid_jax

braid_jax.use_host_devices(8)
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402
import models  # noqa: E402
from braid_jax import planning, running  # noqa: E402

CLUSTER = os.path.join(CLUSTERS, "h100-ib-ndr-4x2.yaml")


def forward(shards, x):
    def layer(x, shard):
        up, down = (jax.lax.all_gather(s, "data", axis=0, tiled=True) for s in shard)
        return x + jnp.tanh(x @ up) @ down, None
    return jax.lax.scan(layer, x, shards)[0]


def training(shards, x):
    loss, gradients = jax.value_and_grad(lambda shards: jnp.mean(forward(shards, x) ** 2))(shards)
    return jax.tree.map(lambda s, g: s - 0.1 * g, shards, gradients), jax.lax.pmean(loss, "data")


def scanned(step, layers, width, batch):
    stacks, rows = P(None, "data"), P("data")
    outs = rows if step is forward else ((stacks, stacks), P())
    f = models.manual(step, models.mesh(data=8), ((stacks, stacks), rows), outs)
    return f, ((models.shape(layers, width, 2 * width), models.shape(layers, 2 * width, width)), models.shape(8 * batch, width))


def planned_alike(step, loops, ahead):
    jitted, shapes = scanned(step, layers=5, width=64, batch=4)
    text, values = braid_jax.export(jitted, *shapes), values_for(shapes)
    changed = braid_jax.plan(text, cluster=CLUSTER, engine="nccl", loops=loops)
    in_front = changed.split('"stablehlo.while"')[0].count("stablehlo.all_gather")
    expect((in_front > 0) == ahead, f"expected gathers in front of the first loop: {ahead}, got {in_front}")
    loaded = braid_jax.load(changed, like=(jitted, shapes)).lower(*shapes).compile(compiler_options=running.KEEP_COLLECTIVES)
    report = braid_jax.compare_callables(jitted, loaded, values, rtol=2e-6)
    expect(report and not report.moved, report)


@check
def forward_passes_are_the_same():
    planned_alike(forward, "pipeline", ahead=True)
    planned_alike(forward, "keep", ahead=False)


@check
def training_steps_are_the_same():
    planned_alike(training, "pipeline", ahead=True)


def compared(text, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        sim = os.path.join(os.path.dirname(planning.find_braid_opt()), "braid-sim")
        done = subprocess.run([sim, "compare", file.name, "--cluster", CLUSTER, "--format", "json", *options], capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr[-500:])
    report = json.loads(done.stdout)
    return report, report["policies"][-1]


@check
def the_step_is_shorter_and_holds_more():
    """Both layers' weights are alive at once. Without room for them, the loop stays, or fewer run ahead."""
    jitted, shapes = scanned(forward, layers=24, width=4096, batch=4096)
    text = braid_jax.export(jitted, *shapes)
    kept, before = compared(text, "--loops", "keep", "--budget", "1s")
    report, after = compared(text, "--budget", "1s")
    said = f"{before['objective_s'] * 1e3:.2f} ms before, {after['objective_s'] * 1e3:.2f} ms after"
    expect("a trip ahead" in after["rule"], f"expected gathers a trip ahead, got {after['rule']}, {said}")
    expect(after["objective_s"] < 0.95 * before["objective_s"], f"expected 5 % less, got {said}")
    expect(after["peak_bytes"] > before["peak_bytes"], f"expected a higher peak, got {before['peak_bytes']} and {after['peak_bytes']}")
    room = before["peak_bytes"] + 4096
    _, within = compared(text, "--budget", "1s", "--memory-limit", f"{room}B")
    expect(within["peak_bytes"] <= room, f"expected at most {room} bytes, got {within['peak_bytes']}")
    expect(within["objective_s"] >= after["objective_s"], f"expected no less with less memory, got {within['objective_s']}")
    return said


main(__file__)
