#!/usr/bin/env python3
"""A trace that JAX's profiler has recorded here, of processors, as a compute profile: what is in the profile is what the trace says,
operation by operation, and the planner takes it for the time of computation."""
import collections
import glob
import gzip
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import tempfile

from harness import CLUSTERS, check, expect, main, values_for
import braid_jax

braid_jax.use_host_devices(8)
import jax  # noqa: E402
import models  # noqa: E402

BIN = os.environ.get("BRAID_BIN") or os.path.dirname(shutil.which("braid-sim") or "build/bin/braid-sim")
SIM = os.path.abspath(os.path.join(BIN, "braid-sim"))
CLUSTER = f"{CLUSTERS}/h100-ib-ndr-1x8.yaml"
STEPS = 6
WORK = tempfile.TemporaryDirectory(prefix="braid-trace-")
os.chdir(WORK.name)


def sim(*words, fails=None):
    done = subprocess.run([SIM, *words], capture_output=True, text=True, timeout=120)
    if fails:
        expect(done.returncode and fails in done.stderr, f"{words}: expected an error with '{fails}', got status "
                                                         f"{done.returncode}\n{done.stderr}")
        return done.stderr
    expect(done.returncode == 0, f"{words}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def record(name):
    """NAME.mlir, NAME.hlo and the path of the trace: the program, what XLA compiled, and STEPS of it."""
    jitted, shapes = models.PROGRAMS[name]()
    with open(f"{name}.mlir", "w") as file:
        file.write(braid_jax.export(jitted, *shapes, locations=True))
    with open(f"{name}.hlo", "w") as file:
        file.write(jitted.lower(*shapes).compile().as_text())
    values = values_for(shapes)
    jax.block_until_ready(jitted(*values))
    with jax.profiler.trace(name):
        for _ in range(STEPS):
            jax.block_until_ready(jitted(*values))
    return glob.glob(f"{name}/**/*.trace.json.gz", recursive=True)[0]


def computation(trace, text):
    """Seconds of a step of a compiled program, read independently: of each instruction, the median over steps and devices; an
    event counts without those inside of it."""
    module = re.match(r"HloModule ([^,\s]+)", text)[1]
    with gzip.open(trace) as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("args", {}).get("hlo_module") == module]
    spent, threads = collections.defaultdict(lambda: collections.defaultdict(float)), collections.defaultdict(list)
    for event in events:
        threads[event["tid"]].append(event)
    for mine in threads.values():
        mine.sort(key=lambda e: (e["ts"], -e["dur"]))
        for number, event in enumerate(mine):
            end, inside, at = event["ts"] + event["dur"], 0, event["ts"]
            for other in mine[number + 1:]:
                if other["ts"] >= end:
                    break
                inside += max(0, min(end, other["ts"] + other["dur"]) - max(at, other["ts"]))
                at = max(at, other["ts"] + other["dur"])
            args = event["args"]
            spent[args["hlo_op"]][args["run_id"], args["device_ordinal"]] += event["dur"] - inside
    other = re.compile(r"%(\S+) = .*? (?:all-[a-z]+|reduce-scatter|collective-permute|while|conditional)\(")
    skipped = set(other.findall(text))
    compute = {op: statistics.median(times.values()) for op, times in spent.items() if op not in skipped}
    expect(compute and len(compute) < len(spent), f"expected computation and collectives, got {list(spent)}")
    return sum(compute.values()) * 1e-6


def profile_is_the_trace(name):
    def run():
        trace = record(name)
        said = sim("profile", f"{name}.mlir", "--trace", trace, "--hlo", f"{name}.hlo", "--cluster", CLUSTER, "-o", f"{name}.json")
        matched = float(said.split("operations, ")[1].split(" %")[0])
        expect(matched > 90, f"expected 90 % of the time or more to be matched, got\n{said}")
        with open(f"{name}.hlo") as file:
            whole = computation(trace, file.read())
        digit = 10 ** (math.floor(math.log10(whole)) - 2)  # the last that is printed
        expect(abs(1e-6 * sum(times_of(said)) - whole) <= digit / 2 + 1e-4 * whole, f"expected computation of {whole} s, got\n{said}")
        # What the planner makes of it: the matched part, and the roofline of what was not measured, which is small on a GPU.
        step = lambda *more: json.loads(sim("play", f"{name}.mlir", "--cluster", CLUSTER, "--policy", "no-overlap", "--format",
                                            "json", *more))["compute_s"]
        got, roofline = step("--compute-profile", f"{name}.json"), step()
        low = whole * (matched - 0.1) / 100
        expect(low < got < whole + roofline, f"expected {low} to {whole + roofline} s of computation, got {got}")
        return said.splitlines()[1]
    run.__name__ = name
    return check(run)


def times_of(said):
    """The first line's time of computation, in us."""
    number, unit = said.split("computation of ")[1].split()[:2]
    return [float(number) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]]


for name in ("mlp", "gpt_accumulate", "resnet", "auto_fsdp"):
    profile_is_the_trace(name)


@check
def other_programs_are_refused():
    """A program that came from other lines, and one that was compiled to other text."""
    trace = record("pmap_mlp")
    jitted, shapes = models.PROGRAMS["experts"]()
    with open("other.mlir", "w") as file:
        file.write(braid_jax.export(jitted, *shapes, locations=True))
    with open("other.hlo", "w") as file:
        file.write(jitted.lower(*shapes).compile().as_text().replace("HloModule ", "HloModule other_", 1))
    often = ("--trace", trace, "--cluster", CLUSTER, "-o", "never.json")
    sim("profile", "other.mlir", "--hlo", "pmap_mlp.hlo", *often, fails="expected measurements of this program, got none")
    sim("profile", "other.mlir", "--hlo", "other.hlo", *often, fails="expected the compiled text of a module that the trace has")
    sim("profile", "pmap_mlp.mlir", *often, fails="--hlo")
    with open("plain.mlir", "w") as file:
        jitted, shapes = models.PROGRAMS["pmap_mlp"]()
        file.write(braid_jax.export(jitted, *shapes))
    sim("profile", "plain.mlir", "--hlo", "pmap_mlp.hlo", *often, fails="export --locations")
    expect(not os.path.exists("never.json"), "a profile was written")


main(__file__)
