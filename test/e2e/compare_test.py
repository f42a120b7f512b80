#!/usr/bin/env python3
"""The comparison itself: it accepts a bucket made by hand, and finds out every broken export and every wrong plan."""
import os
import subprocess
import sys
import tempfile

from harness import DATA, ROOT, check, data, expect, expect_error, main
import braid_jax

braid_jax.use_host_devices(8)
import edits  # noqa: E402


@check
def bucket_by_hand_is_accepted():
    original = data("mlp_dp8")
    report = braid_jax.compare(original, edits.bucket_all_reduces(original, 4), expect_bitwise=True)
    expect(report, report)
    expect("changed: text 2 all_reduce; compiled 2 all_reduce" in report.notes, report.notes)
    return report.lines()[-1]


@check
def broken_exports_are_rejected():
    original = data("gpt_accumulate_dp8")
    bucketed = edits.bucket_all_reduces(original, 4)
    from braid_jax import running
    oracle = running.compile_text(original)
    for name, broken in edits.BROKEN.items():
        for start in (original, bucketed):
            report = braid_jax.compare(oracle, broken(start), rtol=2e-6)
            expect(report.status == 1 and any("relative difference" in p for p in report.problems), f"{name}: {report}")
    return f"{len(edits.BROKEN)} kinds, with and without a bucket"


@check
def what_was_compiled_is_read():
    """A text whose collectives XLA merges by itself has right values, and is rejected all the same."""
    from braid_jax import comparing, running
    executable = running.compile_text(data("mlp_dp8"))
    report = comparing.Report()
    comparing.check_compiled(report, executable, "mlp_dp8")
    expect(report, report)
    executable.compiled = executable.compiled[1:]
    comparing.check_compiled(report, executable, "mlp_dp8")
    expect(len(report.problems) == 1 and "expected, not found" in report.problems[0], report)


@check
def equal_gathers_count_once():
    from braid_jax import collectives, running
    executable = running.compile_text(data("llama_fsdp8"))
    expect(collectives.summary(executable.written) == "1 all_reduce, 29 all_gather, 29 reduce_scatter", executable.written)
    expect(collectives.difference(executable.written, executable.compiled) == [], "text and compiled differ")


@check
def what_works_on_constants_may_be_missing():
    """XLA computes a psum of ones and drops what has no elements; of a permute of ones, or a psum of zeros times an argument, it does not."""
    import jax
    import jax.numpy as jnp
    import models
    from braid_jax import collectives, running
    jitted, shapes = models.PROGRAMS["constant_operands"]()
    constants = running.compile_text(braid_jax.export(jitted, *shapes))
    expect(len(constants.compiled) < len(constants.written), "XLA kept all of them: this test shows nothing")
    expect(collectives.difference(constants.written, constants.compiled) == [], "what XLA folded is reported as missing")
    step = lambda x: (jax.lax.ppermute(jnp.ones((4,)), "data", [(0, 1)]), jax.lax.psum(x * 0, "data"))
    args = (models.shape(8),)
    kept = running.compile_text(braid_jax.export(models.manual(step, models.mesh(data=8), models.P("data"), models.P("data")), *args))
    expect(not any(c.foldable for c in kept.written), kept.written)
    expect(len(collectives.difference(kept.written, [])) == 2, "what XLA must keep may be missing")


@check
def chains_of_dependences():
    from braid_jax import numbering, program
    from jaxlib.mlir import ir
    depth = {}
    for name in ("mlp_dp8", "resnet_dp8"):
        with program.context(), ir.Location.unknown():
            depth[name] = max(level for level, _ in numbering.levels_of(program.parse(data(name)), 8))
    expect(depth["mlp_dp8"] == 1 and depth["resnet_dp8"] > 12, depth)
    return depth


@check
def plans_are_checked():
    text = data("mlp_dp8")
    from braid_jax import program
    plan = [dict(kind=c.kind, bytes=c.operand_bytes, group_size=c.group_size) for c in program.collective_ops(text)]
    expect(braid_jax.compare(text, text, plan={"plan": plan}), "the right plan was rejected")
    report = braid_jax.compare(text, text, plan={"plan": plan[1:]})
    expect(report.status == 1 and "found, not planned" in report.problems[0], report)


@check
def no_oracle_without_repetition():
    from braid_jax import comparing
    import numpy as np
    report = comparing.Report()
    comparing.check_oracle(report, [[np.float32([1, 2])]], [[np.float32([1, 3])]])
    comparing.check_oracle(report, [[np.float32([np.nan])]], [[np.float32([np.nan])]])
    expect(report.status == 2 and len(report.not_an_oracle) == 2, report)
    report = comparing.judge(comparing.Report(), [[np.float32([1, np.inf])]], [[np.float32([1, -np.inf])]])
    expect(report.status == 1, "infinities of different sign were accepted")


