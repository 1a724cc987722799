"""The workloads written by hand for jax.jit: what a careful user of JAX writes, and the yardstick of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from worker import Call, Workloads, serve


def sync(result) -> None:
    """Wait until a result is there; what is no array is there already."""
    if isinstance(result, jax.Array):
        jax.block_until_ready(result)


rs = np.random.RandomState(0)
# A net is its parameters, its forward function, and a batch: inputs and labels.
Net = tuple[Any, Callable, Any, Any]


def dense(i: int, o: int) -> dict:
    """Parameters of a linear layer."""
    return {"w": weights(i, o), "b": jnp.zeros(o)}


def linear(p: dict, x):
    """A linear layer."""
    return x @ p["w"] + p["b"]


def weights(*shape: int):
    """Small random weights."""
    return jnp.asarray(rs.randn(*shape) * 0.05, jnp.float32)


def conv(x, w, stride: int = 1, pad: int = 0):
    """A convolution in the layout of the Paddle API."""
    padding = [(pad, pad), (pad, pad)]
    return jax.lax.conv_general_dilated(x, w, (stride, stride), padding, dimension_numbers=("NCHW", "OIHW", "NCHW"))


def pool(x):
    """Max pooling by two."""
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def images(*shape: int) -> tuple[Any, Any]:
    """Random images with labels of ten classes."""
    return jnp.asarray(rs.randn(*shape), jnp.float32), jnp.asarray(rs.randint(0, 10, shape[:1]))


def points(*shape: int) -> tuple[Any, Any]:
    """Random arrays with one of ten labels at each place."""
    return jnp.asarray(rs.randn(*shape), jnp.float32), jnp.asarray(rs.randint(0, 10, (shape[0], *shape[2:])))


def tokens(vocab: int, *shape: int) -> tuple[Any, Any]:
    """Random token ids and what should follow them."""
    return jnp.asarray(rs.randint(0, vocab, shape)), jnp.asarray(rs.randint(0, vocab, shape))


def mlp() -> Net:
    """Three linear layers."""

    def forward(p, x):
        return linear(p[2], jax.nn.relu(linear(p[1], jax.nn.relu(linear(p[0], x)))))

    return [dense(784, 256), dense(256, 128), dense(128, 10)], forward, *images(64, 784)


def lenet() -> Net:
    """LeNet-5 for 28x28 images."""
    p = {
        "c1": weights(6, 1, 3, 3),
        "d1": jnp.zeros((6, 1, 1)),
        "c2": weights(16, 6, 5, 5),
        "d2": jnp.zeros((16, 1, 1)),
        "f": [dense(400, 120), dense(120, 84), dense(84, 10)],
    }

    def forward(p, x):
        x = pool(jax.nn.relu(conv(x, p["c1"], 1, 1) + p["d1"]))
        x = pool(jax.nn.relu(conv(x, p["c2"]) + p["d2"])).reshape(x.shape[0], -1)
        return linear(p["f"][2], jax.nn.relu(linear(p["f"][1], jax.nn.relu(linear(p["f"][0], x)))))

    return p, forward, *images(64, 1, 28, 28)


def batch_norm_parameters(c: int) -> dict:
    """Scale and shift of each channel."""
    return {"g": jnp.ones((c, 1, 1)), "b": jnp.zeros((c, 1, 1))}


def batch_norm(p: dict, x):
    """Batch normalisation with the statistics of the batch."""
    m, v = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return (x - m) * jax.lax.rsqrt(v + 1e-5) * p["g"] + p["b"]


def residual_block(i: int, o: int, stride: int) -> dict:
    """Parameters of a residual block."""
    bn = batch_norm_parameters
    p = {"c1": weights(o, i, 3, 3), "b1": bn(o), "c2": weights(o, o, 3, 3), "b2": bn(o)}
    return p if stride == 1 and i == o else {**p, "s": weights(o, i, 1, 1), "sb": bn(o)}


def resnet() -> Net:
    """ResNet-18 for 32x32 images at half width."""
    strides = [1, 1, 2, 1, 2, 1, 2, 1]
    widths = [32, 32, 32, 64, 64, 128, 128, 256, 256]
    blocks = [residual_block(i, o, s) for i, o, s in zip(widths, widths[1:], strides, strict=False)]
    p = {"stem": weights(32, 3, 3, 3), "sbn": batch_norm_parameters(32), "blocks": blocks, "fc": dense(256, 10)}

    def forward(p, x):
        x = jax.nn.relu(batch_norm(p["sbn"], conv(x, p["stem"], 1, 1)))
        for q, s in zip(p["blocks"], strides, strict=True):
            y = jax.nn.relu(batch_norm(q["b1"], conv(x, q["c1"], s, 1)))
            y = batch_norm(q["b2"], conv(y, q["c2"], 1, 1))
            x = jax.nn.relu(y + (batch_norm(q["sb"], conv(x, q["s"], s)) if "s" in q else x))
        return linear(p["fc"], x.mean((2, 3)))

    return p, forward, *images(16, 3, 32, 32)


def bottleneck(i: int, width: int, stride: int) -> dict:
    """Parameters of a bottleneck block, which gives four times its width."""
    o, bn = 4 * width, batch_norm_parameters
    p = {"c1": weights(width, i, 1, 1), "c2": weights(width, width, 3, 3), "c3": weights(o, width, 1, 1)}
    p |= {"b1": bn(width), "b2": bn(width), "b3": bn(o)}
    return p if stride == 1 and i == o else {**p, "s": weights(o, i, 1, 1), "sb": bn(o)}


def resnet50() -> Net:
    """ResNet-50 for ten classes."""
    blocks, strides, i = [], [], 64
    for width, depth in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for n in range(depth):
            strides.append(2 if n == 0 and width > 64 else 1)
            blocks.append(bottleneck(i, width, strides[-1]))
            i = 4 * width
    p = {"stem": weights(64, 3, 7, 7), "sbn": batch_norm_parameters(64), "blocks": blocks, "fc": dense(2048, 10)}

    def forward(p, x):
        x = jax.nn.relu(batch_norm(p["sbn"], conv(x, p["stem"], 2, 3)))
        x = jax.lax.reduce_window(
            x, -jnp.inf, jax.lax.max, (1, 1, 3, 3), (1, 1, 2, 2), [(0, 0), (0, 0), (1, 1), (1, 1)]
        )
        for q, s in zip(p["blocks"], strides, strict=True):
            y = jax.nn.relu(batch_norm(q["b1"], conv(x, q["c1"])))
            y = jax.nn.relu(batch_norm(q["b2"], conv(y, q["c2"], s, 1)))
            y = batch_norm(q["b3"], conv(y, q["c3"]))
            x = jax.nn.relu(y + (batch_norm(q["sb"], conv(x, q["s"], s)) if "s" in q else x))
        return linear(p["fc"], x.mean((2, 3)))

    return p, forward, *images(4, 3, 64, 64)


def twice(i: int, o: int) -> dict:
    """Parameters of two 3x3 convolutions."""
    bn = batch_norm_parameters
    return {"c1": kernel(o, i, 3, 3), "b1": bn(o), "c2": kernel(o, o, 3, 3), "b2": bn(o)}


def kernel(o: int, *shape: int) -> dict:
    """Parameters of a convolution with a bias."""
    return {"w": weights(o, *shape), "b": jnp.zeros((o, *[1] * (len(shape) - 1)))}


def unet() -> Net:
    """Labels for each point of a picture: down and up by two, with a way across."""
    p = {"a": twice(3, 16), "b": twice(16, 32), "c": twice(32, 16)}
    p |= {"up": weights(32, 16, 2, 2), "ub": jnp.zeros((16, 1, 1)), "out": kernel(10, 16, 1, 1)}

    def block(q, x):
        for c, b in (("c1", "b1"), ("c2", "b2")):
            x = jax.nn.relu(batch_norm(q[b], conv(x, q[c]["w"], 1, 1) + q[c]["b"]))
        return x

    def forward(p, x):
        a = block(p["a"], x)
        b = block(p["b"], pool(a))
        b = jax.lax.conv_transpose(b, p["up"], (2, 2), "VALID", dimension_numbers=("NCHW", "IOHW", "NCHW")) + p["ub"]
        x = block(p["c"], jnp.concatenate([b, a], 1))
        return (conv(x, p["out"]["w"]) + p["out"]["b"]).transpose(0, 2, 3, 1)

    return p, forward, *points(4, 3, 64, 64)


def wavenet(c: int = 32) -> Net:
    """Gated convolutions of a signal, ever further apart."""
    p = {"first": kernel(c, 1, 1), "last": kernel(10, c, 1)}
    p["l"] = [{"v": kernel(c, c, 2), "g": kernel(c, c, 2)} for _ in range(8)]

    def convolve(q, x, apart=1):
        before = [(apart * (q["w"].shape[2] - 1), 0)]
        names = ("NCH", "OIH", "NCH")
        return jax.lax.conv_general_dilated(x, q["w"], (1,), before, None, (apart,), dimension_numbers=names) + q["b"]

    def forward(p, x):
        x = convolve(p["first"], x)
        for i, q in enumerate(p["l"]):
            x = x + jnp.tanh(convolve(q["v"], x, 2**i)) * jax.nn.sigmoid(convolve(q["g"], x, 2**i))
        return convolve(p["last"], x).transpose(0, 2, 1)

    return p, forward, *points(4, 1, 1000)


def video() -> Net:
    """Two convolutions of clips of eight 32x32 pictures."""
    p = {"a": kernel(16, 3, 3, 3, 3), "b": kernel(32, 16, 3, 3, 3), "out": dense(32 * 2 * 8 * 8, 10)}

    def layer(q, x):
        names = ("NCDHW", "OIDHW", "NCDHW")
        x = jax.lax.conv_general_dilated(x, q["w"], (1, 1, 1), [(1, 1)] * 3, dimension_numbers=names) + q["b"]
        return jax.lax.reduce_window(jax.nn.relu(x), -jnp.inf, jax.lax.max, (1, 1, 2, 2, 2), (1, 1, 2, 2, 2), "VALID")

    def forward(p, x):
        return linear(p["out"], layer(p["b"], layer(p["a"], x)).reshape(x.shape[0], -1))

    return p, forward, *images(4, 3, 8, 32, 32)


def layer_norm(p: dict, x):
    """Layer normalisation."""
    m = x.mean(-1, keepdims=True)
    return (x - m) * jax.lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * p["g"] + p["b"]


def encoder_layer(d: int) -> dict:
    """Parameters of a transformer encoder layer."""
    p = {k: dense(d, d) for k in "qkvo"} | {"f1": dense(d, 4 * d), "f2": dense(4 * d, d)}
    return p | {n: {"g": jnp.ones(d), "b": jnp.zeros(d)} for n in ("n1", "n2")}


def bert(d: int = 256, layers: int = 4, heads: int = 4, vocab: int = 8000) -> Net:
    """Four encoder layers with a language-model head."""
    p = {"tok": weights(vocab, d), "pos": weights(128, d), "head": dense(d, vocab)}
    p["l"] = [encoder_layer(d) for _ in range(layers)]

    def choose_interpreter(q, x):
        n, t, _ = x.shape
        query, key, value = (linear(q[k], x).reshape(n, t, heads, -1).transpose(0, 2, 1, 3) for k in "qkv")
        scores = jax.nn.softmax(query @ key.swapaxes(-1, -2) / np.sqrt(d // heads).astype("float32"))
        return linear(q["o"], (scores @ value).transpose(0, 2, 1, 3).reshape(n, t, d))

    def forward(p, ids):
        x = p["tok"][ids] + p["pos"][: ids.shape[1]]
        for q in p["l"]:
            x = layer_norm(q["n1"], x + choose_interpreter(q, x))
            x = layer_norm(q["n2"], x + linear(q["f2"], jax.nn.gelu(linear(q["f1"], x), approximate=False)))
        return linear(p["head"], x)

    return p, forward, *tokens(vocab, 4, 128)


def lm(vocab: int = 2000, d: int = 200) -> Net:
    """Two-layer LSTM language model."""
    p = {"emb": weights(vocab, d), "head": dense(d, vocab)}
    p["l"] = [{"i": dense(d, 4 * d), "h": dense(d, 4 * d)} for _ in range(2)]

    def cell(q, carry, gates):
        h, s = carry
        i, f, g, o = jnp.split(gates + linear(q["h"], h), 4, -1)
        s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(s)
        return (h, s), h

    def forward(p, ids):
        x, zero = p["emb"][ids].swapaxes(0, 1), jnp.zeros((ids.shape[0], d))
        for q in p["l"]:
            _, x = jax.lax.scan(lambda c, g, q=q: cell(q, c, g), (zero, zero), linear(q["i"], x))
        return linear(p["head"], x.swapaxes(0, 1))

    return p, forward, *tokens(vocab, 20, 35)


def bert12() -> Net:
    """Twelve small encoder layers."""
    p, forward, *_ = bert(64, 12, 4, 1000)
    return p, forward, *tokens(1000, 2, 16)


NETS: dict[str, Callable[[], Net]] = {
    "bert12": bert12,
    "resnet50": resnet50,
    "mlp": mlp,
    "lenet": lenet,
    "resnet": resnet,
    "bert": bert,
    "lm": lm,
    "unet": unet,
    "wavenet": wavenet,
    "video": video,
}


def train(kind: str) -> Call:
    """A whole training step as one executable, its state donated."""
    p, forward, x, y = NETS[kind]()
    opt = optax.adam(1e-4)
    state = [p, opt.init(p)]

    def loss_of(p, x, y):
        logits = forward(p, x)
        z = jax.nn.log_softmax(logits).reshape(-1, logits.shape[-1])
        return -jnp.mean(jnp.take_along_axis(z, y.reshape(-1, 1), 1))

    def step(p, s, x, y):
        loss, g = jax.value_and_grad(loss_of)(p, x, y)
        u, s = opt.update(g, s)
        return optax.apply_updates(p, u), s, loss

    compiled = jax.jit(step, donate_argnums=(0, 1))

    def call():
        state[0], state[1], loss = compiled(*state, x, y)
        return loss

    return call


def infer(kind: str) -> Call:
    """The forward pass for one example."""
    p, forward, x, _ = NETS[kind]()
    return jitted(forward, p, x[:1])


def layers160() -> Call:
    """Eighty small linear layers."""
    p = [dense(4, 4) for _ in range(80)]

    def forward(p, x):
        for q in p:
            x = linear(q, x)
        return x

    return jitted(forward, p, ones(4, 4))


def lower_bert12() -> Call:
    """From a function to what XLA is given, for twelve encoder layers."""
    p, forward, ids, _ = NETS["bert12"]()
    return lambda: jax.jit(lambda p, ids: forward(p, ids)).lower(p, ids)


def jitted(function: Callable, *args: Any) -> Call:
    """A bare call of a compiled function."""
    f = jax.jit(function)
    return lambda: f(*args)


def four(a, b):
    """Matrix product, addition, tanh, sum."""
    return jnp.tanh(a @ b + a).sum()


def count(x):
    """A hundred steps of a while loop."""
    return jax.lax.while_loop(lambda s: s[0] < 100, lambda s: (s[0] + 1, jnp.tanh(s[1])), (jnp.int32(0), x))[1]


def collatz(n):
    """A data-dependent loop with a branch in it."""

    def body(s):
        n, k = s
        return jax.lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), k + 1

    return jax.lax.while_loop(lambda s: s[0] > 1, body, (n, jnp.int32(0)))[1]


def hundred(w, x):
    """A hundred steps as a scan: JAX has no gradient of a loop whose length it does not know."""
    return jax.lax.scan(lambda x, _: (jnp.tanh(x @ w) + 0.01, None), x, None, length=100)[0].sum()


def ones(*shape: int):
    """An array of ones."""
    return jnp.ones(shape)


WORKLOADS: Workloads = {
    "eager_add": lambda: jitted(lambda a, b: a + b, ones(4, 4), ones(4, 4)),
    "eager_matmul": lambda: jitted(lambda a, b: a @ b, ones(4, 4), ones(4, 4)),
    "eager_index": lambda: jitted(lambda a: (a[3], a[:, -1], a[2:6, :4]), ones(16, 16)),
    "eager_set_row": lambda: jitted(lambda a: a.at[3].set(2.0), ones(16, 16)),
    "eager_fwd_bwd4": lambda: jitted(jax.grad(four), ones(4, 4), ones(4, 4)),
    "static_layers160": layers160,
    "loaded_mlp": lambda: infer("mlp"),
    "lower_bert12": lower_bert12,
    "static_call4": lambda: jitted(four, ones(4, 4), ones(4, 4)),
    "static_while100": lambda: jitted(count, ones(4, 4)),
    "static_collatz": lambda: jitted(collatz, jnp.int32(97)),
    "static_grad_while100": lambda: jitted(jax.value_and_grad(hundred), weights(64, 64) * 2, ones(64, 64)),
    **{f"train_{k}_step": lambda k=k: train(k) for k in NETS},
    **{f"infer_{k}_net": lambda k=k: infer(k) for k in NETS},
}

if __name__ == "__main__":
    serve(WORKLOADS, sync)
