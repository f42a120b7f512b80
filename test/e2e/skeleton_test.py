"""Skeletons: of every program, run as processes, as fibers, with data and without."""
import json
import os
import re
import shutil
import subprocess
import tempfile

from harness import CLUSTERS, DATA, check, expect, main

BIN = os.environ.get("BRAID_BIN") or os.path.dirname(shutil.which("braid-run") or "build/bin/braid-run")
WORK = tempfile.TemporaryDirectory(prefix="braid-skeleton-")
PROGRAMS = sorted(name[:-5] for name in os.listdir(DATA) if name.endswith(".mlir"))
SMALL, LARGE = "h100-roce-4x2", "h100-roce-16x8"


def path(name):
    return os.path.join(WORK.name, name)


def tool(name, *arguments, fails=False):
    done = subprocess.run([os.path.join(BIN, name), *map(str, arguments)], capture_output=True, text=True, timeout=300)
    expect((done.returncode != 0) == fails, f"{name} {' '.join(map(str, arguments))}: {done.stderr[-2000:]}")
    return done.stderr if fails else done.stdout


def cluster(name):
    return os.path.join(CLUSTERS, name + ".yaml")


def profile(name=SMALL):
    file = path(name + ".json")
    if not os.path.exists(file):
        tool("braid-sim", "emit-profile", "--cluster", cluster(name), "-o", file)
    return file


def skeleton(program, policy):
    file = path(f"{program}-{policy}.mlir")
    if not os.path.exists(file):
        on = LARGE if "128" in program else SMALL
        search = ["--budget", "0"] if policy == "no-overlap" else []  # whose plan nobody asks for
        tool("braid-skeleton", os.path.join(DATA, program + ".mlir"), "--cluster", cluster(on), "--policy", policy, *search, "-o", file)
    return file


QUIET = "intra: {profile: {fabric: quiet}}\ninter: {profile: {fabric: quiet}}\n"


def stated(name, compute, more=""):
    """A cluster file that says how computation varies, and the profile of its fabric."""
    file, fabric = path(name + ".yaml"), path(name + ".json")
    with open(file, "w") as text:
        text.write(f"base: {cluster(SMALL)}\nname: {name}\ncompute: {compute}\n{more}")
    tool("braid-sim", "emit-profile", "--cluster", file, "-o", fabric)
    return file, fabric


def times(module, how, steps=3, fabric=None, **more):
    file = path("times.json")
    transport = {"processes": ["emulated+shm"], "fibers": ["emulated+in-process", "--fibers"],
                 "sizes": ["emulated+sizes", "--fibers"]}[how]
    tool("braid-run", module, "-n", 8, "--transport", *transport, "--clock", "virtual", "--profile", fabric or profile(),
         "--steps", steps, "--step-times", file, *(word for option in more.items() for word in ("--" + option[0].replace("_", "-"), option[1])))
    with open(file) as text:
        return json.load(text)["steps_s"]


@check
def every_program_has_one():
    expect(len(PROGRAMS) >= 13, f"expected the programs of test/data, got {PROGRAMS}")
    for program in PROGRAMS:
        with open(skeleton(program, "no-overlap")) as file:
            text = file.read()
        expect(re.search(r'braid\.compute "[^"]+" for "[0-9.e-]+ [mun]?s"', text), f"{program}: no computation")
        expect("engine = braid" in text, f"{program}: no plan")
        foreign = re.findall(r"\b(stablehlo|sdy|mhlo|chlo)\.(?!num_)\w+", text)
        expect(not foreign, f"{program}: expected nothing of the model, got {foreign[:3]}")


@check
def every_program_of_eight_ranks_runs():
    for program in PROGRAMS:
        if "128" not in program:
            for policy in ("no-overlap", "braid"):
                steps = times(skeleton(program, policy), "sizes", 2)
                expect(len(steps) == 2 and all(t > 0 for t in steps), f"{program}, {policy}: got steps of {steps}")


@check
def without_plans_it_is_planned_as_the_program():
    """Buckets, order, algorithms, pipelined loops, quantiles: all that the planner says of times is the same for the program and its
    skeleton."""
    plan = ["--cluster", cluster(SMALL), "--engine", "braid", "--target", "braid", "--format", "json"]
    for program in ("mlp_dp8", "llama_fsdp8", "gpt_accumulate_dp8"):
        source = os.path.join(DATA, program + ".mlir")
        tool("braid-skeleton", source, "--cluster", cluster(SMALL), "--policy", "no-overlap", "--no-plans", "-o", path("s.mlir"))
        rows = []
        for file in (source, path("s.mlir")):
            report = json.loads(tool("braid-sim", "compare", file, *plan))
            rows.append([{k: f"{v:.9g}" if isinstance(v, float) else v for k, v in row.items() if "peak" not in k}
                         for row in report["policies"]])  # sums of times differ in their last bits
        expect(rows[0] == rows[1], f"{program}: expected {rows[0]}, got {rows[1]}")


