"""Skeletons: what the model predicts beside what the runtime does on the emulated fabric, for the bars."""
import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bar

PROGRAMS = ["mlp_dp8", "gpt_dp8", "llama_fsdp8", "moe_ep8", "resnet_dp8", "auto_gpt_dp4_tp2"]
FABRICS = {"infiniband": "h100-ib-ndr-4x2", "roce": "h100-roce-4x2"}
POLICIES = ("xla-30mib", "braid")  # before planning, after


def quantile(times, q):
    return sorted(times)[int(q * (len(times) - 1) + 0.5)]


class Skeleton:
    """A program's skeletons on a cluster, before planning and after, in a folder of its own. `made`: the program's file, if it is
    none of those in test/data; `stated`: what the cluster's file says beside what it has from the one that ships."""

    def __init__(self, folder, program, fabric, broken=None, policies=POLICIES, made=None, stated=""):
        self.name, self.cluster, self.policies = f"{program} on {fabric}", bar.cluster(FABRICS[fabric]), policies
        self.folder = Path(tempfile.mkdtemp(prefix=f"{program}-{fabric}-", dir=folder))
        if stated:
            own = self.folder / "cluster.yaml"
            own.write_text(f"base: {self.cluster}\n{stated}\n")
            self.cluster = own
        self.program, self.profile = made or bar.data(program + ".mlir"), self.folder / "fabric.json"
        bar.must(bar.tool("braid-sim"), "emit-profile", "--cluster", self.cluster, "-o", self.profile)
        self.write("-o", self.folder / "skeleton-%p.mlir")
        if broken:
            content = json.loads(self.profile.read_text())
            broken(content)
            self.profile.write_text(json.dumps(content))

    def write(self, *options):
        bar.must(bar.tool("braid-skeleton"), self.program, "--cluster", self.cluster, "--policy", ",".join(self.policies),
                 "--memory-limit", "100 TB", *options)

    def predicted(self, jobs, steps, first_job=0):
        """Policy -> (its step times, its time without noise), of the cost model: it has seen no message."""
        out = self.folder / "prediction.json"
        self.write("-o", "/dev/null", "--predict", out, "--jobs", jobs, "--steps", steps, "--first-job", first_job)
        return {p["policy"]: (p["steps_s"], p["no_noise_s"]) for p in json.loads(out.read_text())["predictions"]}

    def measured(self, policy, jobs, steps, first_job=0, clock="virtual"):
        """Step times on the emulated fabric, which has seen no prediction. On the virtual clock ranks are fibers and messages
        have sizes only: copies cost no virtual time (bar e2e/skeleton_test compares them with processes that move all bytes). On
        the wall clock each rank is a process, and all bytes are moved."""
        out = self.folder / f"measured-{policy}.json"
        how = ["--transport", "emulated+sizes", "--fibers"] if clock == "virtual" else ["--transport", "emulated+shm"]
        bar.must(bar.tool("braid-run"), self.folder / f"skeleton-{policy}.mlir", "-n", 8, "--profile", self.profile, "--clock",
                 clock, *how, "--lead-in", 1, "--job", first_job, "--jobs", jobs, "--steps", steps, "--step-times", out,
                 timeout=3000)
        return json.loads(out.read_text())["steps_s"]


def compare_medians(skeletons, steps, limit, clock="virtual", job=0):
    """Steps of one job, the same draws for it on both sides. Returns for each skeleton (largest deviation, difference of the
    gains). All run at once on the wall clock: their ranks sleep nearly all the time."""
    workers = 1 if clock == "virtual" else 2 * len(skeletons)
    with ThreadPoolExecutor(workers) as pool:
        runs = {(s, p): pool.submit(s.measured, p, 1, steps, job, clock) for s in skeletons for p in s.policies}
        measured = {key: quantile(run.result(), 0.5) for key, run in runs.items()}
    results = []
    for s in skeletons:
        predicted = {p: quantile(t, 0.5) for p, (t, _) in s.predicted(1, max(steps, 1000), job).items()}
        deviations = {p: measured[s, p] / predicted[p] - 1 for p in s.policies}
        for policy, deviation in deviations.items():
            if abs(deviation) > limit:
                bar.fail(f"{s.name}, {policy}, {clock} clock: expected a median of {predicted[policy] * 1e6:.1f} us within "
                         f"{limit:.0%}, got {measured[s, policy] * 1e6:.1f} us ({deviation:+.1%})")
        before, after = s.policies
        gains = [predicted[before] / predicted[after] - 1, measured[s, before] / measured[s, after] - 1]
        if abs(gains[0] - gains[1]) > 0.05:
            bar.fail(f"{s.name}, {clock} clock: expected a gain of {gains[0]:.1%} within 5 points, got {gains[1]:.1%}")
        results.append((max(abs(d) for d in deviations.values()), gains[1] - gains[0]))
    return results


def compare_tails(skeleton, jobs, model="distribution"):
    """Jobs of one step each, all draws fresh and other jobs than the model's: 93 to 97 % lie below the predicted p95."""
    predicted = skeleton.predicted(4 * jobs, 1)
    shares = []
    for policy in skeleton.policies:
        times, _ = predicted[policy]
        limit = quantile(times, 0.95) if model == "distribution" else sum(times) / len(times)
        measured = skeleton.measured(policy, jobs, 1, first_job=1_000_000)
        shares.append(sum(t <= limit for t in measured) / jobs)
        if not 0.93 <= shares[-1] <= 0.97:
            bar.fail(f"{skeleton.name}, {policy}: expected 93 to 97 % of {jobs} jobs below the predicted p95 of "
                     f"{limit * 1e6:.1f} us, got {shares[-1]:.1%}")
    return shares


def slower_links(profile):
    """A broken profile: its links have a quarter of the bandwidth that the prediction counts on."""
    for link in profile["links"]:
        link[0] /= 4


def in_folder(function):
    with tempfile.TemporaryDirectory(prefix="braid-skeleton-") as folder:
        return function(folder)
