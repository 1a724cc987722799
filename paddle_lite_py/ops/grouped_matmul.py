"""A matrix product with a weight of its own for each group of rows, for mixtures of experts."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from .types import Array

LARGEST = 256  # rows that are multiplied at a time


@op(name="grouped_matmul", amp="white", loops=True)
def grouped_matmul(x: Array, sizes: Array, weights: list[Any], /) -> Any:
    """Multiply rows of x [rows, in] by weights, each [in, out]: the first sizes[0] rows by the first one, and so on.

    A loop for each weight multiplies a few rows at a time: each row by its own weight only, however uneven the groups
    are. (`jax.lax.ragged_dot` multiplies all rows by all weights on CPUs, and takes the weights as one array.)
    """
    return _multiply(x, sizes.astype(jnp.int32), tuple(weights))


@jax.custom_vjp
def _multiply(x: Any, sizes: Any, weights: tuple[Any, ...]) -> Any:
    block = _block(x, weights)
    padded, ends = jnp.pad(x, [(0, block), (0, 0)]), jnp.cumsum(sizes)
    found = jnp.zeros((x.shape[0] + block, weights[0].shape[1]), x.dtype)
    for i, weight in enumerate(weights):

        def body(n: Any, found: Any, weight: Any = weight, start: Any = ends[i] - sizes[i]) -> Any:
            at = start + n * block
            # Rows written past the end of a group are overwritten by the next ones.
            part = jax.lax.dynamic_slice_in_dim(padded, at, block) @ weight
            return jax.lax.dynamic_update_slice_in_dim(found, part.astype(found.dtype), at, 0)

        found = jax.lax.fori_loop(0, -(-sizes[i] // block), body, found)
    return found[: x.shape[0]]


def _block(x: Any, weights: tuple[Any, ...]) -> int:
    """Return the number of rows that are multiplied at a time: a power of two, about half of a group of mean size."""
    return min(LARGEST, 1 << max((x.shape[0] // (2 * len(weights))).bit_length() - 1, 0))


def _gradients(saved: Any, g: Any) -> Any:
    x, sizes, weights = saved
    block = 4 * _block(x, weights)  # each block reads and writes all of a weight's gradient, so most groups have one
    ends, wide = jnp.cumsum(sizes), jnp.promote_types(x.dtype, jnp.float32)
    inputs, outputs = (jnp.pad(a, [(0, block), (0, 0)]) for a in (x, g))
    found = []
    for i, weight in enumerate(weights):

        def body(n: Any, total: Any, start: Any = ends[i] - sizes[i], end: Any = ends[i]) -> Any:
            at = start + n * block
            own, grads = (jax.lax.dynamic_slice_in_dim(a, at, block) for a in (inputs, outputs))
            own = jnp.where((at + jnp.arange(block) < end)[:, None], own, 0)
            return total + jnp.matmul(own.T, grads, preferred_element_type=wide)

        total = jax.lax.fori_loop(0, -(-sizes[i] // block), body, jnp.zeros(weight.shape, wide))
        found.append(total.astype(weight.dtype))
    return _multiply(g, sizes, tuple(w.T for w in weights)).astype(x.dtype), None, tuple(found)


_multiply.defvjp(lambda *args: (_multiply(*args), args), _gradients)