@check
def loops_and_calls_are_kept():
    with open(skeleton("gpt_accumulate_dp8", "no-overlap")) as file:
        text = file.read()
    expect("scf.for" in text and "call @block_" in text, "expected a loop around a call, got neither")


@check
def virtual_time_does_not_depend_on_how_ranks_run():
    for program in ("mlp_dp8", "moe_ep8"):  # groups of all ranks, and all_to_all
        module = skeleton(program, "braid")
        measured = {how: times(module, how, lead_in=1) for how in ("processes", "fibers", "sizes")}
        expect(len({str(t) for t in measured.values()}) == 1, f"{program}: expected equal times, got {measured}")


@check
def jobs_have_draws_of_their_own():
    module = skeleton("mlp_dp8", "xla-30mib")
    first = times(module, "sizes", 2, jobs=3, lead_in=1)
    expect(len(first) == 6 and len(set(first)) == 6, f"expected 6 different steps, got {first}")
    expect(times(module, "sizes", 2, job=1, lead_in=1) == first[2:4], "expected job 1 alone to be the second of three")


COMPUTED = """
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<100000xf32> {braid.data = "rank-seed:1:8"}, %y: tensor<3xi32> {braid.data = "rank"})
      -> (tensor<100000xf32>, tensor<3xi32>) {
    %g = braid.compute "layer" for "20 us" outs(%x : tensor<100000xf32>) -> tensor<100000xf32>
    %t = braid.start(%a = %g) : tensor<100000xf32> {
      %r = braid.all_reduce sum %a groups = #braid.groups<[]> {plan = #braid.plan<engine = braid, algorithm = "ring">} : tensor<100000xf32>
      braid.yield %r : tensor<100000xf32>
    }
    braid.compute "another" for "5 us"
    %w = braid.wait %t, %g : (tensor<100000xf32>) -> tensor<100000xf32>
    %s = braid.all_reduce sum %y groups = #braid.groups<[[0, 1, 2, 3], [4, 5, 6, 7]]>
      {plan = #braid.plan<engine = braid, algorithm = "double_binary_tree">} : tensor<3xi32>
    return %w, %s : tensor<100000xf32>, tensor<3xi32>
  }
}
"""


@check
def data_pass_through_computation():
    module = path("computed.mlir")
    with open(module, "w") as file:
        file.write(COMPUTED)
    results = {}
    for how in (["emulated+shm"], ["emulated+in-process", "--fibers"], ["shm"]):
        more = ["--profile", profile(), "--clock", "virtual"] if "emulated" in how[0] else []
        results[how[0]] = tool("braid-run", module, "-n", 8, "--transport", *how, *more, "--steps", 2, "--out",
                               f"0={path('sums')}", "--all-ranks").splitlines()
        with open(path("sums"), "rb") as file:
            results[how[0]].append(file.read())
    lines = sorted(results["shm"][:-1])
    expect(len({tuple(sorted(r[:-1])) + (r[-1],) for r in results.values()}) == 1, f"expected the same data, got {lines}")
    expect(any("[6, 6, 6]" in line for line in lines) and any("[22, 22, 22]" in line for line in lines),
           f"expected sums of ranks 0 to 3 and 4 to 7, got {lines}")


HIDDEN = """
func.func @main(%x: tensor<1048576xf32> {braid.data = "ones"}) -> tensor<1048576xf32> {
  %t = braid.start(%a = %x) : tensor<1048576xf32> {
    %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> {plan = #braid.plan<engine = braid, algorithm = "ring">} : tensor<1048576xf32>
    braid.yield %r : tensor<1048576xf32>
  }
  braid.compute "hidden" for "KERNEL"
  %w = braid.wait %t, %x : (tensor<1048576xf32>) -> tensor<1048576xf32>
  return %w : tensor<1048576xf32>
}
"""


@check
def hidden_communication_takes_what_it_takes_of_computation():
    """A kernel of time C that hides communication of time M takes C + M (1 - 1 / slowdown), one that is shorter C slowdown."""
    modules = {}
    for kernel in ("0 us", "50 us", "5 ms"):
        modules[kernel] = path(f"hidden-{kernel.replace(' ', '')}.mlir")
        with open(modules[kernel], "w") as file:
            file.write(HIDDEN.replace("KERNEL", kernel))
    _, plain = stated("plain", "{}", QUIET)
    _, slowing = stated("slowing", "{slowdown: {intra: 3, inter: 1.25}}", QUIET)  # its group crosses hosts
    of = {(fabric, kernel): times(module, "sizes", 2, fabric=fabric, lead_in=1)[0]
          for fabric in (plain, slowing) for kernel, module in modules.items()}
    alone = of[plain, "0 us"]
    expect(of[slowing, "0 us"] == alone and 60e-6 < alone < 1e-3, f"expected the same time without computation, got {of}")
    expect(abs(of[plain, "5 ms"] / 5e-3 - 1) < 1e-9, f"expected 5 ms, got {of[plain, '5 ms']}")
    closed = 5e-3 + alone * (1 - 1 / 1.25)
    expect(abs(of[slowing, "5 ms"] / closed - 1) < 1e-6, f"expected {closed}, got {of[slowing, '5 ms']}")
    expect(of[slowing, "50 us"] == of[plain, "50 us"] == alone, f"expected {alone}, as what is hidden stays so, got {of}")


