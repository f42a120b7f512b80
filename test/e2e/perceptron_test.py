"""A perceptron trained data parallel on 4 ranks has the losses of one process: before and after planning, in i64 to the last
bit (and equal to plain Python), in f32 to one part in 10^5 over 20 steps; on shared memory and on an emulated RoCE cluster. A mean that is not taken and a gradient that one
rank forgets are found out."""
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile

from harness import CLUSTERS, check, expect, main
from perceptron import BATCH, HIDDEN, INPUTS, OUTPUTS, RATE_BITS, WEIGHT_BITS, program

BIN = os.environ.get("BRAID_BIN") or os.path.dirname(shutil.which("braid-run") or "build/bin/braid-run")
STEPS = 20
BOUND = 1e-5
WORK = tempfile.TemporaryDirectory(prefix="braid-perceptron-")


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, f"{' '.join(command[:3])}: status {done.returncode}\n{done.stderr}")
    return done.stdout


class Data:
    """Weights, inputs and targets of the whole batch; targets come from another perceptron, so that there is something to
    learn."""

    def __init__(self, kind):
        draw = random.Random(7)

        def number(most, unit):
            value = draw.uniform(-most, most)
            return value if kind == "f32" else round(value * unit)
        self.kind = kind
        self.code = "f" if kind == "f32" else "q"
        self.w1 = [number(0.5, 1 << WEIGHT_BITS) for _ in range(INPUTS * HIDDEN)]
        self.w2 = [number(0.5, 1 << WEIGHT_BITS) for _ in range(HIDDEN * OUTPUTS)]
        self.x = [number(1.0, 8) for _ in range(BATCH * INPUTS)]
        other1 = [number(0.5, 1 << WEIGHT_BITS) for _ in range(INPUTS * HIDDEN)]
        other2 = [number(0.5, 1 << WEIGHT_BITS) for _ in range(HIDDEN * OUTPUTS)]
        hidden = relu(product(self.x, other1, BATCH, INPUTS, HIDDEN), kind)
        self.y = product(hidden, other2, BATCH, HIDDEN, OUTPUTS)

    def write(self, ranks):
        """One file for each argument and rank; returns braid-run's options."""
        options = []
        for index, (values, share) in enumerate(((self.w1, 1), (self.w2, 1), (self.x, ranks), (self.y, ranks))):
            pattern = os.path.join(WORK.name, f"{self.kind}-{ranks}-{index}-%r")
            size = len(values) // share
            for rank in range(ranks):
                part = values[:] if share == 1 else values[rank * size:(rank + 1) * size]
                with open(pattern.replace("%r", str(rank)), "wb") as file:
                    file.write(struct.pack(f"<{len(part)}{self.code}", *part))
            options += ["--arg", f"{index}=file:{pattern}"]
        return options


def product(a, b, m, k, n):
    return [sum(a[i * k + p] * b[p * n + j] for p in range(k)) for i in range(m) for j in range(n)]


def relu(values, kind="i64"):
    return [max(value, 0) if kind == "f32" else max(value, 0) >> WEIGHT_BITS for value in values]


def transposed(a, m, n):
    return [a[i * n + j] for j in range(n) for i in range(m)]


def python_losses(data):
    """The i64 program in plain Python, whole batch at once."""
    w1, w2, losses = data.w1, data.w2, []
    for _ in range(STEPS):
        before = product(data.x, w1, BATCH, INPUTS, HIDDEN)
        hidden = relu(before)
        difference = [p - y for p, y in zip(product(hidden, w2, BATCH, HIDDEN, OUTPUTS), data.y)]
        losses.append(sum(d * d for d in difference))
        gradient2 = product(transposed(hidden, BATCH, HIDDEN), difference, HIDDEN, BATCH, OUTPUTS)
        back = product(difference, transposed(w2, HIDDEN, OUTPUTS), BATCH, OUTPUTS, HIDDEN)
        through = [g >> WEIGHT_BITS if v > 0 else 0 for g, v in zip(back, before)]
        gradient1 = product(transposed(data.x, BATCH, INPUTS), through, INPUTS, BATCH, HIDDEN)
        w1 = [w - (g >> RATE_BITS) for w, g in zip(w1, gradient1)]
        w2 = [w - (g >> RATE_BITS) for w, g in zip(w2, gradient2)]
    return losses


