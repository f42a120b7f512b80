#!/usr/bin/env python3
"""braid-bench probe --measure: a job finds out in seconds where it is, on shared memory and on an emulated fabric whose truth is
known; what it writes prices as it says; what cannot be probed is refused before time is spent."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from harness import CLUSTERS, check, expect, main

BIN = os.environ.get("BRAID_BIN") or os.path.dirname(shutil.which("braid-bench") or "build/bin/braid-bench")
WORK = tempfile.TemporaryDirectory(prefix="braid-probe-")
os.chdir(WORK.name)


def run(tool, *words, fails=None, environment=None):
    done = subprocess.run([os.path.join(BIN, tool), *map(str, words)], capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, **(environment or {})))
    if fails:
        expect(done.returncode and fails in done.stderr, f"{tool}: expected an error with '{fails}', got status "
                                                         f"{done.returncode}\n{done.stdout}{done.stderr}")
        return done.stderr
    expect(done.returncode == 0, f"{tool} {words}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def bench(*words):
    return subprocess.run([os.path.join(BIN, "braid-bench"), *map(str, words)], capture_output=True, text=True, timeout=60)


BUSY = "measured: expected 1.0 KiB in less than"


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def cluster(path, latency, bandwidth, spine):
    """Four hosts of one rank under two leaves, without noise."""
    write(path, f"""
base: {CLUSTERS}/h100-roce-4x2.yaml
name: {path.split('.')[0]}
hosts: 4
devices_per_host: 1
nics_per_host: 1
intra: {{profile: {{fabric: quiet, spike_probability: 0, bulk_mean: 0, latency_rebase_sigma: 0}}}}
inter:
  bandwidth: "{bandwidth} Gb/s"
  latency: "{latency} us"
  profile: {{fabric: quiet, spike_probability: 0, pause_probability: 0, bulk_mean: 0, latency_rebase_sigma: 0, collision_uplinks: 0}}
topology: {{builder: fat_tree, hosts_per_leaf: 2, oversubscription: 1, spine_latency: "{spine} us"}}
""")


def factors(text):
    found = re.search(r"latency x ([\d.]+) \(.*\), bandwidth x ([\d.]+) \(.*\), reduction x", text)
    expect(found, f"no factors in\n{text}")
    return float(found[1]), float(found[2])


def choices(text):
    """Sizes, before, after, worst regret, verdict; one row for each range."""
    return re.findall(r"^  (\d\S* \S+(?: \.\. \S+ \S+)?) +(\w+) +(\w+) +([\d.]+)  (within [\d.]+|open.*)$", text, re.M)


def price(path, size):
    out = run("braid-sim", "price", "all_reduce", "--engine", "braid", "--bytes", size, "--cluster", path, "--format", "json")
    return json.loads(out)["sizes"][0]


PLANTED = {"nothing": (1, 1), "latency": (1.3, 1), "bandwidth": (1, 0.8), "both": (1.3, 0.8), "a slow job": (2.5, 0.6)}
cluster("profile.yaml", 3, 400, 1)


@check
def what_was_planted_is_found():
    """On the virtual clock, which costs no sleep; every factor within 5 %."""
    notes = []
    for name, (latency, bandwidth) in PLANTED.items():
        cluster("truth.yaml", 3 * latency, 400 * bandwidth, latency)
        run("braid-sim", "emit-profile", "--cluster", "truth.yaml", "-o", "fabric.json")
        began = time.monotonic()
        text = run("braid-bench", "probe", "--measure", "-n", 4, "--cluster", "profile.yaml", "--transport", "emulated+shm",
                   "--profile", "fabric.json", "--seconds", 2, "-o", "job.yaml",
                   environment={"BRAID_EMULATED_CLOCK": "virtual"})
        took = time.monotonic() - began
        found = factors(text)
        for which, truth, value in zip(("latency", "bandwidth"), (latency, bandwidth), found):
            expect(abs(value / truth - 1) < 0.05, f"{name}: planted {which} x {truth}, found x {value}\n{text}")
        expect(took < 10, f"{name}: took {took:.1f} s")
        for size in ("1KiB", "256KiB", "64MiB"):
            job, truth = price("job.yaml", size), price("truth.yaml", size)
            expect(abs(job["price_s"] / truth["price_s"] - 1) < 0.05, f"{name}, {size}: {job['price_s']}, {truth['price_s']}")
        notes.append(f"{name} {found[0]:.3f} {found[1]:.3f}")
    return "; ".join(notes)


@check
def on_the_wall_clock_too():
    """Real sleeps: latencies are stretched to 10 ms, so the long size shrinks until the probe fits into its seconds. Sleeps of a
    busy machine take a few percent longer, hence the wider limit."""
    cluster("truth.yaml", 3 * 1.3, 400 * 0.8, 1.3)
    run("braid-sim", "emit-profile", "--cluster", "truth.yaml", "-o", "fabric.json")
    began = time.monotonic()
    text = run("braid-bench", "probe", "--measure", "-n", 4, "--cluster", "profile.yaml", "--transport", "emulated+shm",
               "--profile", "fabric.json", environment={"BRAID_EMULATED_CLOCK": "wall"})
    took, (latency, bandwidth) = time.monotonic() - began, factors(text)
    expect(took < 15, f"took {took:.1f} s")
    expect(abs(latency / 1.3 - 1) < 0.1 and abs(bandwidth / 0.8 - 1) < 0.1, text)
    return f"{latency:.3f} {bandwidth:.3f} in {took:.1f} s"


@check
def choices_stand_or_are_open():
    """Every size has a verdict, a narrow regret leaves more open, and where it stands the choice is the truth's."""
    cluster("truth.yaml", 3 * 2, 400 * 0.7, 2)
    run("braid-sim", "emit-profile", "--cluster", "truth.yaml", "-o", "fabric.json")
    texts = [run("braid-bench", "probe", "--measure", "-n", 4, "--cluster", "profile.yaml", "--transport", "emulated+shm",
                 "--profile", "fabric.json", "--seconds", 2, "--regret", regret, "-o", "job.yaml",
                 environment={"BRAID_EMULATED_CLOCK": "virtual"}) for regret in (1.0, 1.1, 1.5)]
    rows = [choices(text) for text in texts]
    expect(all(r and r[0][0].startswith("1.0 KiB") and r[-1][0].endswith("1.0 GiB") for r in rows), texts[1])
    stands = [sum(r[4].startswith("within") for r in one) for one in rows]
    expect(all(r[4].startswith("within") for r in rows[2]) or stands[2] >= stands[0], texts[2])
    for sizes, _, after, regret, verdict in rows[1]:
        expect((float(regret) <= 1.1) == verdict.startswith("within"), f"{sizes}: {regret} {verdict}")
        size = sizes.split(" .. ")[0].replace(" ", "").replace(".0", "")
        if verdict.startswith("within"):
            expect(price("truth.yaml", size)["algorithm"] == after or float(regret) > 1, f"{sizes}: {after}\n{texts[1]}")