def command(*words):
    done = subprocess.run([sys.executable, "-m", "braid_jax", *words], capture_output=True, text=True, cwd=ROOT,
                          env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, "tools"), BRAID_BIN="/nonexistent", PATH="/usr/bin:/bin"))
    return done.returncode, done.stdout, done.stderr


UNEVEN = '''import jax
from jax.sharding import Mesh, PartitionSpec as P


def step():
    mesh = Mesh(jax.devices()[:5], ("data",))
    same = jax.jit(jax.shard_map(lambda x: x, mesh=mesh, in_specs=P("data"), out_specs=P("data")))
    return same, (jax.ShapeDtypeStruct((8,), "float32"),)
'''


@check
def command_line():
    with tempfile.TemporaryDirectory() as folder:
        where = lambda name: os.path.join(folder, name)

        def write(name, text):
            with open(where(name), "w") as file:
                file.write(text)
            return where(name)

        mlp = os.path.join(DATA, "mlp_dp8.mlir")
        status, out, err = command("compare", mlp, write("b.mlir", edits.bucket_all_reduces(data("mlp_dp8"), 2)), "--expect-bitwise")
        expect(status == 0 and out.splitlines()[-1].startswith("agree"), (status, out, err))
        expect(err.count("XLA compiles it: done in") == 2 and err.count("runs with the same inputs: done in") == 1, err)
        status, out, err = command("compare", mlp, write("w.mlir", edits.wrong_group(data("mlp_dp8"))), "--rtol", "2e-6")
        expect(status == 1 and out.splitlines()[-1].startswith("differ"), (status, out, err))
        pretty = write("pretty.mlir", "module { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> } }")
        errors = {  # each: one line on stderr, behind what was being done, and exit status 3
            ("compare", mlp, where("absent.mlir")): "absent.mlir: no such file",
            ("compare", mlp, write("empty.mlir", "")): "the file is empty",
            ("compare", mlp, write("cut.mlir", data("mlp_dp8")[:3000])): "can't read it as StableHLO",
            ("compare", mlp, os.path.join(DATA, "moe_ep8.mlir")): "different signatures",
            ("compare", mlp, write("four.mlir", data("mlp_dp8").replace("num_partitions = 8", "num_partitions = 4"))):
                "expected a program for 8 devices",
            ("compare", mlp, mlp, "--plan", write("plan.json", "{")): "expected the JSON",
            ("plan", pretty, "--cluster", "x.yaml"): "generic form",
            ("plan", mlp, "--cluster", "x.yaml"): "braid-opt: not in BRAID_BIN",
            ("export", "nothing"): "expected MODULE:FUNCTION",
            ("export", os.path.join(ROOT, "test/e2e/models.py") + ":nothing"): "has no 'nothing'",
            ("export", os.path.join(ROOT, "test/e2e/models.py") + ":mlp", "-o", "/nonexistent/out.mlir"): "can't write it",
            ("export", write("uneven.py", UNEVEN) + ":step", "--devices", "5"): "traced for 5 devices: ValueError: shard_map",
            ("export", write("odd.py", UNEVEN.replace("(8,)", "(10,)").replace("lambda x: x", "lambda x: x.odd")) + ":step", "--devices", "10"):
                "odd.py:7: AttributeError",
        }
        for words, said in errors.items():
            status, out, err = command(*words)
            lines = [line for line in err.splitlines() if "XLA compiles it" not in line]
            expect(status == 3 and lines[0].startswith("error: ") and said in err and "Traceback" not in err, f"{words}: {status} {err}")
        status, out, err = command("generic", pretty)
        expect(status == 0 and '"func.func"' in out, (status, out, err))
        status, out, err = command("export", os.path.join(ROOT, "test/e2e/models.py") + ":mlp", "-o", where("mlp.mlir"))
        expect(status == 0, err)
        status, out, err = command("run", where("mlp.mlir"))
        expect(status == 0 and "compiled 4 all_reduce" in out, (status, out, err))
    return f"{len(errors)} errors, each one sentence"


@check
def plan_files_are_errors_in_one_sentence():
    expect_error(["expected a program"], braid_jax.plan, data("mlp_dp8"), cluster="x.yaml", braid_opt="/nonexistent/braid-opt")
    expect_error(["can't be written"], braid_jax.plan, data("mlp_dp8"), cluster="a{b.yaml", braid_opt="/bin/true")
    expect_error(["exit status 1"], braid_jax.plan, data("mlp_dp8"), cluster="x.yaml", braid_opt="/bin/false")


main(__file__)
