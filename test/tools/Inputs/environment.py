"""Runs a small job of two ranks with each value of each variable: it is obeyed, or the job ends soon with a sentence that names the variable,
what is expected, and the value. Says what does neither; `broken` is a control of a variable that nobody reads."""
import os
import subprocess
import sys

ODD = ["nonsense", "-3", "99999999999999999999", "5 ", "0x10", "\u03c0\u2603", " on", "1e3"]
OBEYED = {"BRAID_LOG": ["", "on", "off", "0", "1", "info"], "BRAID_AFFINITY": ["", "on", "off"], "BRAID_PATHS": ["", "off"], "BRAID_ENGINE": ["", "braid"],
          "BRAID_ISLANDS": [""], "BRAID_RENDEZVOUS": [""], "BRAID_STORE": [""], "BRAID_RT_LIBRARY": [""]}
JOB = ["braid-bench", "measure", "-n", "2", "--collective", "all_reduce", "--sizes", "8", "--seconds", "0.005", "--samples", "6"]
variables = {"BRAID_NOBODY": []} if "broken" in sys.argv else OBEYED
tried = 0
for variable, obeyed in variables.items():
    for value in obeyed + ODD:
        tried += 1
        job = subprocess.run(JOB, env={**os.environ, variable: value}, capture_output=True, text=True, timeout=60)
        errors = [line for line in job.stderr.splitlines() if "error: " in line]
        if value in obeyed:
            good = job.returncode == 0 and not errors
        elif variable == "BRAID_RT_LIBRARY":  # what the dynamic linker says
            good = job.returncode > 0 and len(errors) == 1 and value in errors[0]
        else:  # of one rank at least: others may only hear of its end
            good = job.returncode > 0 and any(variable in line and "expected" in line and value in line for line in errors)
        if not good:
            print(f"{variable}={value!r}: {job.returncode} {job.stderr}")
print(f"{tried} values")
