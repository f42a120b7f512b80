#!/usr/bin/env python3
"""Trains the two-layer perceptron of perceptron.mlir: in one process, and data parallel on 4 ranks before and after planning, on
shared memory and on an emulated RoCE cluster of 4 hosts. Prints the losses; fails if any is further than 1e-5 from one process's.

    test/examples/train.py [FOLDER]        braid-run and its siblings on the path; what is written goes to FOLDER
"""
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "e2e"))
from perceptron import BATCH, HIDDEN, INPUTS, OUTPUTS, program  # noqa: E402

CLUSTER = ROOT / "cost_models" / "clusters" / "h100-roce-4x2.yaml"
PLACEMENT = "0:0,1:0,2:0,3:0"  # one rank on each host
RANKS, STEPS, BOUND = 4, 20, 1e-5


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def write_data(folder):
    """Weights on all ranks, inputs and targets of the whole batch cut over the ranks. Returns braid-run's options by the number of
    ranks."""
    draw = random.Random(7)
    sizes = (INPUTS * HIDDEN, HIDDEN * OUTPUTS, BATCH * INPUTS, BATCH * OUTPUTS)
    options = {1: [], RANKS: []}
    for index, (size, most, cut) in enumerate(zip(sizes, (0.5, 0.5, 1, 0.5), (False, False, True, True))):
        values = [draw.uniform(-most, most) for _ in range(size)]
        for ranks in options:
            part = size // ranks if cut else size
            for rank in range(ranks):
                here = values[rank * part:(rank + 1) * part] if cut else values
                (folder / f"{ranks}-{index}-{rank}").write_bytes(struct.pack(f"<{part}f", *here))
            options[ranks] += ["--arg", f"{index}=file:{folder}/{ranks}-{index}-%r"]
    return options


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    data = write_data(folder)
    alone, before, after, fabric = (folder / name for name in ("alone.mlir", "before.mlir", "after.mlir", "roce.json"))
    alone.write_text(program(1))
    before.write_text(program(RANKS))
    run("braid-opt", before, "-o", after,
        f"--braid-plan=cluster={CLUSTER} placement={PLACEMENT} engine=braid target=braid")
    run("braid-sim", "emit-profile", "--cluster", CLUSTER, "--placement", PLACEMENT, "-o", fabric)
    emulated = ["--transport", "emulated+shm", "--profile", fabric]
    columns = {}
    for name, text, ranks, options in (("one process", alone, 1, []), ("shm before", before, RANKS, []),
                                       ("shm after", after, RANKS, []), ("RoCE before", before, RANKS, emulated),
                                       ("RoCE after", after, RANKS, emulated)):
        printed = run("braid-run", text, "-n", ranks, "--steps", STEPS, "--carry", "0:0,1:1", *data[ranks], *options)
        columns[name] = [float(loss) for loss in re.findall(r"result 2: (\S+)", printed)]
    print("losses; shm: 4 ranks on shared memory, RoCE: on the emulated cluster h100-roce-4x2; before and after planning\n")
    print("step  " + "  ".join(f"{name:>11}" for name in columns))
    for step in (0, 1, 2, 4, 9, STEPS - 1):
        print(f"{step:4d}  " + "  ".join(f"{losses[step]:11.6f}" for losses in columns.values()))
    one = columns["one process"]
    furthest = max(abs(loss / exact - 1) for losses in columns.values() for loss, exact in zip(losses, one))
    print(f"\nfurthest from one process in all {STEPS} steps: {furthest:.1e} (bound {BOUND:g})")
    if furthest > BOUND or not one[-1] < one[0]:
        sys.exit("the losses differ from those of one process, or do not fall")


if len(sys.argv) > 1:
    main(Path(sys.argv[1]))
else:
    with tempfile.TemporaryDirectory(prefix="braid-train-") as own:
        main(Path(own))
