"""Steps that draw random numbers: the bits of JAX's generator, threefry, which are the same wherever they are computed.

The key of the generator is two words here, along a last axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .rules import rule
from .steps import HostStep, UnknownStepError

Function = Callable[..., Any]
# Of more numbers XLA's code takes a fraction of the time.
MOST = 2048
_TURNS = ((13, 15, 26, 6), (17, 29, 16, 24))
_WORD = 0xFFFFFFFF


def _partitionable() -> bool:
    """Whether the bits of an element depend on its place alone."""
    return getattr(jax.config, "jax_threefry_partitionable", False)


def _keys(first: int, second: int) -> tuple[int, int, int]:
    return first, second, first ^ second ^ 0x1BD11BDA


def hash_word(key: Any, count: int) -> tuple[int, int]:
    """Threefry of one count below 2**32, in Python's integers, which are faster than arrays of one element."""
    keys = _keys(int(key[0]), int(key[1]))
    x, y = keys[0], (count + keys[1]) & _WORD
    for i in range(5):
        for turn in _TURNS[i % 2]:
            x = (x + y) & _WORD
            y = (((y << turn) | (y >> (32 - turn))) & _WORD) ^ x
        x = (x + keys[(i + 1) % 3]) & _WORD
        y = (y + keys[(i + 2) % 3] + i + 1) & _WORD
    return x, y


def hash_words(key: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Threefry of the counts below n."""
    keys = [np.uint32(k) for k in _keys(int(key[0]), int(key[1]))]
    x, y = np.full(n, keys[0]), np.arange(n, dtype=np.uint32)
    y += keys[1]
    high = np.empty_like(y)
    for i in range(5):
        for turn in _TURNS[i % 2]:
            x += y
            np.left_shift(y, turn, high)
            y >>= 32 - turn
            y |= high
            y ^= x
        x += keys[(i + 1) % 3]
        y += keys[(i + 2) % 3] + np.uint32(i + 1)
    return x, y


@rule("random_seed")
def _random_seed(step: HostStep) -> Function:
    if step.given[0].shape:
        raise UnknownStepError("many keys")
    wide = step.given[0].dtype.itemsize == 8

    def random_seed(seed: Any) -> Any:
        value = int(seed)
        return np.array([value >> 32 & _WORD if wide else 0, value & _WORD], np.uint32)

    return random_seed


@rule("random_fold_in")
def _random_fold_in(step: HostStep) -> Function:
    if step.given[0].shape != (2,) or step.given[1].shape:
        raise UnknownStepError("many keys")
    return lambda key, data: np.array(hash_word(key, int(data) & _WORD), np.uint32)


@rule("random_split")
def _random_split(step: HostStep) -> Function:
    shape = tuple(step.params["shape"])
    n = math.prod(shape)
    if step.given[0].shape != (2,) or n > MOST or not _partitionable():
        raise UnknownStepError("many keys")
    return lambda key: np.stack(hash_words(key, n), -1).reshape((*shape, 2))


@rule("random_bits")
def _random_bits(step: HostStep) -> Function:
    width, shape = step.params["bit_width"], tuple(step.params["shape"])
    n = math.prod(shape)
    plain = step.given[0].shape == (2,) and width in (32, 64) and _partitionable()
    if not plain or n > MOST:
        raise UnknownStepError("many keys, or many numbers")

    def random_bits(key: Any) -> Any:
        high, low = hash_words(key, n)
        if width == 32:
            return (high ^ low).reshape(shape)
        return (high.astype(np.uint64) << np.uint64(32) | low).reshape(shape)

    return random_bits


@rule("random_wrap", "random_unwrap", moves=True)
def _random_wrap(step: HostStep) -> str:
    return "{0}"


@rule("bitcast_convert_type", moves=True)
def _bitcast(step: HostStep) -> Function:
    if step.given[0].dtype.itemsize != step.made[0].dtype.itemsize or bool in (step.given[0].dtype, step.made[0].dtype):
        raise UnknownStepError("bits of another width")
    return lambda x: x.view(step.made[0].dtype)
