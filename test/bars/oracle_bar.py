"""Plans beside schedules that Gecode proves to be optimal (test/oracle), for the bars."""
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import bar

WORST = 1.01


def instances(kind, first, last, failures):
    """One row for each seed, solved side by side. A schedule that is wrong, or a plan below what was proven, fails."""
    if not (bar.BIN / "plan_oracle").exists():
        bar.skip("plan_oracle is not built: Gecode (Debian's libgecode-dev) was not found")

    def solve(seed):
        done = bar.run(bar.tool("plan_oracle"), kind, seed, seed, failures, timeout=3000)
        if done.returncode:
            bar.fail(done.stdout.strip() or done.stderr.strip() or f"plan_oracle {kind} {seed}: exit status {done.returncode}")
        return json.loads(done.stdout)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for row in pool.map(solve, range(first, last + 1)):
            known = "optimum" if row["proven"] else f"best known, {1 - row['proven_s'] / row['optimum_s']:.1%} above what is proven"
            print(f"{row['name']:<28} {row['tasks']:>3} tasks, {row['collectives']:>3} collectives, contention {row['contention']:4.2f}: plan "
                  f"{row['plan_s'] / row['optimum_s']:.4f} of the {known}; bound {row['bound_s'] / row['optimum_s']:.4f}, best baseline "
                  f"{row['baseline_s'] / row['optimum_s']:.4f}", flush=True)
            yield row


def compare(kind, seeds, failures, wanted, baseline=False):
    """The figure of one kind: how many are proven, of how many tasks, and how far the worst plan is from its optimum."""
    rows = list(instances(kind, 1, seeds, failures))
    below = [r["name"] for r in rows if r["bound_s"] > r["optimum_s"] * (1 + 1e-9)]
    if below:
        bar.fail(f"{below[0]}: expected the bound to be no more than the oracle's schedule")
    proven = [r for r in rows if r["proven"] and 1 / 3 <= r["contention"] <= 3]
    what = "baseline" if baseline else "plan"
    # Beside what is proven, which may be 0.1 % below the best that was found.
    worst = max(proven, key=lambda r: r[f"{what}_s"] / r["proven_s"], default=None)
    ratio = worst[f"{what}_s"] / worst["proven_s"] if worst else 0
    open_ones = max((r[f"{what}_s"] / r["optimum_s"] for r in rows if not r["proven"]), default=0)
    figure = (f"{kind}: {len(proven)} of {seeds} instances proven optimal ({wanted}), {min((r['tasks'] for r in proven), default=0)} to "
              f"{max((r['tasks'] for r in proven), default=0)} tasks, {what} / optimum worst {ratio:.4f} ({WORST})"
              + (f" in {worst['name']}" if worst else "") + (f"; beside the best known of the others {open_ones:.4f}" if open_ones else ""))
    if len(proven) < wanted or ratio > WORST:
        bar.fail(figure)
    return figure


def model(planted=False):
    """The solver's optimum is that of all schedules, enumerated and played, of 60 tiny instances."""
    if not (bar.BIN / "plan_oracle").exists():
        bar.skip("plan_oracle is not built: Gecode (Debian's libgecode-dev) was not found")
    done = bar.run(bar.tool("plan_oracle"), "tiny", 1, 60, *(["--planted"] if planted else []))
    if done.returncode:
        bar.fail(done.stdout.strip().splitlines()[-1])
    return f"60 tiny instances as enumerated"
