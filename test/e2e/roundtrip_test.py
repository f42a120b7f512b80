#!/usr/bin/env python3
"""Out of JAX and back in, unplanned: the loaded callable is the original, for every way in which collectives come about."""
from harness import check, expect, expect_error, main, values_for
import braid_jax

braid_jax.use_host_devices(8)
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402
import models  # noqa: E402


def there_and_back(name):
    def run():
        jitted, shapes = models.PROGRAMS[name]()
        text = braid_jax.export(jitted, *shapes)
        explicit = "sdy.manual_computation" in text
        expect(explicit == (name in models.EXPLICIT), f"exported as {'explicit' if explicit else 'partitioned'}")
        expect("replica_group_mesh_axes" not in text, "groups are not lists")
        report = braid_jax.compare_callables(jitted, braid_jax.load(text, like=(jitted, shapes)), values_for(shapes), rtol=1e-6)
        expect(report, report)
        return report.lines()[-1]
    run.__name__ = name
    return check(run)


for name in models.PROGRAMS:
    there_and_back(name)


@check
def constants_unused_and_donated_arguments():
    """A large constant, an argument that is not used, one that is donated, an empty tree, results in several shardings."""
    on = models.mesh(order=[0, 2, 4, 6, 1, 3, 5, 7], row=2, column=4)
    table = np.random.default_rng(1).standard_normal((16, 32)).astype(np.float32)
    place = lambda *s: NamedSharding(on, P(*s))

    def step(p, unused, x, nothing):
        return dict(h=jnp.tanh(x @ p["w"] + x @ table), nothing=nothing), p["w"] * 2

    jitted = jax.jit(step, in_shardings=(dict(w=place(None, ("column", "row"))), None, place("row"), ()), donate_argnums=0,
                     out_shardings=(dict(h=place("column"), nothing=()), place(None, ("column", "row"))))
    shapes = (dict(w=models.shape(16, 32)), models.shape(3), models.shape(64, 16), ())
    loaded = braid_jax.load(braid_jax.export(jitted, *shapes), like=(jitted, shapes))
    values = values_for(shapes)
    report = braid_jax.compare_callables(jitted, loaded, values, rtol=1e-6)
    expect(report, report)
    given = jax.device_put(values[0]["w"], place(None, ("column", "row")))
    loaded(dict(w=given), *values[1:])
    expect(given.is_deleted(), "the donated argument was not donated")
    return report.lines()[-1]


@check
def mixed_programs_go_through_the_partitioner():
    """shard_map inside a jit that also works outside of it: some collectives are XLA's."""
    on = models.mesh(data=8)
    inner = jax.shard_map(lambda x: jax.lax.psum(x, "data"), mesh=on, in_specs=P("data"), out_specs=P(), check_vma=False)
    jitted = jax.jit(lambda x: (inner(x), x.sum()), in_shardings=NamedSharding(on, P("data")))
    shapes = (models.shape(16, 4),)
    text = braid_jax.export(jitted, *shapes)
    expect(text.count('"stablehlo.all_reduce"') == 2 and "sdy.manual_computation" not in text, "expected the partitioner's program")
    report = braid_jax.compare_callables(jitted, braid_jax.load(text, like=(jitted, shapes)), values_for(shapes), rtol=1e-6)
    expect(report, report)


@check
def errors():
    jitted, shapes = models.mlp()
    other, others = models.auto_fsdp()
    expect_error(["different signatures"], braid_jax.load, braid_jax.export(jitted, *shapes), like=(other, others))
    expect_error(["different signatures"], braid_jax.load, braid_jax.export(other, *others), like=(jitted, shapes))
    expect_error(["expected a jitted function"], braid_jax.export, lambda x: x, 1)
    expect_error(["like must be"], braid_jax.load, "", like=jitted)
    expect_error(["can't read it"], braid_jax.load, "module {", like=(jitted, shapes))


main(__file__)
