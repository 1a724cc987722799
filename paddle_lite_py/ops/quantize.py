"""Fake quantization and 8-bit linear quantization."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from .types import Array

__all__ = ["dequantize_linear", "fake_quantize", "quantize_linear"]


@op(name="fake_quantize", amp="float32")
def fake_quantize(x: Array, scale: Array, /, *, most: float, axis: int | None = None) -> Any:
    """Round `x` to `most` steps on each side of zero and clamp to `scale`, with a straight-through gradient.

    Arguments:
        axis: int, the dimension with one scale per position; None: a single scale.
    """
    return _rounded(x, _along(_positive(scale), x, axis).astype(x.dtype), most)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _rounded(x: Any, scale: Any, most: float) -> Any:
    # Not x + stop_gradient(rounded - x), which is off by an ulp sometimes: equal steps must stay equal.
    steps = jnp.clip(x, -scale, scale) / scale * most
    return jnp.sign(steps) * jnp.floor(jnp.abs(steps) + 0.5) * scale / most  # half a step goes away from zero


_rounded.defvjp(
    lambda x, scale, most: (_rounded(x, scale, most), scale), lambda most, scale, ct: (ct, jnp.zeros_like(scale))
)


@op(name="quantize_linear", grad=False)
def quantize_linear(x: Array, scale: Array, /, axis: int | None = None, most: float = 127.0) -> Any:
    """Quantize to int8: `out = clip(round(x / scale * most), -most, most)`.

    Arguments:
        axis: int, the dimension with one scale per position; None: a single scale.

    Returns:
        An int8 tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, scale = paddle.to_tensor([1.0, -2.0, 9.0]), paddle.to_tensor(2.0)
        >>> quantize_linear(x, scale).tolist()
        [64, -127, 127]
        >>> dequantize_linear(quantize_linear(x, scale), scale).round(2).tolist()
        [1.0..., -2.0, 2.0]
    """
    s = _along(_positive(scale), x, axis)
    return jnp.clip(jnp.round(x / s * most), -most, most).astype(jnp.int8)


@op(name="dequantize_linear")
def dequantize_linear(x: Array, scale: Array, /, axis: int | None = None, most: float = 127.0) -> Any:
    """Dequantize int8 values: `out = x * scale / most`.

    Arguments:
        axis: int, the dimension with one scale per position; None: a single scale.

    Returns:
        A tensor with the shape of `x` and the dtype of `scale`.
    """
    return x.astype(scale.dtype) * _along(_positive(scale), x, axis) / most


def _positive(scale: Any) -> Any:
    return jnp.maximum(jnp.abs(scale), 1e-9)


def _along(scale: Any, x: Any, axis: int | None) -> Any:
    return scale.reshape(() if axis is None else [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