@check
def on_shared_memory():
    """The truth is not known, but what is re-based must give what was measured, and prices must be in reach of what runs. Where
    others keep the processors busy, the probe says so instead."""
    run("braid-topo", "discover", "-o", "host.yaml")
    for _ in range(5):
        began = time.monotonic()
        done = bench("probe", "--measure", "-n", 2, "--cluster", "host.yaml", "--seconds", 2, "-o", "job.yaml", "--csv", "job.csv",
                     "--transport", "shm")
        text, took = done.stdout, time.monotonic() - began
        expect(took < 10, f"took {took:.1f} s")
        if BUSY not in done.stderr:
            break
    else:
        expect(done.returncode and not text and not os.path.exists("job.yaml"), f"status {done.returncode}\n{text}")
        return "refused 5 times: " + done.stderr.splitlines()[0]
    expect(done.returncode == 0, done.stderr)
    latency, bandwidth = factors(text)
    expect(len(choices(text)) >= 1, text)
    rows = [line.split(",") for line in open("job.csv").read().splitlines()]
    median, size, algorithm = (rows[0].index(key) for key in ("median_s", "bytes", "algorithm"))
    for row in rows[1:]:
        said = price("job.yaml", row[size] + "B")
        expect(said["algorithm"] != row[algorithm] or 1 / 1.3 < said["price_s"] / float(row[median]) < 1.3,
               f"{row}: re-based price {said['price_s']}\n{text}")
    return f"latency x {latency:.2f}, bandwidth x {bandwidth:.2f} in {took:.1f} s"