def losses(ranks, kind, broken=None, passes=None, holds=(), options=()):
    """The loss of each step, from braid-run, after `passes` of braid-opt, whose output has to hold some words."""
    text = program(ranks, kind, broken)
    if passes:
        text = run(os.path.join(BIN, "braid-opt"), passes, text=text)
        for word in holds:
            expect(word in text, f"{passes}: expected {word} in\n{text}")
    path = os.path.join(WORK.name, f"{kind}-{ranks}-{broken}-{bool(passes)}.mlir")
    with open(path, "w") as file:
        file.write(text)
    printed = run(os.path.join(BIN, "braid-run"), path, "-n", str(ranks), "--steps", str(STEPS), "--carry", "0:0,1:1",
                  *Data(kind).write(ranks), *options)
    found = re.findall(r"step (\d+) result 2: (\S+)", printed)
    expect([int(step) for step, _ in found] == list(range(STEPS)), f"expected a loss for each step, got\n{printed}")
    return [(float if kind == "f32" else int)(loss) for _, loss in found]


def furthest(one, other):
    return max(abs(a - b) / max(abs(a), 1e-30) for a, b in zip(one, other))


@check
def integers_are_exact():
    alone = losses(1, "i64")
    expect(alone == python_losses(Data("i64")), "one process and plain Python differ")
    expect(alone[-1] < alone[0], f"expected a loss that falls, got {alone}")
    for ranks in (2, 4):
        expect(losses(ranks, "i64") == alone, f"{ranks} ranks and one process differ")


@check
def floats_are_within_the_bound():
    alone, four = losses(1, "f32"), losses(4, "f32")
    print(f"    loss of one process {alone[0]:.6f} ... {alone[-1]:.6f}, of 4 ranks {four[0]:.6f} ... {four[-1]:.6f}, "
          f"furthest apart {furthest(alone, four):.1e}")
    expect(alone[-1] < 0.5 * alone[0], f"expected a loss that falls by half, got {alone}")
    expect(furthest(alone, four) <= BOUND, f"expected losses within {BOUND}, got\n{alone}\n{four}")


PLACEMENT = "0:0,1:0,2:0,3:0"


@check
def planning_changes_nothing():
    # The same program, two plans: buckets in flight, or all tensors in one bucket.
    for name, policy, sign in (("h100-ib-ndr-4x2", "braid", "braid.start"), ("h100-roce-4x2", "one-bucket", ":3 = braid.all_reduce")):
        plan = (f"--braid-plan=cluster={os.path.join(CLUSTERS, name + '.yaml')} placement={PLACEMENT} engine=braid "
                f"target=braid policy={policy}")
        holds = ("#braid.plan<engine = braid", sign)
        expect(losses(4, "i64", passes=plan) == losses(1, "i64"), f"planned for {name}: integers differ")
        apart = furthest(losses(1, "f32"), losses(4, "f32", passes=plan, holds=holds))
        print(f"    planned for {name}: furthest apart {apart:.1e}")
        expect(apart <= BOUND, f"planned for {name}: expected losses within {BOUND}, got {apart}")


@check
def collectives_in_flight_change_nothing():
    passes = "--braid-overlap-collectives"
    expect(losses(4, "i64", passes=passes, holds=("braid.start", "braid.wait")) == losses(1, "i64"), "integers differ")
    apart = furthest(losses(1, "f32"), losses(4, "f32", passes=passes))
    expect(apart <= BOUND, f"expected losses within {BOUND}, got {apart}")


@check
def on_the_emulated_cluster():
    """Four ranks on four hosts of an emulated RoCE cluster: before planning and after."""
    cluster, profile = os.path.join(CLUSTERS, "h100-roce-4x2.yaml"), os.path.join(WORK.name, "roce.json")
    run(os.path.join(BIN, "braid-sim"), "emit-profile", "--cluster", cluster, "--placement", PLACEMENT, "-o", profile)
    options = ("--transport", "emulated+shm", "--profile", profile, "--seed", "5")
    plan = f"--braid-plan=cluster={cluster} placement={PLACEMENT} engine=braid target=braid"
    for passes in (None, plan):
        expect(losses(4, "i64", passes=passes, options=options) == losses(1, "i64"), "integers differ")
        apart = furthest(losses(1, "f32"), losses(4, "f32", passes=passes, options=options))
        print(f"    {'after' if passes else 'before'} planning: furthest apart {apart:.1e}")
        expect(apart <= BOUND, f"expected losses within {BOUND}, got {apart}")


@check
def a_wrong_mean_and_a_lost_gradient_are_found():
    """The controls: the same comparison fails."""
    for broken in ("sum", "rank"):
        apart = furthest(losses(1, "f32"), losses(4, "f32", broken=broken))
        print(f"    {broken}: furthest apart {apart:.1e}")
        expect(apart > 100 * BOUND, f"{broken}: expected losses that differ, got {apart}")
    expect(losses(4, "i64", broken="rank") != losses(1, "i64"), "rank: expected other integers")


main(__file__)
