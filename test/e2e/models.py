"""Training steps for the end-to-end tests: small, each with the communication pattern of a real kind of training.

Every entry of PROGRAMS makes (jitted function, argument shapes). Those with EXPLICIT names write their collectives
themselves (shard_map, pmap); the others leave them to XLA's partitioner.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES = 8
PROGRAMS, EXPLICIT = {}, set()
F32 = jnp.float32


def explicit(function):
    EXPLICIT.add(function.__name__)
    return partitioned(function)


def partitioned(function):
    PROGRAMS[function.__name__] = function
    return function


def shape(*dims, dtype=F32):
    return jax.ShapeDtypeStruct(dims, dtype)


def tokens(batch, length):
    return shape(batch, length, dtype=jnp.int32)


def mesh(order=None, **axes):
    devices = np.array(jax.devices()[:DEVICES])
    return Mesh((devices if order is None else devices[order]).reshape(tuple(axes.values())), tuple(axes))


def manual(step, on, ins, outs):
    return jax.jit(jax.shard_map(step, mesh=on, in_specs=ins, out_specs=outs, check_vma=False))


def descend(params, grads):
    return jax.tree.map(lambda w, g: w - 0.01 * g, params, grads)


def mean_over(axis, tree):
    return jax.tree.map(lambda g: lax.pmean(g, axis), tree)


# ---------------------------------------------------------------- a small transformer
WIDTH, HEADS, VOCAB = 32, 4, 64


def scaled(x, gain):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * gain


def attend(x, w_in, w_out, heads, after=lambda t: t):
    batch, length, _ = x.shape
    q, k, v = jnp.split((x @ w_in).reshape(batch, length, heads, -1), 3, -1)
    score = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    score = jnp.where(jnp.tril(jnp.ones((length, length), bool)), score, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(score, -1), v)
    return after(mixed.reshape(batch, length, -1) @ w_out)


def transformer_shapes(layers):
    layer = lambda: dict(gain=shape(WIDTH), w_in=shape(WIDTH, 3 * WIDTH), w_out=shape(WIDTH, WIDTH), up=shape(WIDTH, 2 * WIDTH),
                         bias=shape(2 * WIDTH), down=shape(2 * WIDTH, WIDTH))
    return dict(embed=shape(VOCAB, WIDTH), gain=shape(WIDTH), layers=[layer() for _ in range(layers)])


def block(p, x, heads=HEADS, before=lambda t: t, after=lambda t: t):
    x = x + attend(before(scaled(x, p["gain"])), p["w_in"], p["w_out"], heads, after)
    return x + after(jax.nn.gelu(before(x) @ p["up"] + p["bias"]) @ p["down"])


def next_token_loss(logits, text):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), text[:, 1:, None], -1))


def transformer_loss(p, text, **how):
    x = p["embed"][text[:, :-1]]
    for layer in p["layers"]:
        x = block(layer, x, **how)
    return next_token_loss(scaled(x, p["gain"]) @ p["embed"].T, text)


# ---------------------------------------------------------------- explicit collectives
@explicit
def mlp():
    """Two layers, data parallel: an all_reduce for each gradient."""
    def step(p, x, y):
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((jnp.tanh(x @ p["a"] + p["b"]) @ p["c"] - y) ** 2))(p)
        return descend(p, mean_over("data", grads)), lax.pmean(loss, "data")
    f = manual(step, mesh(data=8), (P(), P("data"), P("data")), (P(), P()))
    return f, (dict(a=shape(16, 32), b=shape(32), c=shape(32, 4)), shape(32, 16), shape(32, 4))


@explicit
def pmap_mlp():
    """The same kind of step through jax.pmap."""
    def step(w, x):
        loss, grad = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
        return w - 0.1 * lax.pmean(grad, "data"), lax.pmean(loss, "data")
    return jax.pmap(step, axis_name="data", in_axes=(0, 0)), (shape(8, 16, 8), shape(8, 4, 16))


@explicit
def gpt_dp():
    """Transformer, data parallel."""
    def step(p, text):
        loss, grads = jax.value_and_grad(transformer_loss)(p, text)
        return descend(p, mean_over("data", grads)), lax.pmean(loss, "data")
    return manual(step, mesh(data=8), (P(), P("data")), (P(), P())), (transformer_shapes(2), tokens(8, 17))


@explicit
def gpt_accumulate():
    """Micro-batches in a loop that reduces in each iteration."""
    def step(p, text):
        def body(sums, part):
            loss, grads = jax.value_and_grad(transformer_loss)(p, part)
            return jax.tree.map(jnp.add, sums, mean_over("data", grads)), loss
        sums, losses = lax.scan(body, jax.tree.map(jnp.zeros_like, p), text.reshape(3, -1, text.shape[-1]))
        return descend(p, sums), lax.pmean(losses.mean(), "data")
    return manual(step, mesh(data=8), (P(), P("data")), (P(), P())), (transformer_shapes(1), tokens(24, 9))


@explicit
def fsdp():
    """Every parameter sharded: gathered before use, again in the backward pass; gradients reduce_scattered."""
    shapes = transformer_shapes(2)
    whole = lambda t: lax.all_gather(t, "data", tiled=True)
    def loss(p, text):
        embed = whole(p["embed"])
        x = embed[text[:, :-1]]
        for layer in p["layers"]:
            x = jax.checkpoint(lambda l, x: block(jax.tree.map(whole, l), x))(layer, x)
        return next_token_loss(scaled(x, whole(p["gain"])) @ embed.T, text)
    def step(p, text):
        value, grads = jax.value_and_grad(loss)(p, text)
        return descend(p, grads), lax.pmean(value, "data")
    specs = jax.tree.map(lambda _: P("data"), shapes)
    return manual(step, mesh(data=8), (specs, P("data")), (specs, P())), (shapes, tokens(8, 17))


@explicit
def tensor_and_data():
    """Tensor parallel over 4 inside data parallel over 2: two kinds of groups."""
    shapes = transformer_shapes(2)
    layer = dict(gain=P(), w_in=P(None, "model"), w_out=P("model"), up=P(None, "model"), bias=P("model"), down=P("model"))
    specs = dict(embed=P(), gain=P(), layers=[layer] * 2)
    enter = jax.custom_vjp(lambda x: x)
    enter.defvjp(lambda x: (x, None), lambda _, g: (lax.psum(g, "model"),))
    leave = jax.custom_vjp(lambda x: lax.psum(x, "model"))
    leave.defvjp(lambda x: (lax.psum(x, "model"), None), lambda _, g: (g,))
    def step(p, text):
        loss, grads = jax.value_and_grad(transformer_loss)(p, text, heads=HEADS // 4, before=enter, after=leave)
        return descend(p, mean_over("data", grads)), lax.pmean(loss, "data")
    return manual(step, mesh(data=2, model=4), (specs, P("data")), (specs, P())), (shapes, tokens(4, 17))


@explicit
def zero1():
    """Gradients reduce_scattered, the optimiser's state sharded, parameters all_gathered."""
    shapes = transformer_shapes(1)
    padded = lambda n: -(-n // 8)
    state = jax.tree.map(lambda s: shape(8, padded(int(np.prod(s.shape)))), shapes)
    def step(p, momentum, text):
        loss, grads = jax.value_and_grad(transformer_loss)(p, text)
        def update(w, g, m):
            flat = lambda t: jnp.pad(t.reshape(-1), (0, 8 * m.shape[-1] - t.size))
            m = 0.9 * m[0] + lax.psum_scatter(flat(g), "data", tiled=True) / 8
            mine = lax.dynamic_slice(flat(w), (lax.axis_index("data") * m.size,), (m.size,)) - 0.01 * m
            return lax.all_gather(mine, "data", tiled=True)[:w.size].reshape(w.shape), m[None]
        both = jax.tree.map(update, p, grads, momentum)
        pick = lambda i: jax.tree.map(lambda t: t[i], both, is_leaf=lambda t: isinstance(t, tuple))
        return pick(0), pick(1), lax.pmean(loss, "data")
    f = manual(step, mesh(data=8), (P(), P("data"), P("data")), (P(), P("data"), P()))
    return f, (shapes, state, tokens(8, 9))


@explicit
def experts():
    """Mixture of experts, one on each rank, top-1 with capacity: all_to_all there and back."""
    capacity = 4
    shapes = dict(embed=shape(VOCAB, WIDTH), route=shape(WIDTH, 8), up=shape(8, WIDTH, 64), down=shape(8, 64, WIDTH))
    specs = dict(embed=P(), route=P(), up=P("data"), down=P("data"))
    def loss(p, text):
        x = p["embed"][text[:, :-1]].reshape(-1, WIDTH)
        gate = jax.nn.softmax(x @ p["route"])
        chosen = jax.nn.one_hot(jnp.argmax(gate, -1), 8)
        place = (jnp.cumsum(chosen, 0) * chosen).sum(-1).astype(jnp.int32) - 1
        send = chosen[:, :, None] * jax.nn.one_hot(place, capacity)[:, None, :]
        there = lax.all_to_all(jnp.einsum("tec,td->ecd", send, x), "data", 0, 0)
        back = lax.all_to_all(jax.nn.gelu(there @ p["up"][0]) @ p["down"][0], "data", 0, 0)
        x = x + jnp.einsum("tec,ecd->td", send, back) * gate.max(-1, keepdims=True)
        return next_token_loss((x @ p["embed"].T).reshape(*text[:, 1:].shape, -1), text)
    def step(p, text):
        value, grads = jax.value_and_grad(loss)(p, text)
        grads = {k: g / 8 if specs[k] == P("data") else lax.pmean(g, "data") for k, g in grads.items()}
        return descend(p, grads), lax.pmean(value, "data")
    return manual(step, mesh(data=8), (specs, P("data")), (specs, P())), (shapes, tokens(8, 9))


@explicit
def resnet():
    """Residual convolutions with synchronised batch norm: a chain of tiny reductions, and its mirror in the backward pass."""
    layer = lambda: dict(w=shape(3, 3, 8, 8), gain=shape(8), shift=shape(8))
    shapes = dict(stem=shape(3, 3, 3, 8), head=shape(8, 10), layers=[layer() for _ in range(3)])
    conv = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    def normal(x, p):
        mean = lax.pmean(x.mean((0, 1, 2)), "data")
        spread = lax.pmean((x * x).mean((0, 1, 2)), "data") - mean * mean
        return (x - mean) * lax.rsqrt(spread + 1e-5) * p["gain"] + p["shift"]
    def loss(p, x, y):
        x = conv(x, p["stem"])
        for layer in p["layers"]:
            x = x + jax.nn.relu(normal(conv(x, layer["w"]), layer))
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x.mean((1, 2)) @ p["head"]), y[:, None], -1))
    def step(p, x, y):
        value, grads = jax.value_and_grad(loss)(p, x, y)
        return descend(p, mean_over("data", grads)), lax.pmean(value, "data")
    f = manual(step, mesh(data=8), (P(), P("data"), P("data")), (P(), P()))
    return f, (shapes, shape(16, 8, 8, 3), shape(16, dtype=jnp.int32))


