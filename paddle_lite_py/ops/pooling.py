"""Pooling."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..op import op
from .convolution import paddings, tuple_of

__all__ = ["adaptive_avg_pool2d", "avg_pool2d", "max_pool2d"]


@op
def max_pool2d(x: Any, /, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False,
               ceil_mode: bool = False, data_format: str = "NCHW") -> Any:  # fmt: skip
    """Largest element of each window."""
    k = tuple_of(kernel_size, 2, "kernel_size")
    s = tuple_of(stride, 2, "stride") if stride is not None else k
    pad = paddings(padding, 2)
    first = data_format == "NCHW"
    if k == s and pad == ((0, 0), (0, 0)) and first and x.shape[2] % k[0] == 0 and x.shape[3] % k[1] == 0:
        n, c, h, w = x.shape
        return jnp.max(x.reshape(n, c, h // k[0], k[0], w // k[1], k[1]), axis=(3, 5))
    full = ((0, 0), (0, 0), *pad) if first else ((0, 0), *pad, (0, 0))
    window, strides = ((1, 1, *k), (1, 1, *s)) if first else ((1, *k, 1), (1, *s, 1))
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, strides, full)


@op
def avg_pool2d(x: Any, /, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               exclusive: bool = True, divisor_override: Any = None, data_format: str = "NCHW") -> Any:  # fmt: skip
    """Mean of each window."""
    k = tuple_of(kernel_size, 2, "kernel_size")
    s = tuple_of(stride, 2, "stride") if stride is not None else k
    pad = paddings(padding, 2)
    full = ((0, 0), (0, 0), *pad)
    total = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 1, *k), (1, 1, *s), full)
    if exclusive and pad != ((0, 0), (0, 0)):
        return total / jax.lax.reduce_window(jnp.ones_like(x), 0.0, jax.lax.add, (1, 1, *k), (1, 1, *s), full)
    return total / (divisor_override or k[0] * k[1])


@op
def adaptive_avg_pool2d(x: Any, /, output_size: Any, data_format: str = "NCHW") -> Any:
    """Means over a grid of output_size windows."""
    h, w = tuple_of(output_size, 2, "output_size")
    if (h, w) == (1, 1):
        return jnp.mean(x, axis=(2, 3), keepdims=True)
    n, c, height, width = x.shape
    return jnp.mean(x.reshape(n, c, h, height // h, w, width // w), axis=(3, 5))
