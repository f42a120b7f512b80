#!/usr/bin/env python3
"""Algorithms with what they take, as plans spell them, reach the runtime in a compiled module: orders, servers, links."""
import os
import shutil
import struct
import subprocess
import tempfile

from harness import check, expect, main

BIN = os.environ.get("BRAID_BIN") or os.path.dirname(shutil.which("braid-run") or "build/bin/braid-run")
RANKS = 4
LINKS = "1e+10/1e-06:0-4.1-2.2-3;2e+10/1e-06:4-1.3>0"
SUM = [RANKS * i + 10 * RANKS * (RANKS - 1) // 2 for i in range(24)]


def run(algorithm):
    """An all_reduce of 24 numbers, i + 10 x rank, on 4 ranks: the results, or what was said."""
    with tempfile.TemporaryDirectory(prefix="braid-spelled-") as folder:
        with open(os.path.join(folder, "program.mlir"), "w") as file:
            file.write(f"""func.func @main(%a: tensor<24xi32>) -> tensor<24xi32> {{
              %r = braid.all_reduce sum %a groups = #braid.groups<[]>
                {{plan = #braid.plan<engine = braid, algorithm = "{algorithm}">}} : tensor<24xi32>
              return %r : tensor<24xi32> }}""")
        for rank in range(RANKS):
            with open(os.path.join(folder, f"in{rank}"), "wb") as file:
                file.write(struct.pack("<24i", *(i + 10 * rank for i in range(24))))
        done = subprocess.run([os.path.join(BIN, "braid-run"), os.path.join(folder, "program.mlir"), "-n", str(RANKS), "--arg",
                               f"0=file:{folder}/in%r", "--out", f"0={folder}/out%r"], capture_output=True, text=True,
                              timeout=60)
        if done.returncode:
            return done.stderr
        found = []
        for rank in range(RANKS):
            with open(os.path.join(folder, f"out{rank}"), "rb") as file:
                found.append(list(struct.unpack("<24i", file.read())))
        return found


@check
def what_they_take_reaches_the_runtime():
    for algorithm in ("ring", "ring(order=hosts)", "ring(order=2.0.3.1)", "double_binary_tree(order=1.3.0.2)",
                      "parameter_server(servers=2)", "uneven_halving",
                      f"packed_trees(ranks=4 nodes=5 block=4096 links={LINKS})"):
        found = run(algorithm)
        expect(found == [SUM] * RANKS, f"{algorithm}: {found}")


@check
def what_does_not_fit_the_ranks_is_an_error():
    for algorithm, words in (("ring(order=0.1)", "expected an order of 4 ranks, got 2"),
                             ("ring(colour=red)", "got 'colour'"),
                             ("packed_trees(ranks=3 nodes=3 block=1 links=1/0:0-1.1-2)", "expected a graph of 4 ranks, got one of 3")):
        said = run(algorithm)
        expect(isinstance(said, str) and words in said, f"{algorithm}: {said}")


main(__file__)
