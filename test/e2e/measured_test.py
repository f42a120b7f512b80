"""What a run measures lines up with what was predicted for it: tracks and names of timelines, and compute profiles that come back
to the planner, whatever the plan they were recorded under."""
import collections
import json
import os
import shutil
import subprocess
import tempfile

from harness import CLUSTERS, check, expect, main
from perceptron import program

BIN = os.environ.get("BRAID_BIN") or os.path.dirname(shutil.which("braid-run") or "build/bin/braid-run")
CLUSTER = f"{CLUSTERS}/h100-roce-4x2.yaml"
PLACEMENT = "0:0,1:0,2:0,3:0"
WORK = tempfile.TemporaryDirectory(prefix="braid-measured-")
os.chdir(WORK.name)


def run(tool, *words, fails=None, environment=None):
    done = subprocess.run([os.path.join(BIN, tool), *map(str, words)], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, **(environment or {})))
    if fails:
        expect(done.returncode and fails in done.stderr, f"{tool}: expected an error with '{fails}', got status "
                                                         f"{done.returncode}\n{done.stderr}")
        return done.stderr
    expect(done.returncode == 0, f"{tool} {words}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def plan(source, target, *options):
    run("braid-opt", source, "-o", target, "--mlir-print-debuginfo",
        f"--braid-plan=cluster={CLUSTER} placement={PLACEMENT} engine=braid target=braid " + " ".join(options))


def play(source, *options):
    return run("braid-sim", "play", source, "--cluster", CLUSTER, "--placement", PLACEMENT, "--engine", "braid", "--target",
               "braid", *options)


def measure(source, *options, **more):
    return run("braid-run", source, "-n", 4, *options, **more)


def shape(path):
    """Process -> track -> how often each name; all by name."""
    events = json.load(open(path))["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    names = {name: {track: collections.Counter() for (pid, _), track in tracks.items() if pid == process}
             for process, name in processes.items()}
    for event in events:
        if event["ph"] in "Xb":
            names[processes[event["pid"]]][tracks[event["pid"], event["tid"]]][event["name"]] += 1
    return names


with open("program.mlir", "w") as file:
    file.write(program(4))
run("braid-sim", "emit-profile", "--cluster", CLUSTER, "--placement", PLACEMENT, "-o", "fabric.json")
plan("program.mlir", "planned.mlir")
EMULATED = ("--transport", "emulated+shm", "--profile", "fabric.json")


@check
def timelines_line_up():
    """Before planning and after, on the emulated cluster, on both clocks."""
    for policy, source in (("no-overlap", "program.mlir"), ("braid", "planned.mlir")):
        play("program.mlir", "--policy", policy, "--timeline", "predicted.json")
        predicted = shape("predicted.json")
        expect(set(predicted) == {f"rank {rank}" for rank in range(4)}, f"expected a process per rank, got {set(predicted)}")
        for clock in ("wall", "virtual"):
            measure(source, *EMULATED, "--steps", 3, "--timeline", "measured.json",
                    environment={"BRAID_EMULATED_CLOCK": clock})
            measured = shape("measured.json")
            expect(measured == predicted, f"{policy}, {clock} clock: expected\n{predicted}\ngot\n{measured}")
            expect(sum(measured["rank 0"]["inter-host"].values()) == (3 if policy == "no-overlap" else 2), measured)
    expect(shape("measured.json") != shape_of_policy("per-tensor"), "the comparison accepts another schedule")


def shape_of_policy(policy):
    play("program.mlir", "--policy", policy, "--timeline", "other.json")
    return shape("other.json")


@check
def times_make_sense():
    """On the virtual clock a collective takes the same time on all ranks, and slices of a rank do not overlap."""
    measure("program.mlir", *EMULATED, "--steps", 4, "--warm-up", 1, "--timeline", "measured.json",
            environment={"BRAID_EMULATED_CLOCK": "wall"})
    events = json.load(open("measured.json"))["traceEvents"]
    flying = [e for e in events if e["ph"] == "b"]
    expect(len(flying) == 4 * 3 * 3, f"expected 3 collectives in 3 steps of 4 ranks, got {len(flying)}")
    for rank in range(4):
        last = -1e9
        for event in sorted((e for e in events if e["ph"] == "X" and e["pid"] == rank), key=lambda e: e["ts"]):
            expect(event["ts"] >= last - 0.0015, f"slices overlap: {event}")
            last = event["ts"] + event["dur"]
    # One clock: nobody's first collective ends before the last rank has started it.
    first = {rank: next(e for e in flying if e["pid"] == rank) for rank in range(4)}
    ends = {rank: next(e["ts"] for e in events if e["ph"] == "e" and e["id"] == first[rank]["id"]) for rank in range(4)}
    expect(min(ends.values()) >= max(e["ts"] for e in first.values()), f"clocks differ: {first} {ends}")


def record(source, target, *options, **more):
    measure(source, "--steps", 12, "--record-profile", target, *options, **more)
    return json.load(open(target))


def compute(profile):
    return json.loads(play("program.mlir", "--format", "json", "--compute-profile", profile))["compute_s"]


@check
def profiles_come_back():
    before, after = record("program.mlir", "before.json"), record("planned.mlir", "after.json")
    expect(before["program"] == after["program"], "planning has changed the hash of the program")
    expect(set(before["operations"]) == set(after["operations"]), "planning has changed keys of operations")
    expect(before["ranks"] == 4 and before["steps"] == 10, f"expected 4 ranks and 10 steps, got {before}")
    for operation in before["operations"].values():
        low, middle, high = (float(operation[n].split()[0]) for n in ("lower_quartile", "median", "upper_quartile"))
        expect(low <= high and middle > 0 and operation["count"] % 40 == 0, operation)
    # What the planner takes for computation is what was measured: two fills of one key count twice.
    total = sum(float(o["median"].split()[0]) * o["count"] / 40 for o in before["operations"].values()) * 1e-6
    expect(abs(compute("before.json") / total - 1) < 1e-6, f"expected {total}, got {compute('before.json')}")
    plan("program.mlir", "replanned.mlir", "compute-profile=after.json")
    changed = dict(before, operations={key: dict(operation, median="3 ms") for key, operation in before["operations"].items()})
    json.dump(changed, open("slow.json", "w"))
    expect(compute("slow.json") > 100 * total, "a changed profile has changed nothing")


@check
def numbers_of_the_entry_are_the_programs():
    with open("number.mlir", "w") as file:
        file.write("""
func.func @main(%x: tensor<4096xf32> {braid.data = "ones"}, %scale: f32 {braid.data = "const:2"}) -> f32 {
  %e = tensor.empty() : tensor<4096xf32>
  %all = linalg.fill ins(%scale : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %y = linalg.mul ins(%x, %all : tensor<4096xf32>, tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %s = braid.all_reduce sum %y groups = #braid.groups<[[0, 1, 2, 3]]> : tensor<4096xf32>
  %c = arith.constant 0 : index
  %first = tensor.extract %s[%c] : tensor<4096xf32>
  return %first : f32
}
""")
    plan("number.mlir", "number-planned.mlir")
    before, after = record("number.mlir", "before.json"), record("number-planned.mlir", "after.json")
    expect(before["program"] == after["program"], "planning has changed the hash of the program")
    plan("number.mlir", "number-replanned.mlir", "compute-profile=after.json")


@check
def other_programs_are_refused():
    record("program.mlir", "before.json")
    for name, text in (("constant", program(4).replace("0.1 :", "0.2 :")), ("shape", program(4).replace("16x", "24x").replace(
            "x16", "x24")), ("kind", program(4, broken="sum"))):
        expect(text != program(4), name)
        with open("other.mlir", "w") as file:
            file.write(text)
        said = run("braid-opt", "other.mlir", "-o", "refused.mlir", f"--braid-plan=cluster={CLUSTER} placement={PLACEMENT} "
                   "engine=braid target=braid compute-profile=before.json", fails="got one of another program")
        expect(said.count("error:") == 1 and not os.path.exists("refused.mlir"), said)
    # Positions and names of values are not the program.
    with open("moved.mlir", "w") as file:
        file.write("// a line\n\n" + program(4).replace("%w1", "%first"))
    plan("moved.mlir", "moved-planned.mlir", "compute-profile=before.json")


@check
def what_cannot_be_measured_is_said():
    run("braid-run", "program.mlir", "--emit-shared", "plain.so")
    measure("./plain.so", "--timeline", "none.json", fails="expected a program compiled with --marks")
    run("braid-run", "program.mlir", "--emit-shared", "marked.so", "--marks")
    measure("./marked.so", "--steps", 3, "--timeline", "marked.json")
    measure("program.mlir", "--steps", 3, "--timeline", "direct.json")
    expect(shape("marked.json") == shape("direct.json"), "a compiled program has another timeline")
    measure("program.mlir", *EMULATED, "--steps", 4, "--record-profile", "none.json", fails="virtual clock ran, which does not see",
            environment={"BRAID_EMULATED_CLOCK": "virtual"})
    measure("program.mlir", "--steps", 3, "--warm-up", 3, "--timeline", "none.json", fails="expected fewer than the 3 steps")
    measure("program.mlir", "--steps", 3, "--timeline", "/nonexistent/none.json", fails="/nonexistent/none.json")
    expect(not os.path.exists("none.json"), "a file was left behind")


main(__file__)