@check
def more_ranks_than_processors():
    """Ends in time whatever happens: with a report, or with what is wrong."""
    write("host16.yaml", "base: host.yaml\nname: host16\ndevices_per_host: 16\n")
    began = time.monotonic()
    done = bench("probe", "--measure", "-n", 16, "--cluster", "host16.yaml", "-o", "many.yaml")
    took = time.monotonic() - began
    expect(took < 20, f"took {took:.1f} s")
    expect("measured in" in done.stdout if done.returncode == 0 else BUSY in done.stderr and not os.path.exists("many.yaml"),
           f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return f"{took:.1f} s, " + ("reported" if done.returncode == 0 else "refused")


@check
def a_rank_that_is_killed():
    """Ends the probe at once, with the rank's name and without a file."""
    with subprocess.Popen([os.path.join(BIN, "braid-bench"), "probe", "--measure", "-n", "2", "--cluster", "host.yaml", "--seconds",
                           "60", "-o", "killed.yaml", "--csv", "killed.csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as probe:
        children = f"/proc/{probe.pid}/task/{probe.pid}/children"
        until = time.monotonic() + 20
        while len(ranks := open(children).read().split()) < 2:
            expect(time.monotonic() < until and probe.poll() is None, "no ranks were started")
        os.kill(int(ranks[0]), signal.SIGKILL)
        out, said = probe.communicate(timeout=20)
    expect(probe.returncode and "rank 0 was killed by signal 9" in said, f"status {probe.returncode}\n{out}{said}")
    expect(not os.path.exists("killed.yaml") and not os.path.exists("killed.csv"), "files of a probe that was killed")


@check
def a_file_of_another_machine():
    """Latencies of seconds: factors could take them anywhere, so the probe asks whether the file is right."""
    cluster("seconds.yaml", 9e6, 400, 1)
    cluster("truth.yaml", 3, 400, 1)
    run("braid-sim", "emit-profile", "--cluster", "truth.yaml", "-o", "fabric.json")
    run("braid-bench", "probe", "--measure", "-n", 4, "--cluster", "seconds.yaml", "--transport", "emulated+shm", "--profile",
        "fabric.json", "--seconds", 1, "-o", "seconds-job.yaml", environment={"BRAID_EMULATED_CLOCK": "virtual"},
        fails="is it this machine's file?")
    expect(not os.path.exists("seconds-job.yaml"), "a job's file was written")


@check
def ranks_of_a_launcher():
    run("braid-sim", "emit-profile", "--cluster", "profile.yaml", "-o", "fabric.json")
    text = run("braid-launch", "-n", 4, "--", os.path.join(BIN, "braid-bench"), "probe", "--measure", "--cluster", "profile.yaml",
               "--transport", "emulated+shm", "--profile", "fabric.json", "--seconds", 1,
               environment={"BRAID_EMULATED_CLOCK": "virtual"})
    expect(text.count("measured in") == 1, f"expected one report, got\n{text}")
    latency, bandwidth = factors(text)
    expect(abs(latency - 1) < 0.05 and abs(bandwidth - 1) < 0.05, text)


@check
def tables_of_the_runtime():
    """The same by hand: measure, then probe the table."""
    cluster("truth.yaml", 3 * 1.3, 400 * 0.8, 1.3)
    run("braid-sim", "emit-profile", "--cluster", "truth.yaml", "-o", "fabric.json")
    run("braid-bench", "measure", "-n", 4, "--sizes", "1KiB,4MiB", "--collective", "all_reduce", "--algorithm",
        "ring,naive_exchange", "--seconds", 0.5, "--csv", "job.csv", "--transport", "emulated+shm", "--profile", "fabric.json",
        environment={"BRAID_EMULATED_CLOCK": "virtual"})
    latency, bandwidth = factors(run("braid-bench", "probe", "job.csv", "--model", "braid", "--cluster", "profile.yaml"))
    expect(abs(latency / 1.3 - 1) < 0.05 and abs(bandwidth / 0.8 - 1) < 0.05, f"{latency} {bandwidth}")


@check
def what_cannot_be_probed_is_refused():
    probe = ("braid-bench", "probe", "--measure")
    run(*probe, "-n", 2, fails="--cluster: expected the cluster file")
    run(*probe, "--cluster", "profile.yaml", fails="-n: expected at least 2 ranks")
    said = run(*probe, "-n", 2, "--cluster", "profile.yaml", fails="2 ranks: expected them on as many hosts of profile as they run on, "
                                                                  "1, got 2")
    expect(said.count("--placement") == 1, said)
    run(*probe, "-n", 5, "--cluster", "profile.yaml", fails="expected at most the 4 devices of profile, got 5 ranks")
    run(*probe, "-n", 2, "--cluster", "profile.yaml", "--placement", "0:0", fails="--placement")
    run(*probe, "-n", 2, "--cluster", "profile.yaml", "--model", "nccl", fails="--model: expected braid with --measure")
    run(*probe, "-n", 2, "--cluster", "profile.yaml", "-o", "absent/job.yaml", fails="absent/job.yaml: No such file")
    run(*probe, "-n", 2, "--cluster", "profile.yaml", "table.csv", fails="table: expected none with --measure, got 'table.csv'")
    run(*probe, "-n", 2, "--cluster", "profile.yaml", "--regret", "0.9", fails="--regret: expected a number from 1 to 100, got '0.9'")
    run(*probe, "-n", 2, "--cluster", "profile.yaml", "--regret", fails="--regret: expected a value, got none")
    run(*probe, "-n", 2, "--cluster", "profile.yaml", "--speed", fails="option: expected one of those that --help lists, got '--speed'")
    run("braid-bench", "probe", "--cluster", "profile.yaml", fails="table: expected one file, or --measure, got 0")
    expect("--measure" in run("braid-bench", "probe", "--help"), "no --measure in --help")


main(__file__)
