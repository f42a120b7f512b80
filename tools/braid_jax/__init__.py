"""JAX programs to Braid and back.

    text = braid_jax.export(jitted, *args)                    # generic-form StableHLO with visible collectives
    planned = braid_jax.plan(text, cluster="h100-ib-ndr-1x8.yaml")
    step = braid_jax.load(planned, like=(jitted, args))       # a callable with the trees and shardings of the original
    report = braid_jax.compare(text, planned)                 # both on host devices, and what XLA really compiled

Nothing here imports jax before it is needed: the command line must set the number of host devices first.
"""
import os

from .errors import BraidJaxError

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # as jax does; jaxlib reads it when it is loaded, which may be before jax

_HOME = {"export": "exporting", "plan": "planning", "load": "loading", "compare": "comparing", "compare_callables": "comparing",
         "use_host_devices": "devices"}
__all__ = ["BraidJaxError", *_HOME]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'braid_jax' has no attribute '{name}'")
    from importlib import import_module
    return getattr(import_module("." + _HOME[name], __name__), name)
