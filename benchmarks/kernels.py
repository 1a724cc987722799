"""Forward and backward of the operations that training spends its time in, against JAX written by hand.

usage: kernels.py [--only REGEX] [--rounds 15]

By hand it is one compiled function that gives the loss and its gradients. Ours is that as well (the first figure), and
eager code (the second), which computes in two steps what one could. So by hand there are two forms as well: one program
(the third figure), and one for the loss and what its gradient needs, with another for the gradient (the fourth). The
ratios are those of our program and of eager code to one program, and of eager code to two. All take turns, and a figure
is the best round.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F
from paddle_lite_py.ops.recurrent import gru_layer, lstm_layer, rnn_layer

GOAL = 1.1
Kernel = tuple[Callable[..., Any], Callable[..., Any], list[np.ndarray], tuple[int, ...]]


def normal(*shape: int) -> np.ndarray:
    """Numbers of the same size whatever the shape."""
    return np.random.default_rng(0).standard_normal(shape).astype("float32") * 0.1


def conv(x: Any, w: Any) -> Any:
    """2-D convolution as a user of JAX writes it; groups, if x has more channels than w takes."""
    numbers, groups = ("NCHW", "OIHW", "NCHW"), x.shape[1] // w.shape[1]
    out = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=groups)
    return (out**2).sum()


def choose_interpreter(q: Any, k: Any, v: Any) -> Any:
    """Softmax attention; [batch, length, heads, size]."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    return (jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v) ** 2).sum()