@check
def computation_varies_as_it_is_stated():
    """Alike as processes and as fibers, from run to run; by job alone; not where nothing is stated."""
    _, fabric = stated("varying", "{skew: {per_job: 0.05, per_step: 0.02}, slowdown: {intra: 1.2, inter: 1.1}}")
    module = skeleton("mlp_dp8", "braid")
    measured = {how: times(module, how, fabric=fabric, lead_in=1) for how in ("processes", "fibers", "sizes")}
    expect(len({str(t) for t in measured.values()}) == 1, f"expected equal times, got {measured}")
    expect(measured["sizes"] != times(module, "sizes", lead_in=1), "expected other times than where nothing is stated")
    with open(path("kernel.mlir"), "w") as file:
        file.write('func.func @main() {\n  braid.compute "kernel" for "1 ms"\n  return\n}\n')
    _, by_job = stated("by-job", "{skew: {per_job: 0.05}}")
    steps = times(path("kernel.mlir"), "sizes", 2, fabric=by_job, jobs=2, lead_in=1)
    expect(abs(steps[0] / steps[1] - 1) < 1e-9 and abs(steps[2] / steps[0] - 1) > 1e-4 and min(steps) > 1e-3,
           f"expected two equal steps of either job, the slowest rank's, got {steps}")


@check
def prediction_and_emulation_have_the_same_draws():
    """With skew and slowdown but no noise of messages each step is what was predicted for it; what is stated makes it longer by far more
    than the two differ."""
    words = "{skew: {per_job: 0.05, per_step: 0.02}, slowdown: {intra: 1.4, inter: 1.3}}"
    predicted, measured = {}, {}
    for name, compute in (("same-draws", words), ("none-stated", "{}")):
        file, fabric = stated(name, compute, QUIET)
        tool("braid-skeleton", os.path.join(DATA, "mlp_dp8.mlir"), "--cluster", file, "--policy", "xla-30mib", "-o", path(name + ".mlir"),
             "--predict", path("predicted.json"), "--jobs", 2, "--steps", 3)
        with open(path("predicted.json")) as text:
            predicted[name] = json.load(text)["predictions"][0]["steps_s"]
        measured[name] = times(path(name + ".mlir"), "sizes", 3, fabric=fabric, jobs=2, lead_in=1)
    worst = max(abs(m / p - 1) for m, p in zip(measured["same-draws"], predicted["same-draws"]))
    least = min(m / p - 1 for m, p in zip(measured["same-draws"], measured["none-stated"]))
    expect(worst < 0.01 < 0.02 < least, f"expected {predicted}, got {measured}")


@check
def a_recorded_profile_is_of_the_kernels_themselves():
    """What the fabric adds is the cluster file's to state: it counts once."""
    _, fabric = stated("adding", "{skew: {per_job: 0.2}, slowdown: {inter: 1.5}}")
    with open(path("recorded.mlir"), "w") as file:
        file.write(HIDDEN.replace("KERNEL", "700 us"))
    tool("braid-run", path("recorded.mlir"), "-n", 8, "--transport", "emulated+shm", "--clock", "virtual", "--profile", fabric,
         "--steps", 4, "--record-profile", path("recorded.json"))
    with open(path("recorded.json")) as file:
        operations = json.load(file)["operations"].values()
    medians = [float(operation["median"].split()[0]) for operation in operations]
    expect(len(medians) == 1 and abs(medians[0] - 700) < 0.01, f"expected 700 us, got {medians}")


@check
def a_busy_kernel_takes_its_time():
    module = path("busy.mlir")
    with open(module, "w") as file:
        file.write('func.func @main() {\n  braid.compute "kernel" for "50 ms"\n  return\n}\n')
    for how in ("sleep", "busy"):
        median = re.search(r"median step: (\S+) s", tool("braid-run", module, "--steps", 3, "--time", "--compute", how))
        expect(0.05 <= float(median[1]) < 0.5, f"{how}: expected 50 ms, got {median[1]} s")


@check
def what_cannot_be_is_said():
    module = skeleton("mlp_dp8", "braid")
    for words, arguments in {
            "clock that goes on": ["-n", 8, "--compute", "busy", "--clock", "virtual"],
            "number of ranks": ["--fibers"],
            "--fibers: expected --transport emulated+in-process": ["-n", 8, "--fibers", "--transport", "emulated+shm", "--clock", "virtual"],
            "--clock: expected an emulated transport": ["-n", 8, "--fibers", "--transport", "shm", "--clock", "virtual"],
            "at least 1": ["-n", 8, "--jobs", 0]}.items():
        error = tool("braid-run", module, *arguments, fails=True)
        expect(words in error, f"{arguments}: expected '{words}', got {error}")


main(__file__)
