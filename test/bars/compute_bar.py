"""Programs with real computation on the emulated fabric's wall clock, for bars that compare a run with its prediction.

The emulated wall clock stretches the fabric's time until its shortest latency is 10 ms; real computation is never stretched. So the
fabric's latency is 10 ms to begin with: the factor is 1 (checked), and a second is a second for both.
"""
import itertools
import json
import re
import statistics
from pathlib import Path

import bar
import layers

LATENCY = 10e-3

CLUSTER = """\
name: cores
hosts: {ranks}
devices_per_host: 1
nics_per_host: 1
device:
  name: a core of this machine
  assumption: the compute profile says how long operations take
  peak: {{f32: "10 GFLOP/s"}}
  matmul_efficiency: 1
  memory_bandwidth: "10 GB/s"
  memory_efficiency: 1
  memory: "4 GB"
  launch: "0 us"
  reduction: "10 GB/s"
intra: {{name: memory, bandwidth: "10 GB/s", latency: "10 ms", profile: {{fabric: quiet}}}}
inter: {{name: slow, bandwidth: "{bandwidth:.0f} B/s", latency: "10 ms", profile: {{fabric: quiet}}}}
topology: {{builder: single_switch}}
nccl: {{bus_bandwidth_intra: "10 GB/s", bus_bandwidth_inter: "1 GB/s", architecture: hopper, cpu: other, channels: 1}}
"""


class Workplace:
    """A perceptron (layers.py) of `layers` layers on `ranks` ranks, in a folder: its program, its plans and their runs."""

    def __init__(self, folder, layers, width, ranks=2):
        self.folder, self.layers, self.width, self.ranks = Path(folder), layers, width, ranks
        self.cluster = self.folder / "cluster.yaml"

    def programs(self, batch):
        for name, parts in (("unplanned", {}), ("computation", {"communicate": False}), ("communication", {"compute": False})):
            (self.folder / f"{name}.mlir").write_text(layers.program(self.ranks, self.layers, batch, self.width, **parts))

    def fabric(self, bandwidth):
        self.cluster.write_text(CLUSTER.format(ranks=self.ranks, bandwidth=bandwidth))
        bar.must(bar.tool("braid-sim"), "emit-profile", "--cluster", self.cluster, "-o", self.folder / "fabric.json")

    def plan(self, profile="unplanned.json", policy="braid", name="planned"):
        bar.must(bar.tool("braid-opt"), self.folder / "unplanned.mlir", "-o", self.folder / f"{name}.mlir",
                 f"--braid-plan=cluster={self.cluster} engine=braid target=braid policy={policy} "
                 f"compute-profile={self.folder / profile}")

    def predicted(self, profile):
        """Policy -> p50 of a step, in seconds."""
        done = bar.must(bar.tool("braid-sim"), "compare", self.folder / "unplanned.mlir", "--cluster", self.cluster, "--engine",
                        "braid", "--compute-profile", self.folder / profile, "--format", "json")
        return {row["name"]: row["p50_s"] for row in json.loads(done.stdout)["policies"]}

    def run(self, name, steps, record=True):
        """Seconds of a step, and of its computation, recorded in NAME.json; medians over steps but the first."""
        profile, compiled = self.folder / f"{name}.json", self.folder / f"{name}.so"
        source = self.folder / f"{name}.mlir"
        if not compiled.exists() or compiled.stat().st_mtime < source.stat().st_mtime:
            bar.must(bar.tool("braid-run"), source, "--emit-shared", compiled, "--marks")
        done = bar.must(bar.tool("braid-run"), compiled, "-n", self.ranks, "--steps", steps, "--elements", 1, "--time", "--transport",
                        "emulated+shm", "--profile", self.folder / "fabric.json",
                        *(["--record-profile", profile, "--warm-up", 1] if record else []))
        if not re.search(r"time stretched 1-fold", done.stderr):
            bar.fail(f"expected an emulated clock with the factor 1, got: {done.stderr.strip()[:200]}")
        step = float(re.search(r"median step: (\S+) s", done.stdout)[1])
        return step, float(json.loads(profile.read_text())["computation_per_step"].split()[0]) * 1e-6 if record else 0.0

    def product(self, seconds):
        """Makes the programs with the batch for which a product of matrices takes so long here; returns the batch. A layer has
        three: one forward, two backward."""
        batch = 256
        self.programs(batch)
        self.fabric(1e9)
        taken = min(self.run("computation", 4)[1] for _ in range(3)) / (3 * self.layers)
        batch = max(16, round(batch * seconds / taken / 16) * 16)
        self.programs(batch)
        return batch


