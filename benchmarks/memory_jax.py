"""The models of the memory table, written by hand for JAX as a careful user would, with shapes in the place of data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

LOW = jnp.bfloat16
Step = tuple[Callable[..., Any], list[Any], tuple[int, ...]]  # the function, what it takes, what it may write over


def shape(*sizes: int, dtype: Any = jnp.float32) -> Any:
    """An array that nobody makes."""
    return jax.ShapeDtypeStruct(sizes, dtype)


def dense(i: int, o: int) -> dict[str, Any]:
    """Parameters of a linear layer."""
    return {"w": shape(i, o), "b": shape(o)}


def norm(d: int) -> dict[str, Any]:
    """Parameters of a normalization."""
    return {"g": shape(d), "b": shape(d)}


def linear(p: Any, x: Any, low: bool) -> Any:
    """A linear layer, in bfloat16 where that is asked for."""
    if low:
        return x.astype(LOW) @ p["w"].astype(LOW) + p["b"].astype(LOW)
    return x @ p["w"] + p["b"]


def layer_norm(p: Any, x: Any) -> Any:
    """Normalization of rows, in float32."""
    x = x.astype(jnp.float32)
    mean = x.mean(-1, keepdims=True)
    var = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * p["g"] + p["b"]


def attention(q: Any, k: Any, v: Any, causal: bool) -> Any:
    """Softmax of scaled products; [batch, length, heads, size]."""
    return jax.nn.dot_product_attention(q, k, v, is_causal=causal)


def cross_entropy(scores: Any, labels: Any) -> Any:
    """The mean over all labels, in float32."""
    return optax.softmax_cross_entropy_with_integer_labels(scores.astype(jnp.float32), labels).mean()


# -- transformers --------------------------------------------------------------------------------------------------
def block(d: int) -> dict[str, Any]:
    """Parameters of a layer."""
    out = {"n1": norm(d), "n2": norm(d), "up": dense(d, 4 * d), "down": dense(4 * d, d), "out": dense(d, d)}
    return out | {"q": dense(d, d), "k": dense(d, d), "v": dense(d, d)}


def attend(p: Any, x: Any, heads: int, causal: bool, low: bool) -> Any:
    """Self-attention."""
    b, t, d = x.shape
    q, k, v = (linear(p[n], x, low).reshape(b, t, heads, d // heads) for n in "qkv")
    return linear(p["out"], attention(q, k, v, causal).reshape(b, t, d), low)


def feed_forward(p: Any, x: Any, low: bool) -> Any:
    """Two linear layers with GELU between them."""
    return linear(p["down"], jax.nn.gelu(linear(p["up"], x, low), approximate=False), low)


def gpt_block(p: Any, x: Any, heads: int, low: bool) -> Any:
    """Normalization first."""
    x = x + attend(p, layer_norm(p["n1"], x), heads, True, low)
    return x + feed_forward(p, layer_norm(p["n2"], x), low)


def bert_block(p: Any, x: Any, heads: int, low: bool) -> Any:
    """Normalization last."""
    x = layer_norm(p["n1"], x + attend(p, x, heads, False, low))
    return layer_norm(p["n2"], x + feed_forward(p, x, low))


def transformer(kind: str, d: int, layers: int, heads: int, vocab: int, batch: int, length: int) -> Any:
    """Parameters, loss and batch of a GPT or a BERT."""
    run_block = gpt_block if kind == "gpt" else bert_block
    parameters = {"word": shape(vocab, d), "at": shape(length, d), "blocks": [block(d) for _ in range(layers)]}
    parameters |= {"n": norm(d)} | ({} if kind == "gpt" else {"head": dense(d, vocab)})

    def loss(p: Any, ids: Any, labels: Any, low: bool, again: bool) -> Any:
        run = jax.checkpoint(run_block, static_argnums=(2, 3)) if again else run_block
        x = p["word"][ids] + p["at"]
        if kind == "bert":
            x = layer_norm(p["n"], x)
        for held in p["blocks"]:
            x = run(held, x, heads, low)
        if kind == "bert":
            return cross_entropy(linear(p["head"], x, low), labels)
        x, word = layer_norm(p["n"], x), p["word"]
        return cross_entropy(x.astype(LOW) @ word.astype(LOW).T if low else x @ word.T, labels)

    ids = shape(batch, length, dtype=jnp.int64)
    return parameters, loss, [ids, ids], optax.adamw(1e-3, weight_decay=0.01)


def step_of(parameters: Any, loss: Any, batch: list[Any], rule: Any, low: bool, again: bool) -> Step:
    """A whole training step without further state."""

    def step(p: Any, s: Any, *data: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(p, *data, low, again)
        updates, s = rule.update(grads, s, p)
        return value, optax.apply_updates(p, updates), s

    return step, [parameters, jax.eval_shape(rule.init, parameters), *batch], (0, 1)


# -- ResNet50 ------------------------------------------------------------------------------------------------------
def convolution(x: Any, w: Any, stride: int, low: bool) -> Any:
    """A convolution in the layout of the Paddle API."""
    pad, kind = [(w.shape[-1] // 2,) * 2] * 2, LOW if low else jnp.float32
    return jax.lax.conv_general_dilated(
        x.astype(kind), w.astype(kind), (stride, stride), pad, dimension_numbers=("NCHW", "OIHW", "NCHW")
    )


def batch_norm(p: Any, s: Any, x: Any) -> tuple[Any, Any]:
    """Normalization over the batch, computed in float32, and the running statistics."""
    wide = x.astype(jnp.float32)
    mean, axes = wide.mean((0, 2, 3)), (None, slice(None), None, None)
    var = jnp.square(wide).mean((0, 2, 3)) - mean**2
    out = (wide - mean[axes]) * (jax.lax.rsqrt(var + 1e-5) * p["g"])[axes] + p["b"][axes]
    return out.astype(x.dtype), {"m": 0.9 * s["m"] + 0.1 * mean, "v": 0.9 * s["v"] + 0.1 * var}


def unit(i: int, o: int, k: int) -> tuple[Any, Any]:
    """Parameters and state of a convolution with its normalization."""
    return {"w": shape(o, i, k, k), "n": norm(o)}, {"m": shape(o), "v": shape(o)}


def resnet(batch: int) -> Any:
    """Parameters, state, loss and batch of a ResNet50."""
    layout: list[list[tuple[str, int, int, int, int]]] = []
    width = 64
    for stage, n in enumerate((3, 4, 6, 3)):
        for i in range(n):
            d, s = 64 << stage, 2 if stage and not i else 1
            part = [("a", width, d, 1, 1), ("b", d, d, 3, s), ("c", d, 4 * d, 1, 1)]
            layout.append([*part, *([("skip", width, 4 * d, 1, s)] if not i else [])])
            width = 4 * d
    made = [{name: unit(i, o, k) for name, i, o, k, _ in part} for part in layout]
    stem = unit(3, 64, 7)
    parameters = {"stem": stem[0], "parts": [{k: v[0] for k, v in m.items()} for m in made], "head": dense(2048, 1000)}
    state = {"stem": stem[1], "parts": [{k: v[1] for k, v in m.items()} for m in made]}

    def bottleneck(part: Any, p: Any, s: Any, x: Any, low: bool) -> tuple[Any, Any]:
        new, strides = {}, {name: stride for name, _, _, _, stride in part}

        def run(name: str, x: Any) -> Any:
            out, new[name] = batch_norm(p[name]["n"], s[name], convolution(x, p[name]["w"], strides[name], low))
            return out

        y = run("c", jax.nn.relu(run("b", jax.nn.relu(run("a", x)))))
        return jax.nn.relu(y + (run("skip", x) if "skip" in p else x)), new

    def loss(p: Any, s: Any, x: Any, labels: Any, low: bool, again: bool) -> Any:
        x = convolution(x, p["stem"]["w"], 2, low)
        x, first = batch_norm(p["stem"]["n"], s["stem"], x)
        pad = ((0, 0), (0, 0), (1, 1), (1, 1))
        x = jax.lax.reduce_window(jax.nn.relu(x), -jnp.inf, jax.lax.max, (1, 1, 3, 3), (1, 1, 2, 2), pad)
        parts = []
        for part, held, kept in zip(layout, p["parts"], s["parts"], strict=True):
            run = jax.checkpoint(lambda h, k, x, part=part: bottleneck(part, h, k, x, low)) if again else None
            x, new = run(held, kept, x) if run else bottleneck(part, held, kept, x, low)
            parts.append(new)
        scores = linear(p["head"], x.mean((2, 3)), low)
        return cross_entropy(scores, labels), {"stem": first, "parts": parts}

    data = [shape(batch, 3, 224, 224), shape(batch, dtype=jnp.int64)]
    return parameters, state, loss, data, optax.sgd(0.1, momentum=0.9)


def resnet_step(batch: int, low: bool, again: bool) -> Step:
    """A whole training step with its running statistics."""
    parameters, state, loss, data, rule = resnet(batch)

    def step(p: Any, s: Any, held: Any, *given: Any) -> Any:
        (value, new), grads = jax.value_and_grad(loss, has_aux=True)(p, held, *given, low, again)
        updates, s = rule.update(grads, s, p)
        return value, optax.apply_updates(p, updates), s, new

    return step, [parameters, jax.eval_shape(rule.init, parameters), state, *data], (0, 1, 2)


def step(name: str, low: bool, again: bool) -> Step:
    """The training step of a model of the table."""
    if name == "ResNet50":
        return resnet_step(64, low, again)
    sizes = ("bert", 768, 12, 12, 30522, 16, 512) if name == "BERT-base" else ("gpt", 2048, 24, 16, 50304, 2, 1024)
    return step_of(*transformer(*sizes), low, again)