def layer_norm(x: Any, w: Any, b: Any) -> Any:
    """Over the last dimension."""
    mean = x.mean(-1, keepdims=True)
    return ((x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * w + b).sum() ** 2


def cross_entropy(x: Any, label: Any) -> Any:
    """Mean over rows."""
    return -jnp.take_along_axis(jax.nn.log_softmax(x), label[:, None], 1).mean()


def rnn(x: Any, w: Any, u: Any) -> Any:
    """A plain recurrent layer over [time, batch, input]."""
    return scanned(lambda h, g: (jnp.tanh(g + h[0] @ u.T),), x @ w.T, u, 1)


def gru(x: Any, w: Any, u: Any) -> Any:
    """Gates in the order reset, update, candidate."""

    def step(state: Any, g: Any) -> Any:
        (xr, xz, xc), (hr, hz, hc) = jnp.split(g, 3, -1), jnp.split(state[0] @ u.T, 3, -1)
        z = jax.nn.sigmoid(xz + hz)
        return (z * state[0] + (1 - z) * jnp.tanh(xc + jax.nn.sigmoid(xr + hr) * hc),)

    return scanned(step, x @ w.T, u, 1)


def lstm(x: Any, w: Any, u: Any) -> Any:
    """Gates in the order input, forget, cell, output."""

    def step(state: Any, g: Any) -> Any:
        i, f, cell, o = jnp.split(g + state[0] @ u.T, 4, -1)
        c = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jnp.tanh(cell)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    return scanned(step, x @ w.T, u, 2)


def scanned(step: Callable[..., Any], xi: Any, u: Any, n: int) -> Any:
    """The squares of the outputs of a scan, whose state is `n` arrays of zeros at first."""
    zeros = jnp.zeros((xi.shape[1], u.shape[1]), xi.dtype)
    _, outs = jax.lax.scan(lambda s, g: ((new := step(s, g)), new[0]), (zeros,) * n, xi)
    return (outs**2).sum()


def layer(fn: Any, states: int) -> Callable[..., Any]:
    """The same of a recurrent layer of ours."""
    zeros = [paddle.zeros([16, 128])] * states
    return lambda x, w, u: (fn(x, *zeros, w, u)[0] ** 2).sum()


def recurrent(gates: int) -> list[np.ndarray]:
    """An input of 32 steps of 16 rows, and two weights."""
    return [normal(32, 16, 128), normal(gates * 128, 128), normal(gates * 128, 128)]


KERNELS: dict[str, Kernel] = {
    "conv2d": (
        lambda x, w: (F.conv2d(x, w, padding=1) ** 2).sum(),
        conv,
        [normal(8, 32, 28, 28), normal(32, 32, 3, 3)],
        (0, 1),
    ),
    "depthwise conv2d": (
        lambda x, w: (F.conv2d(x, w, padding=1, groups=64) ** 2).sum(),
        conv,
        [normal(8, 64, 28, 28), normal(64, 1, 3, 3)],
        (0, 1),
    ),
    "grouped conv2d": (
        lambda x, w: (F.conv2d(x, w, padding=1, groups=8) ** 2).sum(),
        conv,
        [normal(8, 64, 28, 28), normal(64, 8, 3, 3)],
        (0, 1),
    ),
    "attention": (
        lambda q, k, v: (F.scaled_dot_product_attention(q, k, v) ** 2).sum(),
        choose_interpreter,
        [normal(8, 128, 4, 32)] * 3,
        (0, 1, 2),
    ),
    "layer_norm": (
        lambda x, w, b: F.layer_norm(x, 256, w, b).sum() ** 2,
        layer_norm,
        [normal(512, 256), normal(256), normal(256)],
        (0, 1, 2),
    ),
    "embedding": (
        lambda i, w: (F.embedding(i, w) ** 2).sum(),
        lambda i, w: (jnp.take(w, i, axis=0) ** 2).sum(),
        [np.arange(4096) % 5000, normal(5000, 64)],
        (1,),
    ),
    "cross_entropy": (F.cross_entropy, cross_entropy, [normal(512, 1000), np.arange(512)], (0,)),
    "batch_norm": (
        lambda x, w, b: (F.batch_norm(x, MEAN, VARIANCE, w, b, training=True) ** 2).mean(),
        lambda x, w, b: (batch_norm(x, w, b) ** 2).mean(),
        [normal(16, 32, 14, 14), normal(32), normal(32)],
        (0, 1, 2),
    ),
    "rnn": (layer(rnn_layer, 1), rnn, recurrent(1), (0, 1, 2)),
    "gru": (layer(gru_layer, 1), gru, recurrent(3), (0, 1, 2)),
    "lstm": (layer(lstm_layer, 2), lstm, recurrent(4), (0, 1, 2)),
}
MEAN, VARIANCE = paddle.zeros([32]), paddle.ones([32])


def batch_norm(x: Any, w: Any, b: Any) -> Any:
    """Over all but the channels."""
    mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * w.reshape(1, -1, 1, 1) + b.reshape(1, -1, 1, 1)


def ours(fn: Callable[..., Any], args: list[Any], by: tuple[int, ...]) -> Callable[[], Any]:
    """A static function that gives the loss and the gradients by some arguments."""
    tensors = [paddle.to_tensor(a) for a in args]

    @paddle.jit.to_static
    def both(*given: Any) -> Any:
        given = [t.detach() for t in given]
        for i in by:
            given[i].stop_gradient = False  # in here only: nobody differentiates the result once more
        loss = fn(*given)
        return loss, paddle.grad(loss, [given[i] for i in by])

    return lambda: jax.block_until_ready(both(*tensors)[0]._payload)


def eager(fn: Callable[..., Any], args: list[Any], by: tuple[int, ...]) -> Callable[[], Any]:
    """The loss and the gradients op by op."""
    tensors = [paddle.to_tensor(a, stop_gradient=i not in by) for i, a in enumerate(args)]

    def both() -> None:
        loss = fn(*tensors)
        loss.backward()
        jax.block_until_ready([loss._payload, *[tensors[i].grad._payload for i in by]])
        for i in by:
            tensors[i].clear_grad(False)

    return both


def by_hand(fn: Callable[..., Any], args: list[Any], by: tuple[int, ...]) -> Callable[[], Any]:
    """jax.value_and_grad() under jax.jit."""
    both = jax.jit(jax.value_and_grad(fn, by))
    return lambda: jax.block_until_ready(both(*args)[0])


def in_two(fn: Callable[..., Any], args: list[Any], by: tuple[int, ...]) -> Callable[[], Any]:
    """The loss with what jax.vjp() keeps, and the gradients from that, each under jax.jit."""

    def forward(*given: Any) -> Any:
        def loss(*chosen: Any) -> Any:
            return fn(*[chosen[by.index(i)] if i in by else a for i, a in enumerate(given)])

        return jax.vjp(loss, *[given[i] for i in by])

    first, second, one = jax.jit(forward), jax.jit(lambda pull, g: pull(g)), jnp.ones((), "float32")

    def both() -> None:
        loss, pull = first(*args)
        jax.block_until_ready((loss, second(pull, one)))

    return both


def turn(run: Callable[[], Any]) -> float:
    """Microseconds of a call."""
    start = time.perf_counter()
    for _ in range(10):
        run()
    return (time.perf_counter() - start) * 1e5


def main() -> None:
    """Measure and print a line for each kernel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="REGEX", default=".")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    for name, kernel in KERNELS.items():
        if re.search(args.only, name):
            print(line(name, *kernel, rounds=args.rounds), flush=True)


def line(name: str, mine: Any, theirs: Any, args: list[np.ndarray], by: tuple[int, ...], rounds: int) -> str:
    """The figures of a kernel."""
    arrays = [jnp.asarray(a) for a in args]  # the same for all: where they lie in memory shows
    runs = (
        *(make(mine, arrays, by) for make in (ours, eager)),
        *(make(theirs, arrays, by) for make in (by_hand, in_two)),
    )
    for run in runs * 4:
        run()
    best = [min(times) for times in zip(*[[turn(run) for run in runs] for _ in range(rounds)], strict=True)]
    figures = "".join([f"{us:10.1f} us" for us in best])
    ratios = best[0] / best[2], best[1] / best[2], best[1] / best[3]
    return f"{name:16}{figures} {' '.join([f'{r:6.2f}' for r in ratios])}  (goal {GOAL})"


if __name__ == "__main__":
    main()
