"""The command line: export, generic, plan, run, compare. Exit status 0: done and agreed; 1: programs differ; 2: the original
is no oracle (or wrong usage); 3: an error, in one sentence on stderr."""
import argparse
import errno
import importlib
import importlib.util
import json
import os
import sys
import textwrap
import traceback

from . import program
from .devices import devices_named_in, use_host_devices
from .errors import BraidJaxError


def _write(path, text):
    """Whole or not at all: a full disk leaves no half-written program behind."""
    if path == "-":
        sys.stdout.write(text)
        return
    # A device or a pipe is written in place; through a link, so that the link stays.
    special = os.path.exists(path) and not os.path.isfile(path)
    part = path if special else f"{os.path.realpath(path)}.part{os.getpid()}"
    try:
        with open(part, "w") as file:
            file.write(text)
        if not special:
            os.replace(part, os.path.realpath(path))
    except OSError as error:
        if not special and os.path.exists(part):
            os.remove(part)
        raise BraidJaxError(f"{path}: can't write it: {error.strerror}") from None
    if not special:
        _say_written(path)


def _say_written(path):
    with open(path) as file:
        print(f"wrote {path} ({sum(1 for _ in file)} lines)", file=sys.stderr)


def _check_output(path):
    """Before the work, not after it: can a file be written there?"""
    folder = os.path.dirname(os.path.realpath(path))
    if path == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)):
        return
    if os.path.isdir(path):
        raise BraidJaxError(f"{path}: can't write it: Is a directory")
    if not os.path.isdir(folder):
        raise BraidJaxError(f"{path}: can't write it: No such file or directory")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BraidJaxError(f"{path}: can't write it: Permission denied")


def _function(name, devices):
    """MODULE:FUNCTION -> what FUNCTION() returns, a jitted function and its arguments (arrays or shapes)."""
    where, _, function = name.rpartition(":")
    if not where:
        raise BraidJaxError(f"{name}: expected MODULE:FUNCTION or FILE.py:FUNCTION")
    if where.endswith(".py") and not os.path.isfile(where):
        raise BraidJaxError(f"{where}: no such file")
    try:
        if where.endswith(".py"):
            sys.path.insert(0, os.path.dirname(os.path.abspath(where)))
            spec = importlib.util.spec_from_file_location(os.path.basename(where)[:-3], where)
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        else:
            sys.path.insert(0, os.getcwd())
            module = importlib.import_module(where)
    except Exception as error:  # an import that fails, a syntax error, or what the file does when it is read
        raise BraidJaxError(f"{where}: can't import it: {_place(error)}{_said(error)}") from None
    if not hasattr(module, function):
        raise BraidJaxError(f"{where}: has no '{function}'")
    try:
        made = getattr(module, function)()
    except Exception as error:
        raise BraidJaxError(f"{name}: can't be called with {devices} devices (--devices): {_place(error)}{_said(error)}") from None
    if not (isinstance(made, tuple) and len(made) == 2 and isinstance(made[1], (tuple, list))):
        got = f"{len(made)} values" if isinstance(made, tuple) and len(made) != 2 else type(made).__name__
        if isinstance(made, tuple) and len(made) == 2:
            got = f"arguments of type {type(made[1]).__name__}; one alone is a tuple, too: (argument,)"
        raise BraidJaxError(f"{name}: expected a function that returns (jitted function, arguments), got {got}")
    return made


def _place(error):
    """FILE:LINE: of the innermost line that is neither in a library nor of this package; JAX leaves its own out."""
    here = os.path.dirname(os.path.abspath(__file__))
    frames = [f for f in traceback.extract_tb(error.__traceback__)
              if "site-packages" not in f.filename and os.path.isfile(f.filename) and os.path.dirname(f.filename) != here]
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""


def _said(error):
    """On one line: JAX says it in paragraphs."""
    return f"{type(error).__name__}: {textwrap.shorten(str(error), 400, placeholder=' ...')}"


def _export(o):
    use_host_devices(o.devices)
    from .exporting import export
    jitted, args = _function(o.function, o.devices)
    try:
        text = export(jitted, *args, partitioner=o.partitioner, locations=o.locations)
    except BraidJaxError:
        raise
    except Exception as error:  # what JAX or the function itself says of the function and this number of devices
        raise BraidJaxError(f"{o.function}: can't be traced for {o.devices} devices: {_place(error)}{_said(error)}") from None
    _write(o.output, text)
    return 0


def _generic(o):
    _write(o.output, program.to_generic(program.read(o.program), o.program, o.locations))
    return 0


def _plan(o):
    from .planning import plan
    options = dict(item.partition("=")[::2] for item in o.option)
    exported = options.get("target", "stablehlo") == "stablehlo"
    if o.sidecar and ("sidecar" in options or not exported):
        raise BraidJaxError("--sidecar: expected a StableHLO result and no --option sidecar=..., got --option sidecar or target")
    if "sidecar" not in options and exported and (o.sidecar or os.path.isfile(o.output) or not os.path.exists(o.output) and o.output != "-"):
        options["sidecar"] = o.sidecar or o.output.removesuffix(".mlir") + ".xla-options.json"
    if "sidecar" in options:
        _check_output(options["sidecar"])
    _write(o.output, plan(program.read(o.program), cluster=o.cluster, engine=o.engine, braid_opt=o.braid_opt, what=o.program, **options))
    if "sidecar" in options:
        _say_written(options["sidecar"])
    return 0


