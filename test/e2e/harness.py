"""The frame of an end-to-end test: numbered checks, a closing line that counts them, exit status 1 if one failed.

    @check
    def gathers_are_kept(): ...      # raises, or uses expect(...)
    main(__file__)
"""
import os
import sys
import time
import traceback

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tools"), HERE]
DATA = os.path.join(ROOT, "test", "data")
CLUSTERS = os.path.join(ROOT, "cost_models", "clusters")
CHECKS = []


class Failed(Exception):
    pass


def expect(condition, otherwise):
    if not condition:
        raise Failed(str(otherwise))


def expect_error(words, action, *args, **more):
    """The action must raise a BraidJaxError that has all these words."""
    from braid_jax import BraidJaxError
    try:
        action(*args, **more)
    except BraidJaxError as error:
        expect(all(w in str(error) for w in words), f"expected an error with {words}, got: {error}")
        return
    raise Failed(f"expected an error with {words}, got none")


def data(name):
    with open(os.path.join(DATA, name + ".mlir")) as file:
        return file.read()


def values_for(shapes, seed=0):
    """Random arrays for a tree of shapes."""
    import jax
    import numpy as np
    rng = np.random.default_rng(seed)
    make = lambda s: rng.integers(0, 8, s.shape).astype(s.dtype) if np.issubdtype(s.dtype, np.integer) else \
        (rng.standard_normal(s.shape) * 0.3).astype(s.dtype)
    return jax.tree.map(make, shapes)


def check(function):
    CHECKS.append(function)
    return function


def main(file):
    names, failed = sys.argv[1:], []
    chosen = [c for c in CHECKS if not names or c.__name__ in names]
    for c in chosen:
        started = time.monotonic()
        try:
            note = c() or ""
        except Exception as error:  # every check runs, whatever the one before did
            failed.append(c.__name__)
            note = "FAILED: " + (str(error) if type(error).__name__ in ("Failed", "BraidJaxError") else traceback.format_exc())
        print(f"{time.monotonic() - started:5.1f}s {c.__name__}: {note}", flush=True)
    print(f"{os.path.basename(file)}: {len(chosen) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed or not chosen else 0)
