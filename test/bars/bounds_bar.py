"""The bound beside what `braid-sim compare` says of real programs: what the bars `bounds` and `bounds_all` share."""
import json

import bar

REAL = [("mlp_dp8", "h100-roce-4x2"), ("gpt_dp8", "h100-ib-ndr-4x2"), ("moe_ep8", "h100-roce-4x2"),
        ("gpt_tp4_dp2", "h100-roce-4x2"), ("gpt2_medium_dp128", "h100-roce-16x8")]
LONG = {("gpt2_medium_dp128", "braid")}  # step programs of 128 ranks are played for every size that the search asks for


def real_programs(whole):
    """The smallest gap from a policy's objective to the bound of it, and the plans' largest. `whole`: the plan of a long search, too,
    where it is else the greedy one."""
    closest, farthest = 1e9, 0
    for program, cluster in REAL:
        for engine in ("nccl", "braid"):
            greedy = ["--budget", "0"] if (program, engine) in LONG and not whole else []
            said = json.loads(bar.must(bar.tool("braid-sim"), "compare", bar.data(program + ".mlir"), "--cluster", bar.cluster(cluster),
                                       "--engine", engine, "--format", "json", *greedy, timeout=900).stdout)
            for policy in said["policies"]:
                if "bound_s" in policy:  # a system that runs other collectives
                    continue
                for what in ("objective_s", "p50_s", "p95_s", "p99_s"):
                    if policy[what] < said["bound_" + what] * (1 - 1e-9):
                        bar.fail(f"{program} on {cluster}, {engine}, {policy['name']}: expected a {what} of at least "
                                 f"{said['bound_' + what]} s, got {policy[what]} s")
                closest = min(closest, policy["objective_s"] / said["bound_objective_s"])
            farthest = max(farthest, policy["objective_s"] / said["bound_objective_s"])
    return closest, farthest
