"""What the bars on measured tables share: a fit's figures, tampered copies of tables, medians."""
import csv
import json
import statistics
import tempfile
from pathlib import Path

import bar

MEASURED = bar.DATA / "measured"


def fit(table, cluster, *options):
    """The JSON of `braid-bench fit`: constants, residuals, picks, figures of fitted and held-out rows."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "fit.json"
        bar.must(bar.tool("braid-bench"), "fit", table, "--cluster", bar.cluster(cluster), "--json", out, *options)
        return json.loads(out.read_text())


def rows_of(table):
    """Comment lines, names of the columns, and the rows as dictionaries."""
    lines = Path(table).read_text().splitlines()
    reader = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [line for line in lines if line.startswith("#")], reader.fieldnames, list(reader)


def tampered(table, change, folder):
    """A copy of the table without bandwidths, each row as change(row, index of its size) leaves it."""
    comments, names, rows = rows_of(table)
    names = [name for name in names if name not in ("algbw_GBps", "busbw_GBps")]
    sizes = sorted({int(row["bytes"]) for row in rows})
    path = Path(folder) / Path(table).name
    with open(path, "w", newline="") as file:
        file.write("".join(line + "\n" for line in comments))
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            change(row, sizes.index(int(row["bytes"])))
            writer.writerow(row)
    return path


def random_halves(table, cluster, count=40):
    """One line each for `count` random halves of the table's sizes, and of its cells (a size on a job), held out: how a fit does
    when others than those of the bar are. Nothing is demanded of them: a half may lack all that tells two algorithms apart."""
    lines = []
    jobs = {row["job"] for row in fit(table, cluster)["residuals"]}
    for what in ("sizes", "cells") if len(jobs) > 1 else ("sizes",):
        errors, regrets = [], []
        for seed in range(count):
            result = fit(table, cluster, "--hold-out", f"half-of-{what}={seed}")
            errors.append(median_error(held_out(result)))
            regrets.append(worst_regret([pick for pick in result["picks"] if pick["held_out"]]))
        over = sum(regret > 1.15 for regret in regrets)
        picks = f"; regret above 1.15 in {over}, worst {max(regrets):.3f}" if max(regrets) > 1 or result["picks"] else ""
        lines.append(f"{count} random halves of {what} held out: median |error| {percent(statistics.median(errors))}, "
                     f"at most {percent(max(errors))}{picks}")
    return lines


def median_error(rows):
    return statistics.median(abs(row["error"]) for row in rows)


def held_out(result):
    return [row for row in result["residuals"] if row["held_out"]]


def wrong(picks):
    return [pick for pick in picks if pick["chosen"] != pick["best"]]


def worst_regret(picks):
    return max((pick["regret"] for pick in picks), default=1)


def percent(value):
    return f"{100 * value:.1f} %"
