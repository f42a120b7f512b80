"""What the conformance bars share: running the suite, and profiles of the emulated fabric for each number of ranks."""
import os

import bar


def figure(*arguments, timeout=350):
    """The suite's last line; fails with the cases that failed."""
    done = bar.run(bar.tool("conformance"), *arguments, timeout=timeout)
    lines = done.stdout.strip().splitlines() or [done.stderr.strip() or f"exit status {done.returncode}"]
    if done.returncode:
        bar.fail("\n".join([lines[-1]] + lines[:10]))
    return lines[-1]


def profiles(folder):
    """One file for each number of ranks, each rank on a host of its own; the suite's --profile. The clock is the virtual one."""
    os.environ["BRAID_EMULATED_CLOCK"] = "virtual"
    for ranks in range(1, 10):
        place = ",".join(f"{host}:0" for host in range(ranks))
        bar.must(bar.tool("braid-sim"), "emit-profile", "--cluster", bar.cluster("h100-roce-16x8"), "--placement", place,
                 "-o", f"{folder}/{ranks}.json")
    return f"{folder}/%.json"
