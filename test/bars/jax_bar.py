"""What the bars that execute programs in JAX share: the Python environment, host devices, braid-opt, one comparison.

Import it after bar. A bar is started by any python3 and goes on in the environment of the build. BRAID_PYTHON and BRAID_BIN
name another Python and another folder of programs.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import bar

PYTHON = Path(os.environ.get("BRAID_PYTHON", bar.PYTHON))
DEVICES = 8
RUNNABLE = ("mlp_dp8", "gpt_dp8", "gpt_accumulate_dp8", "gpt_tp4_dp2", "llama_fsdp8", "zero1_adam_dp8", "moe_ep8", "pipeline_pp4_dp2",
            "resnet_dp8", "auto_gpt_dp4_tp2", "auto_gpt_fsdp8")
LARGE = ("gpt2_medium_dp128", "llama7b_fsdp128")

sys.path[:0] = [str(bar.ROOT / "tools"), str(bar.ROOT / "test" / "e2e")]


def enter_environment():
    """Go on as a program of the environment that has jax."""
    if not PYTHON.exists():
        bar.skip(f"no Python environment at {PYTHON}; run tools/scripts/build, or set BRAID_PYTHON")
    if os.environ.get("BRAID_JAX_BAR") != str(PYTHON):
        os.environ["BRAID_JAX_BAR"] = str(PYTHON)
        os.execv(PYTHON, [str(PYTHON), *sys.argv])
    import braid_jax
    braid_jax.use_host_devices(DEVICES)


def main(check, control):
    """bar.main, in the environment of jax; errors of braid_jax fail the bar."""
    def guarded(action):
        def run():
            enter_environment()
            from braid_jax import BraidJaxError
            try:
                return action()
            except BraidJaxError as error:
                bar.fail(str(error))
        return run
    bar.main(guarded(check), guarded(control))


def braid_opt(source, *arguments):
    """braid-opt on a file, or on a program's text: what it wrote, in generic form."""
    program = Path(os.environ.get("BRAID_BIN", bar.BIN)) / "braid-opt"
    if not program.exists():
        bar.fail(f"program {program} not found; run tools/scripts/build")
    with tempfile.TemporaryDirectory(prefix="braid-bar-") as folder:
        out = Path(folder) / "out.mlir"
        done = subprocess.run([program, source, *arguments, "--mlir-print-op-generic", "-o", out], capture_output=True, text=True)
        if done.returncode:
            bar.fail(f"braid-opt {Path(source).name} {' '.join(arguments)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
        return out.read_text()


def plan_of_simulator(name, cluster):
    """What `braid-sim compare` says that the plan of an input is."""
    program = Path(os.environ.get("BRAID_BIN", bar.BIN)) / "braid-sim"
    return json.loads(bar.must(program, "compare", bar.data(name + ".mlir"), "--cluster", bar.cluster(cluster), "--format=json").stdout)


def agree(name, original, changed, **options):
    """Compare in JAX; a difference fails the bar. `original` may be compiled already."""
    import braid_jax
    report = braid_jax.compare(original, changed, names=(name, f"{name} changed"), **options)
    if not report:
        lines = report.not_an_oracle + report.problems
        bar.fail(f"{name}: {lines[0]}" + "".join(f"\n  {line}" for line in report.lines()[-12:]))
    return report
