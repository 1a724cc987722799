"""JAX's default generator, threefry, with the same bits, as operations that XLA fuses with their consumers.

JAX's own are a loop over arrays on CPUs, which takes ten times as long to run and to compile.

Source: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011 (Threefry-2x32 with 20 rounds).
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import define_prng_impl, threefry_prng_impl

_TURNS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


@functools.partial(jax.jit, static_argnums=1)
def random_words(key: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return two random words per element: its encrypted index. The host tier recognizes the op by name."""
    number = jax.lax.iota(np.uint32, math.prod(shape)).reshape(shape)
    first, second = key
    return _encipher(first, second, jnp.zeros_like(number), number)


def _encipher(first: Any, second: Any, a: Any, b: Any) -> tuple[Any, Any]:
    keys = (first, second, first ^ second ^ _PARITY)
    a, b = a + first, b + second
    for i in range(5):
        for turn in _TURNS[i % 2]:
            a = a + b
            b = ((b << np.uint32(turn)) | (b >> np.uint32(32 - turn))) ^ a
        a, b = a + keys[(i + 1) % 3], b + keys[(i + 2) % 3] + np.uint32(i + 1)
    return a, b


def is_by_element(shape: tuple[int, ...]) -> bool:
    """Whether the bits of each element are those of random_words()."""
    known = all(isinstance(n, int) for n in shape) and math.prod(shape) < 2**32
    return known and getattr(jax.config, "jax_threefry_partitionable", False)


def _random_bits(key: Any, bit_width: int, shape: tuple[int, ...]) -> Any:
    if not is_by_element(shape):
        return threefry_prng_impl.random_bits(key, bit_width, shape)
    high, low = random_words(key, shape)
    if bit_width == 64:
        return high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
    return (high ^ low).astype(f"uint{bit_width}")


def _fold_in(key: Any, data: Any) -> Any:
    data = jnp.uint32(data)
    return jnp.stack(_encipher(key[0], key[1], jnp.zeros_like(data), data))


def _split(key: Any, shape: tuple[int, ...]) -> Any:
    if not is_by_element(shape):
        return threefry_prng_impl.split(key, shape)
    return jnp.stack(random_words(key, shape), -1)


_FUSED = define_prng_impl(
    key_shape=(2,), seed=threefry_prng_impl.seed, split=_split, random_bits=_random_bits, fold_in=_fold_in,
    name="fused_threefry", tag="fry",
)  # fmt: skip


def random_key(seed: Any) -> Any:
    """Return the key of a seed, for the generator that JAX is set to.

    Example:
        >>> jax.random.key_data(random_key(3)).tolist()
        [0, 3]
    """
    is_default = getattr(jax.config, "jax_default_prng_impl", "") == "threefry2x32"
    return jax.random.key(seed, impl=_FUSED if is_default else None)


def integers(key: Any, low: Any, high: Any, shape: tuple[int, ...]) -> Any:
    """Return the numbers of jax.random.randint in int64; it takes twice the steps, for limits of narrower dtypes.

    Example:
        >>> key = random_key(3)
        >>> integers(key, 0, 10, (2,)).tolist() == jax.random.randint(key, (2,), 0, 10, "int64").tolist()
        True
    """
    low, high = jnp.asarray(low, jnp.int64), jnp.asarray(high, jnp.int64)
    span, rem = jnp.where(high > low, (high - low).astype(jnp.uint64), jnp.uint64(1)), jax.lax.rem
    first, second = (jax.random.bits(k, shape, jnp.uint64) for k in jax.random.split(key))
    wrap = rem(jnp.uint64(2**32), span)
    wrap, spans = rem(wrap * wrap, span), jax.lax.broadcast(span, shape)  # 2**64, by which the first draw counts
    return low + rem(rem(first, spans) * wrap + rem(second, spans), spans).astype(jnp.int64)
