"""What the bars share: where things are, running a program, and the frame of a check with its negative control.

A bar reads

    #!/usr/bin/env python3
    import os, sys
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    import bar
    def check():          # returns the figure, or calls bar.fail
    def control():        # runs the same check on a broken variant; returns bar.rejected(...)
    bar.main(check, control)
"""
import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BRAID_BUILD", ROOT / "build"))
BIN = Path(os.environ.get("BRAID_BIN", BUILD / "bin"))
DATA = ROOT / "test" / "data"
CLUSTERS = ROOT / "cost_models" / "clusters"
LLVM = Path("/usr/lib/llvm-22/bin")
PYTHON = BUILD / "venv" / "bin" / "python"


class Fails(Exception):
    """The promise does not hold; the text says where, what was expected and what was found."""


class Skips(Exception):
    """The promise can't be checked here; the text says why."""


def fail(text):
    raise Fails(text)


def skip(text):
    raise Skips(text)


def tool(name):
    """A program of the build, or of MLIR."""
    for path in (BIN / name, LLVM / name, Path("/usr/bin") / name):
        if path.exists():
            return str(path)
    fail(f"program {name} not found in {BIN}; run tools/scripts/build")


def plugin():
    found = sorted(BUILD.glob("lib/BraidPlugin.so")) or sorted(BUILD.rglob("BraidPlugin.so"))
    return str(found[0]) if found else fail(f"BraidPlugin.so not found under {BUILD}; run tools/scripts/build")


def cluster(name):
    path = CLUSTERS / f"{name}.yaml"
    return str(path) if path.exists() else fail(f"cluster file {path} not found")


def data(name):
    path = DATA / name
    return str(path) if path.exists() else fail(f"program {path} not found")


def run(*command, text=None, timeout=240, **more):
    """Runs a program (bytes or text on standard input) and gives the completed process; output as text."""
    environment = dict(os.environ, PATH=f"{BIN}:{LLVM}:{os.environ.get('PATH', '')}", LC_ALL="C.UTF-8")
    try:
        return subprocess.run([str(c) for c in command], input=text, capture_output=True, text=True, errors="replace",
                              timeout=timeout, env=environment, **more)
    except subprocess.TimeoutExpired:
        fail(f"{Path(str(command[0])).name} ran longer than {timeout} s")


def must(*command, **more):
    """Like run, but a non-zero exit fails the bar."""
    done = run(*command, **more)
    if done.returncode:
        fail(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done


def seconds(*command, **more):
    """Wall time of one successful run."""
    started = time.monotonic()
    must(*command, **more)
    return time.monotonic() - started


def rejected(check, *arguments):
    """For controls: the check must fail on the broken variant given; returns how it did."""
    try:
        figure = check(*arguments)
    except Fails as why:
        return f"rejected: {str(why).splitlines()[0]}"
    fail(f"the broken variant was accepted: {figure}")


def main(check, control):
    parser = argparse.ArgumentParser()
    parser.add_argument("--control", action="store_true")
    args = parser.parse_args()
    try:
        print((control if args.control else check)())
    except Fails as why:
        print(why)
        print(f"FAILS: {str(why).splitlines()[0]}")  # the runner shows the last line
        sys.exit(1)
    except Skips as why:
        print(f"skipped: {why}")
        sys.exit(77)
