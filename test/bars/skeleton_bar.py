"""Skeletons: what the model predicts beside what the emulated fabric does, for the bars."""
import json
import tempfile
from pathlib import Path

import bar

PROGRAMS = ["mlp_dp8", "gpt_dp8", "llama_fsdp8", "moe_ep8", "resnet_dp8", "auto_gpt_dp4_tp2"]
FABRICS = {"infiniband": "h100-ib-ndr-4x2", "roce": "h100-roce-4x2"}
BEFORE, AFTER = "xla-30mib", "braid"


def quantile(times, q):
    return sorted(times)[int(q * (len(times) - 1) + 0.5)]


class Skeleton:
    """A program's skeleton on a cluster, in a folder of its own."""

    def __init__(self, folder, program, fabric, broken=None):
        self.name, self.folder, self.cluster = f"{program} on {fabric}", Path(folder), bar.cluster(FABRICS[fabric])
        self.file, self.profile = self.folder / "skeleton.json", self.folder / "fabric.json"
        self.program = bar.data(program + ".mlir")
        bar.must(bar.tool("braid-sim"), "emit-profile", "--cluster", self.cluster, "-o", self.profile)
        bar.must(bar.tool("braid-skeleton"), self.program, "--cluster", self.cluster, "-o", self.file)
        if broken:
            content = json.loads(self.file.read_text())
            broken(content)
            self.file.write_text(json.dumps(content))

    def predicted(self, jobs, steps, first_job=0):
        """Policy -> (its step times, its time without noise), of the cost model: it has seen no message."""
        out = self.folder / "prediction.json"
        bar.must(bar.tool("braid-skeleton"), self.program, "--cluster", self.cluster, "-o", "/dev/null", "--predict", out,
                 "--jobs", jobs, "--steps", steps, "--first-job", first_job)
        return {p["policy"]: (p["steps_s"], p["no_noise_s"]) for p in json.loads(out.read_text())["predictions"]}

    def measured(self, jobs, steps, first_job=0, clock="virtual"):
        """Policy -> its step times on the emulated fabric, which has seen no prediction."""
        out = self.folder / "measured.json"
        bar.must(bar.tool("braid-run-skeleton"), self.file, "--profile", self.profile, "--jobs", jobs, "--steps", steps,
                 "--first-job", first_job, "--clock", clock, "--json", out, timeout=3000)
        return {run["policy"]: run["steps_s"] for run in json.loads(out.read_text())["runs"]}


def compare_medians(skeleton, steps, limit, clock="virtual", job=0):
    """Steps of one job, the same draws for it on both sides. Returns (largest deviation, difference of the gains)."""
    predicted = {p: quantile(t, 0.5) for p, (t, _) in skeleton.predicted(1, max(steps, 1000), job).items()}
    measured = {p: quantile(t, 0.5) for p, t in skeleton.measured(1, steps, job, clock).items()}
    deviations = {p: measured[p] / predicted[p] - 1 for p in (BEFORE, AFTER)}
    for policy, deviation in deviations.items():
        if abs(deviation) > limit:
            bar.fail(f"{skeleton.name}, {policy}, {clock} clock: expected a median of {predicted[policy] * 1e6:.1f} us within "
                     f"{limit:.0%}, got {measured[policy] * 1e6:.1f} us ({deviation:+.1%})")
    gains = [times[BEFORE] / times[AFTER] - 1 for times in (predicted, measured)]
    if abs(gains[0] - gains[1]) > 0.05:
        bar.fail(f"{skeleton.name}, {clock} clock: expected a gain of {gains[0]:.1%} within 5 points, got {gains[1]:.1%}")
    return max(abs(d) for d in deviations.values()), gains[1] - gains[0]


def compare_tails(skeleton, jobs, model="distribution"):
    """Jobs of one step each, all draws fresh and other jobs than the model's: 93 to 97 % lie below the predicted p95."""
    predicted, measured = skeleton.predicted(4 * jobs, 1), skeleton.measured(jobs, 1, first_job=1_000_000)
    shares = []
    for policy in (BEFORE, AFTER):
        times, quiet = predicted[policy]
        limit = quantile(times, 0.95) if model == "distribution" else sum(times) / len(times)
        shares.append(sum(t <= limit for t in measured[policy]) / jobs)
        if not 0.93 <= shares[-1] <= 0.97:
            bar.fail(f"{skeleton.name}, {policy}: expected 93 to 97 % of {jobs} jobs below the predicted p95 of "
                     f"{limit * 1e6:.1f} us, got {shares[-1]:.1%}")
    return shares


def larger_messages(content):
    """A broken skeleton: its collectives carry more than the program's."""
    for schedule in content["schedules"]:
        for collective in schedule["collectives"]:
            collective["bytes"] *= 4


def in_folder(function):
    with tempfile.TemporaryDirectory(prefix="braid-skeleton-") as folder:
        return function(folder)