def _devices(*texts, asked=None):
    count = asked or max(devices_named_in(t if isinstance(t, str) else "") for t in texts)
    use_host_devices(count)
    return asked


def _run(o):
    text = program.read(o.program)
    devices = _devices(text, asked=o.devices)
    import hashlib
    import numpy as np
    from . import collectives, running
    executable = running.compile_text(text, o.program, devices)
    outputs = executable.run(running.random_inputs(executable.arguments, o.seed, o.program))
    for i, parts in enumerate(outputs):
        digest = hashlib.sha256(b"".join(p.tobytes() for p in parts)).hexdigest()[:12]
        mean = np.mean([np.mean(p.astype(np.float64)) for p in parts if p.size]) if parts[0].size and parts[0].dtype.kind != "c" else float("nan")
        print(f"output {i}: {len(parts)} x {parts[0].dtype}{list(parts[0].shape)}, mean {mean:.6g}, sha256 {digest}")
    print(f"{o.program}: {len(executable.devices)} devices, text {collectives.summary(executable.written)}, "
          f"compiled {collectives.summary(executable.compiled)}")
    return 0


def _compare(o):
    original, changed = program.read(o.original), program.read(o.changed)
    devices = _devices(original, changed, asked=o.devices)
    plan = None
    if o.plan:
        try:
            plan = json.loads(program.read(o.plan))
        except ValueError as error:
            raise BraidJaxError(f"{o.plan}: expected the JSON of `braid-sim compare`: {error}") from None
    from .comparing import compare
    report = compare(original, changed, seed=o.seed, rtol=o.rtol, expect_bitwise=o.expect_bitwise, plan=plan,
                     names=(o.original, o.changed), devices=devices, say=lambda text: print(text, file=sys.stderr, flush=True))
    print(report)
    return report.status


class _Output:
    """Standard output that says when it is closed, or can't be written: what is printed must not vanish with exit status 0."""

    def __init__(self, stream):
        self.stream = stream

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def _do(self, action, *arguments):
        try:
            if self.stream is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return getattr(self.stream, action)(*arguments)
        except OSError as error:
            if self.stream is not None:  # Python would try once more at its end
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())
            raise BraidJaxError(f"standard output: {error.strerror}") from None

    def write(self, text):
        return self._do("write", text)

    def flush(self):
        return self.stream and self._do("flush")


def tool():
    """main, as a program of its own."""
    sys.stdout = _Output(sys.stdout)
    try:
        try:
            status = main()
        except SystemExit as end:  # --help
            status = end.code
        sys.stdout.flush()
        return status
    except BraidJaxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3


def main(argv=None):
    parser = argparse.ArgumentParser(prog="braid_jax", description="JAX programs to Braid and back.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name, run, about):
        sub = commands.add_parser(name, help=about, description=about)
        sub.set_defaults(run=run)
        return sub

    c = command("export", _export, "write a jitted function as generic-form StableHLO with visible collectives")
    c.add_argument("function", metavar="MODULE:FUNCTION", help="returns (jitted function, arguments); MODULE may be a file.py")
    c.add_argument("-o", "--output", default="-", help="file to write (default: standard output)")
    c.add_argument("--devices", type=int, default=8, help="host devices to lower for (default 8)")
    c.add_argument("--partitioner", choices=("auto", "never", "always"), default="auto",
                   help="run XLA's partitioner: if collectives are not explicit yet (auto, the default), never, or always")
    c.add_argument("--locations", action="store_true", help="keep source locations (default: they are left out)")

    c = command("generic", _generic, "print StableHLO in any spelling (pretty, bytecode, portable artifact) in generic form")
    c.add_argument("program")
    c.add_argument("-o", "--output", default="-", help="file to write (default: standard output)")
    c.add_argument("--locations", action="store_true", help="keep source locations (default: they are left out)")

    c = command("plan", _plan, "plan a program with braid-opt")
    c.add_argument("program")
    c.add_argument("--cluster", required=True, help="cluster file (YAML; required)")
    c.add_argument("--engine", help="who runs the collectives: nccl, braid (default: the pipeline's, nccl)")
    c.add_argument("--braid-opt", help="the program to use (default: $BRAID_BIN, build/bin, PATH)")
    c.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="another option of braid-default-pipeline (default: none)")
    c.add_argument("--sidecar", metavar="FILE", help="where the XLA options go without which XLA merges collectives again "
                   "(default: OUTPUT without .mlir and with .xla-options.json; none where the program goes to standard output or stays braid)")
    c.add_argument("-o", "--output", default="-", help="file to write (default: standard output)")

    c = command("run", _run, "run a program on host devices with random inputs")
    c.add_argument("program")
    c.add_argument("--seed", type=int, default=0, help="of the random inputs (default 0)")
    c.add_argument("--devices", type=int, help="default: as many as the program names")

    c = command("compare", _compare, "run two programs with the same inputs; compare results and compiled collectives")
    c.add_argument("original")
    c.add_argument("changed")
    c.add_argument("--seed", type=int, default=0, help="of the random inputs (default 0)")
    c.add_argument("--rtol", type=float, help="allowed difference relative to the largest value of an output (default: by the type of its elements)")
    c.add_argument("--expect-bitwise", action="store_true", help="results must be the same bits (default: within --rtol)")
    c.add_argument("--plan", help="JSON of `braid-sim compare`: its plan must be what the changed program has (default: not compared)")
    c.add_argument("--devices", type=int, help="default: as many as the programs name")

    o = parser.parse_args(argv)
    try:
        _check_output(getattr(o, "output", "-"))
        return o.run(o)
    except BraidJaxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