class Turn:
    """What ran within seconds of each other: a profile recorded under the program as it is written, the steps predicted from it,
    and the steps of what was planned. `found`: policy -> (predicted, measured) p50 of a step."""

    def __init__(self, place, policies, steps, broken, alone):
        self.alone = [alone or place.run("computation", steps)[0]]
        self.wire = place.run("communication", steps, record=False)[0]
        place.run("unplanned", steps)
        if broken:
            broken(place.folder / "unplanned.json")
        predicted = place.predicted("unplanned.json")
        self.found = {}
        for policy in policies:
            if not (place.folder / f"{policy}.mlir").exists():
                place.plan(policy=policy, name=policy)
            self.found[policy] = predicted[policy], place.run(policy, steps, record=False)[0]
        self.alone.append(place.run("computation", steps)[0])

    def __str__(self):
        return f"computation alone {self.alone[0] * 1e3:.0f} and {self.alone[1] * 1e3:.0f} ms, communication alone " \
               f"{self.wire * 1e3:.0f} ms; " + ", ".join(f"{policy} {m * 1e3:.0f} ms (predicted {p * 1e3:.0f})"
                                                         for policy, (p, m) in self.found.items())


def quiet_turns(place, policies, price, wanted, most, broken):
    """Turns in which the machine was as fast at the end as at the start: computation alone took as long before as after, within 10 %,
    and communication alone 12 % more than its price at most (the emulated fabric's times are sleeps; that prices are right is
    checked without a clock by `emulated`). A turn records its own profile, so one that is slow from start to end counts. Skips where
    there are not enough."""
    turns = []
    for number in range(most):
        turns.append(Turn(place, policies, 6, broken, turns[-1].alone[1] if turns else None))
        print(f"turn {number + 1}: {turns[-1]}", flush=True)
        quiet = [turn for turn in turns if max(turn.alone) <= 1.10 * min(turn.alone) and turn.wire <= 1.12 * price]
        if len(quiet) == wanted:
            return quiet
    bar.skip(f"{len(quiet)} of {most} turns were quiet, {wanted} are needed: other work is on this machine; the last one: {turns[-1]}")


def real_compute(place, policies, wire, wanted=3, most=16, broken=None, product=10e-3, limit=0.15, apart=0.10):
    """Whether predictions from a recorded profile hold; a collective takes `wire` times as long as a product of matrices."""
    batch = place.product(product)
    place.fabric(place.width ** 2 * 4 / place.ranks / max(wire * product - LATENCY, 1e-4))
    turns = quiet_turns(place, policies, 3 * place.layers * wire * product, wanted, most, broken)
    middle = lambda of: statistics.median(map(of, turns))
    predicted, measured, off = ({policy: middle(of(policy)) for policy in policies} for of in (
        lambda policy: lambda turn: turn.found[policy][0], lambda policy: lambda turn: turn.found[policy][1],
        lambda policy: lambda turn: turn.found[policy][1] / turn.found[policy][0] - 1))
    figure = f"batch {batch}, " + ", ".join(f"{policy} {measured[policy] * 1e3:.0f} ms ({off[policy]:+.1%} of the prediction)"
                                           for policy in policies)
    pairs = [(one, other) for one, other in itertools.combinations(policies, 2)
             if abs(predicted[one] / predicted[other] - 1) >= apart]
    wrong = [f"{one} against {other}" for one, other in pairs
             if (predicted[one] < predicted[other]) != (measured[one] < measured[other])]
    if not pairs:
        bar.fail(f"expected predictions that differ by {apart:.0%}: {figure}")
    if wrong or max(map(abs, off.values())) > limit:
        bar.fail(f"expected p50 within {limit:.0%} and the faster one named: {figure}" + "".join(f"; wrong: {w}" for w in wrong))
    return f"{figure}; {len(pairs)} of {len(pairs)} named right"


def doubled(profile):
    """A broken profile: every time twice as long."""
    content = json.loads(profile.read_text())
    for operation in content["operations"].values():
        operation["median"] = f"{2 * float(operation['median'].split()[0])} us"
    profile.write_text(json.dumps(content))


def of_another_program(profile):
    content = json.loads(profile.read_text())
    content["program"] = "0" * 16
    profile.write_text(json.dumps(content))
