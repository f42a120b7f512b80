"""Host devices: how many a program text needs, and how a process gets them.

XLA gives the CPU one device unless a flag asks for more, and reads that flag when jax starts its CPU client. Hence the
count is read from the program's text alone, without jax.
"""
import math
import os
import re
import sys

from .errors import BraidJaxError

_FLAG = "--xla_force_host_platform_device_count"


def devices_named_in(text):
    """The number of devices that a StableHLO text speaks of: its partition count, its meshes, or its groups."""
    if m := re.search(r"mhlo\.num_partitions = (\d+)", text):
        if int(m[1]) > 1:
            return int(m[1])
    # A manual computation spans its whole mesh; both the generic and the pretty spelling of a mesh end in <["a"=2, "b"=4].
    sizes = [math.prod(int(n) for n in re.findall(r'"=(\d+)', axes)) for axes in re.findall(r'<\[((?:"[^"]*"=\d+(?:, )?)+)\]', text)]
    # Full lists of groups name every device once: their tensor type holds the count.
    sizes += [int(a) * int(b) for a, b in re.findall(r"replica_groups = dense<[^>]*> : tensor<(\d+)x(\d+)xi64>", text)]
    return max(sizes, default=1)


def use_host_devices(count):
    """Ask XLA for at least `count` CPU devices. Takes effect only if jax has not started yet."""
    flags = os.environ.get("XLA_FLAGS", "")
    present = re.search(_FLAG + r"=(\d+)", flags)
    if present and int(present[1]) >= count:
        return
    flags = re.sub(_FLAG + r"=\d+", "", flags).strip()
    os.environ["XLA_FLAGS"] = f"{flags} {_FLAG}={count}".strip()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")


def host_devices(count):
    """The first `count` CPU devices, or an error that says how to get them."""
    started = "jax" in sys.modules
    if not started:
        use_host_devices(count)
    import jax
    devices = jax.devices("cpu")
    if len(devices) < count:
        raise BraidJaxError(f"host devices: the program needs {count}, jax has {len(devices)}; call braid_jax.use_host_devices({count}) "
                            f"(or set XLA_FLAGS={_FLAG}={count}) before the first use of jax")
    return devices[:count]