@explicit
def permuted_dp():
    """Data parallel over devices that are not in order."""
    def step(w, x):
        loss, grad = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
        return w - 0.1 * lax.pmean(grad, "row"), lax.all_gather(loss, ("row", "column")), lax.psum(w, "column")
    on = mesh(order=[3, 1, 7, 5, 0, 2, 6, 4], row=2, column=4)
    return manual(step, on, (P(), P(("column", "row"))), (P(), P(), P())), (shape(16, 8), shape(32, 16))


@explicit
def constant_operands():
    """Collectives of what is known before the step runs, or of nothing: XLA computes or drops them, if they are not in a bucket."""
    def step(p, x, nothing):
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"]) ** 2) + p["b"].sum())(p)
        update = lambda w, g: w - 0.1 * lax.all_gather(lax.psum_scatter(g.reshape(-1), "data", tiled=True), "data", tiled=True).reshape(w.shape)
        tokens = lax.psum(jnp.ones(x.shape[:1]), "data"), lax.psum(jnp.float32(3) + 1, "data"), lax.psum(nothing, "data")
        return jax.tree.map(update, p, grads), lax.pmean(loss, "data"), tokens
    f = manual(step, mesh(data=8), (P(), P("data"), P()), (P(), P(), P()))
    return f, (dict(w=shape(16, 8), b=shape(8)), shape(32, 16), shape(0, 3))


