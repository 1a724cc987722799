"""The nets of workloads_cold.py by hand in JAX, channels last: functions of their parameters and a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

nn = jax.nn
rs = np.random.RandomState(0)


class Parameters:
    """The parameters of a net in the order of use: made by its first run, and taken from a list by all others."""

    def __init__(self, values: list[Any] | None = None) -> None:
        self.made: list[Any] = []
        self.given: Iterator[Any] | None = None if values is None else iter(values)

    def __call__(self, *shape: int, value: float | None = None) -> Any:
        if self.given is not None:
            return next(self.given)
        drawn = 0.05 * rs.randn(*shape) if value is None else np.full(shape, value)
        self.made.append(drawn.astype("float32"))
        return jnp.asarray(self.made[-1])


# -- layers ----------------------------------------------------------------------------------------------------------
def dense(p: Any, x: Any, o: int) -> Any:
    """A linear layer."""
    return x @ p(x.shape[-1], o) + p(o, value=0.0)


def conv(p: Any, x: Any, o: int, k: int = 3, s: int = 1, groups: int = 1, pad: int | None = None) -> Any:
    """A convolution along all axes but the first and the last."""
    n, pad = x.ndim - 2, k // 2 if pad is None else pad
    names = ("NHWC", "HWIO", "NHWC") if n == 2 else ("NWC", "WIO", "NWC")
    w = p(*(k,) * n, x.shape[-1] // groups, o)
    options: dict[str, Any] = {"dimension_numbers": names, "feature_group_count": groups}
    return jax.lax.conv_general_dilated(x, w, (s,) * n, [(pad, pad)] * n, **options)


def up(p: Any, x: Any, o: int, k: int, s: int, pad: int = 0) -> Any:
    """A transposed convolution."""
    padding = [(k - 1 - pad, k - 1 - pad)] * 2
    w, names = p(k, k, x.shape[-1], o), ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, w, (1, 1), padding, (s, s), dimension_numbers=names) + p(o, value=0.0)


def norm(p: Any, x: Any) -> Any:
    """Batch normalization with the statistics of the batch."""
    axes = tuple(range(x.ndim - 1))
    scaled = (x - x.mean(axes)) * jax.lax.rsqrt(x.var(axes) + 1e-5)
    return scaled * p(x.shape[-1], value=1.0) + p(x.shape[-1], value=0.0)


def layer_norm(p: Any, x: Any) -> Any:
    """Layer normalization."""
    m = x.mean(-1, keepdims=True)
    scaled = (x - m) * jax.lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5)
    return scaled * p(x.shape[-1], value=1.0) + p(x.shape[-1], value=0.0)


def pool(x: Any, k: int = 2, s: int = 2, pad: int = 0) -> Any:
    """Max pooling."""
    around = ((0, 0), (pad, pad), (pad, pad), (0, 0))
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, k, k, 1), (1, s, s, 1), around)


def squeezed(p: Any, x: Any, m: int, gate: Callable, act: Callable) -> Any:
    """Channels weighted by what a small net makes of their means."""
    return x * gate(dense(p, act(dense(p, x.mean((1, 2)), m)), x.shape[-1]))[:, None, None]


def attention(p: Any, x: Any, heads: int, causal: bool = False) -> Any:
    """Attention and a perceptron, each after a normalization."""
    b, n, d = x.shape
    q, k, v = jnp.moveaxis(dense(p, layer_norm(p, x), 3 * d).reshape(b, n, 3, heads, d // heads), 2, 0)
    y = nn.dot_product_attention(q, k, v, is_causal=causal)
    x = x + dense(p, y.reshape(b, n, d), d)
    return x + dense(p, nn.gelu(dense(p, layer_norm(p, x), 4 * d), approximate=False), d)


# -- nets ------------------------------------------------------------------------------------------------------------
def mlp(p: Any, x: Any) -> Any:
    """Three linear layers."""
    return dense(p, nn.relu(dense(p, nn.relu(dense(p, x, 128)), 64)), 10)


def lenet(p: Any, x: Any) -> Any:
    """LeNet."""
    x = pool(nn.relu(conv(p, x, 6) + p(6, value=0.0)))
    x = pool(nn.relu(conv(p, x, 16, 5, pad=0) + p(16, value=0.0))).reshape(x.shape[0], -1)
    return dense(p, nn.relu(dense(p, nn.relu(dense(p, x, 120)), 84)), 10)


def sizes(p: Any, x: Any) -> Any:
    """Three convolutions, and the means over each picture."""
    for o in (16, 32, 64):
        x = nn.relu(norm(p, conv(p, x, o, 3, 2) + p(o, value=0.0)))
    return dense(p, x.mean((1, 2)), 10)


def resnet(p: Any, x: Any, plan: tuple[int, ...] = (2, 2, 2, 2), wide: int = 1) -> Any:
    """ResNet-18, and with `wide` 4 the one with bottlenecks."""
    x = pool(nn.relu(norm(p, conv(p, x, 64, 7, 2))), 3, 2, 1)
    for stage, depth in enumerate(plan):
        for i in range(depth):
            m, s = 64 << stage, 2 if stage and not i else 1
            kernels = ((3, s), (3, 1)) if wide == 1 else ((1, 1), (3, s), (1, 1))
            y = x
            for at, (k, stride) in enumerate(kernels):
                last = at == len(kernels) - 1
                y = norm(p, conv(p, y, m * wide if last else m, k, stride))
                y = y if last else nn.relu(y)
            x = nn.relu(y + (x if y.shape == x.shape else norm(p, conv(p, x, m * wide, 1, s))))
    return dense(p, x.mean((1, 2)), 10)


resnet50 = functools.partial(resnet, plan=(3, 4, 6, 3), wide=4)


def densenet121(p: Any, x: Any) -> Any:
    """Blocks of layers that each read all before them."""
    x = pool(nn.relu(norm(p, conv(p, x, 64, 7, 2))), 3, 2, 1)
    for stage, depth in enumerate((6, 12, 24, 16)):
        for _ in range(depth):
            y = conv(p, nn.relu(norm(p, x)), 128, 1)
            x = jnp.concatenate([x, conv(p, nn.relu(norm(p, y)), 32)], -1)
        if stage < 3:
            x = conv(p, nn.relu(norm(p, x)), x.shape[-1] // 2, 1)
            b, h, w, c = x.shape
            x = x[:, : h // 2 * 2, : w // 2 * 2].reshape(b, h // 2, 2, w // 2, 2, c).mean((2, 4))
    return dense(p, nn.relu(norm(p, x)).mean((1, 2)), 10)


def mobilenet_v3_small(p: Any, x: Any) -> Any:
    """Inverted blocks with and without squeezing."""
    relu, swish = nn.relu, nn.hard_swish
    plan = [(3, 16, 16, 1, relu, 2), (3, 72, 24, 0, relu, 2), (3, 88, 24, 0, relu, 1), (5, 96, 40, 1, swish, 2)]
    plan += [(5, 240, 40, 1, swish, 1)] * 2 + [(5, 120, 48, 1, swish, 1), (5, 144, 48, 1, swish, 1)]
    plan += [(5, 288, 96, 1, swish, 2)] + [(5, 576, 96, 1, swish, 1)] * 2
    x = swish(norm(p, conv(p, x, 16, 3, 2)))
    for k, m, o, squeezes, act, s in plan:
        y = x if m == x.shape[-1] else act(norm(p, conv(p, x, m, 1)))
        y = act(norm(p, conv(p, y, m, k, s, m)))
        y = squeezed(p, y, max(m // 4, 8), nn.hard_sigmoid, relu) if squeezes else y
        y = norm(p, conv(p, y, o, 1))
        x = x + y if x.shape == y.shape else y
    x = swish(norm(p, conv(p, x, 576, 1))).mean((1, 2))
    return dense(p, swish(dense(p, x, 1024)), 10)


def efficientnet(p: Any, x: Any) -> Any:
    """Twelve inverted blocks."""
    plan = [(16, 1, 1), (24, 4, 2), (24, 4, 1), (40, 4, 2), (40, 4, 1), (80, 4, 2), (80, 4, 1), (80, 4, 1)]
    plan += [(112, 4, 1), (112, 4, 1), (192, 4, 2), (192, 4, 1)]
    x = nn.silu(norm(p, conv(p, x, 16, 3, 2)))
    for o, wide, s in plan:
        i, m = x.shape[-1], x.shape[-1] * wide
        y = nn.silu(norm(p, conv(p, nn.silu(norm(p, conv(p, x, m, 1))), m, 3, s, m)))
        y = norm(p, conv(p, squeezed(p, y, max(i // 4, 1), nn.sigmoid, nn.silu), o, 1))
        x = x + y if x.shape == y.shape else y
    return dense(p, x.mean((1, 2)), 10)


def vit(p: Any, x: Any) -> Any:
    """Six blocks over 16 patches."""
    x = (conv(p, x, 96, 8, 8, pad=0) + p(96, value=0.0)).reshape(x.shape[0], -1, 96) + p(1, 16, 96)
    for _ in range(6):
        x = attention(p, x, 4)
    return dense(p, x.mean(1), 10)


def swin(p: Any, x: Any) -> Any:
    """Windows of 4 x 4, every second time shifted, in two stages."""

    def stage(x: Any, blocks: int, heads: int) -> Any:
        b, h, w, c = x.shape
        for i in range(blocks):
            y = jnp.roll(x, (-2, -2), (1, 2)) if i % 2 else x
            y = y.reshape(b, h // 4, 4, w // 4, 4, c).swapaxes(2, 3).reshape(-1, 16, c)
            y = attention(p, y, heads).reshape(b, h // 4, w // 4, 4, 4, c).swapaxes(2, 3).reshape(b, h, w, c)
            x = jnp.roll(y, (2, 2), (1, 2)) if i % 2 else y
        return x

    x = stage(conv(p, x, 32, 4, 4, pad=0) + p(32, value=0.0), 2, 2)
    x = jnp.concatenate([x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)], -1)
    return dense(p, stage(dense(p, x, 64), 4, 4).mean((1, 2)), 10)


def unet(p: Any, x: Any) -> Any:
    """Three scales down and up."""

    def double(x: Any, o: int) -> Any:
        return nn.relu(norm(p, conv(p, nn.relu(norm(p, conv(p, x, o))), o)))

    kept = []
    for o in (16, 32, 64):
        kept.append(double(x, o))
        x = pool(kept[-1])
    x = double(x, 128)
    for y in reversed(kept):
        o = y.shape[-1]
        x = double(jnp.concatenate([up(p, x, o, 2, 2), y], -1), o)
    return conv(p, x, 10, 1) + p(10, value=0.0)


def conformer(p: Any, x: Any) -> Any:
    """Three blocks of half a perceptron, attention, a gated convolution along the time, and half a perceptron."""
    d = x.shape[-1]

    def half(x: Any) -> Any:
        return dense(p, nn.silu(dense(p, layer_norm(p, x), 4 * d)), d)

    for _ in range(3):
        x = attention(p, x + 0.5 * half(x), 4)
        y = nn.glu(conv(p, layer_norm(p, x), 2 * d, 1) + p(2 * d, value=0.0))
        y = nn.silu(norm(p, conv(p, y, d, 7, groups=d) + p(d, value=0.0)))
        x = x + conv(p, y, d, 1) + p(d, value=0.0)
        x = x + 0.5 * half(x)
    return dense(p, x.mean(1), 10)


def gpt(p: Any, words: Any) -> Any:
    """Six causal blocks, in bfloat16."""
    x = (p(200, 96)[words] + p(32, 96)[: words.shape[1]]).astype(jnp.bfloat16)
    low = lambda *shape, **value: p(*shape, **value).astype(jnp.bfloat16)  # noqa: E731
    for _ in range(6):
        x = attention(low, x, 4, causal=True)
    return dense(low, x, 200).astype(jnp.float32)


def transformer(p: Any, words: Any) -> Any:
    """An encoder of two layers, normalized behind each part."""
    x = p(100, 32)[words]
    for _ in range(2):
        b, n, d = x.shape
        q, k, v = (dense(p, x, d).reshape(b, n, 4, -1) for _ in range(3))
        x = layer_norm(p, x + dense(p, nn.dot_product_attention(q, k, v).reshape(b, n, d), d))
        x = layer_norm(p, x + dense(p, nn.relu(dense(p, x, 64)), d))
    return dense(p, x, 100)


def lstm(p: Any, words: Any) -> Any:
    """The last state of an LSTM."""
    x, n = p(100, 16)[words].swapaxes(0, 1), words.shape[0]
    gates, w, b = dense(p, x, 128), p(32, 128), p(128, value=0.0)

    def cell(carry: Any, gates: Any) -> Any:
        h, s = carry
        i, f, g, o = jnp.split(gates + h @ w + b, 4, -1)
        s = nn.sigmoid(f) * s + nn.sigmoid(i) * jnp.tanh(g)
        return (nn.sigmoid(o) * jnp.tanh(s), s), None

    (h, _), _ = jax.lax.scan(cell, (jnp.zeros((n, 32)), jnp.zeros((n, 32))), gates)
    return dense(p, h, 2)


def gcn(p: Any, graph: Any) -> Any:
    """Means over neighbours, by degree."""
    x, start, end = graph
    degree = jnp.clip(jnp.bincount(end, length=200), 1).astype(jnp.float32)[:, None] ** -0.5
    for o in (16, 7):
        x = jnp.zeros((200, o)).at[end].add((dense(p, x, o) * degree)[start]) * degree
        x = nn.relu(x) if o == 16 else x
    return x


def gat(p: Any, graph: Any) -> Any:
    """Neighbours weighted by attention."""
    x, start, end = graph
    for o in (16, 7):
        x = dense(p, x, o)
        score = nn.leaky_relu(dense(p, x, 1)[start] + dense(p, x, 1)[end], 0.2)
        weight = jnp.exp(score - jax.lax.stop_gradient(score.max()))
        total = jnp.zeros((200, 1)).at[end].add(weight) + 1e-9
        x = jnp.zeros((200, o)).at[end].add(x[start] * (weight / total[end]))
        x = nn.relu(x) if o == 16 else x
    return x
