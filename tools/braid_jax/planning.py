"""plan: a program through braid-opt's default pipeline."""
import os
import shutil
import subprocess
import sys
import tempfile

from . import program
from .errors import BraidJaxError


def find_braid_opt(given=None):
    """The program to run: as given, in $BRAID_BIN, in this checkout's build/bin, or in PATH."""
    if given:
        if shutil.which(given):
            return given
        raise BraidJaxError(f"braid-opt: expected a program, got '{given}'")
    checkout = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "bin")
    chosen = os.environ.get("BRAID_BIN")
    found = shutil.which("braid-opt", path=chosen) if chosen else shutil.which("braid-opt", path=checkout) or shutil.which("braid-opt")
    if not found:
        raise BraidJaxError(f"braid-opt: not in {f'BRAID_BIN={chosen}' if chosen else 'build/bin or PATH'}; build it with tools/scripts/build")
    return found


def _option(name, value):
    """One option of a pipeline as text."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text or any(c in text for c in "{}\"'"):
        raise BraidJaxError(f"option {name}: '{text}' can't be written in a pipeline")
    return f"{name.replace('_', '-')}=" + (f"'{text}'" if " " in text else text)


def plan(text, cluster=None, engine=None, target="stablehlo", braid_opt=None, what="the program", **options):
    """The planned program as text.

    Options are those of braid-default-pipeline, with _ for -: objective="serving", quantile=0.95, memory_limit="80GiB",
    sidecar="xla.json" and so on; target="braid" stops before the export. What braid-opt complains of is raised, what it
    remarks goes to stderr.
    """
    if not program.is_generic(text):
        raise BraidJaxError(f"{what}: expected StableHLO in generic form, got another spelling; "
                            "`python -m braid_jax generic IN -o OUT` writes it in generic form")
    if cluster is not None:
        options = {"cluster": cluster, **options}
    if engine is not None:
        options["engine"] = engine
    options["target"] = target
    pipeline = " ".join(_option(n, v) for n, v in options.items())
    with tempfile.TemporaryDirectory(prefix="braid-jax-") as folder:
        source, target = os.path.join(folder, "in.mlir"), os.path.join(folder, "out.mlir")
        with open(source, "w") as file:
            file.write(text)
        done = subprocess.run([find_braid_opt(braid_opt), source, f"--braid-default-pipeline={pipeline}", "--mlir-print-op-generic", "-o", target],
                              capture_output=True, text=True)
        said = done.stderr.replace(source, what)
        if done.returncode or not os.path.exists(target):
            raise BraidJaxError(f"braid-opt: exit status {done.returncode}: {said.strip() or 'no message'}")
        sys.stderr.write(said)
        with open(target) as file:
            return file.read()