# ---------------------------------------------------------------- collectives by XLA's partitioner
def auto_transformer(specs_of, on, layers=2):
    shapes = transformer_shapes(layers)
    place = lambda tree: jax.tree.map(lambda s: NamedSharding(on, s), tree, is_leaf=lambda s: isinstance(s, P))
    specs = place(specs_of(shapes))
    def step(p, text):
        loss, grads = jax.value_and_grad(transformer_loss)(p, text)
        return descend(p, grads), loss
    f = jax.jit(step, in_shardings=(specs, NamedSharding(on, P("data"))), out_shardings=(specs, NamedSharding(on, P())))
    return f, (shapes, tokens(8, 17))


@partitioned
def auto_tensor_and_data():
    layer = dict(gain=P(), w_in=P(None, "model"), w_out=P("model"), up=P(None, "model"), bias=P("model"), down=P("model"))
    return auto_transformer(lambda _: dict(embed=P(), gain=P(), layers=[layer] * 2), mesh(data=4, model=2))


@partitioned
def auto_fsdp():
    return auto_transformer(lambda shapes: jax.tree.map(lambda _: P("data"), shapes), mesh(data=8), layers=1)


def auto_mlp(on, w1, w2, x):
    def step(a, b, x):
        loss, grads = jax.value_and_grad(lambda a, b: ((jnp.tanh(x @ a) @ b) ** 2).mean(), argnums=(0, 1))(a, b)
        return a - 0.1 * grads[0], b - 0.1 * grads[1], loss
    place = lambda s: NamedSharding(on, s)
    return jax.jit(step, in_shardings=(place(w1), place(w2), place(x))), (shape(16, 32), shape(32, 8), shape(64, 16))


@partitioned
def auto_swapped_axes():
    """Sharded over ("column", "row") of a (row, column) mesh: XLA's groups are mesh axes with a device order."""
    both = ("column", "row")
    return auto_mlp(mesh(row=2, column=4), P(None, both), P(both), P(("row", "column")))


@partitioned
def auto_permuted_mesh():
    """The same on a mesh whose devices are not in order, with results in shardings of their own."""
    on = mesh(order=[0, 4, 1, 5, 2, 6, 3, 7], row=4, column=2)
    both = ("column", "row")
    f, args = auto_mlp(on, P(None, both), P(both), P(("row", "column")))
    return f, args
