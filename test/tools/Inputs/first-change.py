"""Says what the cost model prefers at the last size of the file's first range and at the one after it."""
import json
import subprocess
import sys

bound = json.load(open(sys.argv[1]))["communicators"][0]["collectives"]["all_reduce"][0]["max_bytes"]
best = [json.loads(subprocess.run(["braid-sim", "price", "all_reduce", "--bytes", f"{size}B", "--cluster", sys.argv[2], "--format",
                                   "json"], capture_output=True, check=True).stdout)["sizes"][0]["algorithm"]
        for size in (bound, bound + 1)]
print(" then ".join(best))
