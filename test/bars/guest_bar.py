"""Runs a script in the guest of test/verbs/soft-roce-guest: ends with a network and an RDMA device each."""
import os
import subprocess
import tempfile
from pathlib import Path

import bar

GUEST = bar.ROOT / "test" / "verbs" / "soft-roce-guest"


def run(ends, script, *arguments, netem="", clock="host", timeout=300, **variables):
    """The completed process, and the files that the script left in $OUT; $BIN has the programs. Skips where no guest can be."""
    with tempfile.TemporaryDirectory() as out:
        options = ["--ends", str(ends), "--rw", out, "--timeout", str(timeout), "--clock", clock] + (["--netem", netem] if netem else [])
        done = subprocess.run([str(GUEST), *options, "--", "bash", "-c", script, "job", *map(str, arguments)],
                              capture_output=True, text=True, cwd=bar.ROOT, errors="replace",
                              env=dict(os.environ, OUT=out, BIN=str(Path(bar.tool("braid-bench")).parent), **variables))
        said = {name: Path(out, name).read_text(errors="replace") for name in os.listdir(out)}
    if done.returncode == 125:
        bar.skip("no guest: " + (done.stderr.strip().splitlines() or ["?"])[-1])
    return done, said
