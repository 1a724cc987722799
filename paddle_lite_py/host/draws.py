"""Random draws on the host: the bits of JAX's generator, threefry, which are the same wherever they are computed.

The key of the generator is two words here, along a last axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..core.memo import Memo
from .rules import BASELINE_RULES, rule
from .steps import HostStep, UnknownStepError

Function = Callable[..., Any]
Words = tuple[int, int]
# Of more numbers XLA's code takes a fraction of the time.
MOST = 512
# A hash of a few counts takes NumPy as long as one of thousands. So those of the next draws are computed along: as many
# keys, and as many words for each of them.
_KEYS, _AT_ONCE = 64, 4096
# How far up and down bits are turned, as arrays, which NumPy takes in half the time.
_SHIFTS = [
    [(np.array(t, np.uint32), np.array(32 - t, np.uint32)) for t in turns]
    for turns in ((13, 15, 26, 6), (17, 29, 16, 24))
]
_WORD = 0xFFFFFFFF


def _partitionable() -> bool:
    """Whether the bits of an element depend on its place alone."""
    return getattr(jax.config, "jax_threefry_partitionable", False)


def threefry(first: Any, second: Any, counts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the hash of counts below 2**32 under keys, both of uint32, in the shape that they have together."""
    keys = first, second, first ^ second ^ np.uint32(0x1BD11BDA)
    y = counts + second
    x, high = np.empty_like(y), np.empty_like(y)
    x[...] = first
    add, left, right, either, differing = np.add, np.left_shift, np.right_shift, np.bitwise_or, np.bitwise_xor
    for i in range(5):
        for up, down in _SHIFTS[i % 2]:
            add(x, y, x)
            left(y, up, high)
            right(y, down, y)
            either(y, high, y)
            differing(y, x, y)
        x += keys[(i + 1) % 3]
        y += keys[(i + 2) % 3] + np.uint32(i + 1)
    return x, y


class KeyBlock:
    """Keys of draws that follow each other, from one count of their stream on, with the words that they give."""

    def __init__(self, keys: list[Words], first: int = 0) -> None:
        self.first, self.keys = first, keys
        self.arrays = list(np.array(keys, np.uint32))
        # By how many each key gives: from which key on, and the two words of each.
        self.words: dict[int, tuple[int, np.ndarray, np.ndarray]] = {}

    def drawn(self, i: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the words of one key."""
        start, high, low = self.words.get(size, (0, (), ()))
        if not start <= i < start + len(high):
            keys = self.keys[i : i + max(_AT_ONCE // max(size, 1), 1)]
            first, second = np.array(keys, np.uint32).T[:, :, None]
            start, (high, low) = i, threefry(first, second, np.arange(size, dtype=np.uint32))
            self.words[size] = start, high, low
        return high[i - start], low[i - start]


# Key: the words of the stream; pure.
_blocks: Memo[Words, KeyBlock] = Memo("keys of random draws, by stream", 64)
# Key: the words of the stream; pure.
_places: Memo[Words, tuple[KeyBlock, int]] = Memo("places of keys", 4 * _KEYS)


def fold(key: Words, count: int) -> np.ndarray:
    """Return the key of a draw, from that of its stream."""
    block = _blocks.get(key)
    if block is None or not 0 <= count - block.first < _KEYS:
        counts = (np.arange(count, count + _KEYS, dtype=np.uint64) & np.uint64(_WORD)).astype(np.uint32)
        words = threefry(np.uint32(key[0]), np.uint32(key[1]), counts)
        block = _blocks.put(key, KeyBlock(list(zip(*[w.tolist() for w in words], strict=True)), count))
        for i, one in enumerate(block.keys):
            _places.put(one, (block, i))
    return block.arrays[count - block.first]


def draw(key: Words, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the words of the counts below n."""
    block, i = _places.get(key) or _places.put(key, (KeyBlock([key]), 0))
    high, low = block.drawn(i, 1 << (n - 1).bit_length() if n else 0)
    return high[:n], low[:n]


def _words(key: Any) -> Words:
    return tuple(key.tolist())


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
    return lambda key, data: fold(_words(key), int(data) & _WORD)


@rule("random_split")
def _random_split(step: HostStep) -> Function:
    shape = tuple(step.params["shape"])
    n = math.prod(shape)
    if step.given[0].shape != (2,) or n > MOST or not _partitionable():
        raise UnknownStepError("many keys")
    return lambda key: np.stack(draw(_words(key), n), -1).reshape((*shape, 2))


@rule("random_bits")
def _random_bits(step: HostStep) -> Function:
    return _bits(step, MOST, draw)


@rule("random_bits", table=BASELINE_RULES)
def _many_random_bits(step: HostStep) -> Function:
    return _bits(step, _WORD, _drawn_once)


def _drawn_once(key: Words, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the same as draw(), which keeps what it has drawn."""
    return threefry(np.uint32(key[0]), np.uint32(key[1]), np.arange(n, dtype=np.uint32))


def _bits(step: HostStep, most: int, draw: Callable[[Words, int], tuple[np.ndarray, np.ndarray]]) -> Function:
    width, shape = step.params["bit_width"], tuple(step.params["shape"])
    n = math.prod(shape)
    plain = step.given[0].shape == (2,) and width in (32, 64) and _partitionable()
    if not plain or n > most:
        raise UnknownStepError("many keys, or many numbers")

    def random_bits(key: Any) -> Any:
        high, low = draw(_words(key), n)
        if width == 32:
            return (high ^ low).reshape(shape)
        return (high.astype(np.uint64) << np.uint64(32) | low).reshape(shape)

    return random_bits


@rule("random_words")
def _random_words(step: HostStep) -> Function:
    return _random_pairs(step, MOST, draw)


@rule("random_words", table=BASELINE_RULES)
def _many_random_words(step: HostStep) -> Function:
    return _random_pairs(step, _WORD, _drawn_once)


def _random_pairs(step: HostStep, most: int, draw: Callable[[Words, int], tuple[np.ndarray, np.ndarray]]) -> Function:
    shape = step.made[0].shape
    n = math.prod(shape)
    if n > most:
        raise UnknownStepError("many numbers")

    def random_words(key: Any) -> Any:
        high, low = draw(_words(key), n)
        return high.reshape(shape), low.reshape(shape)

    return random_words


@rule("random_wrap", "random_unwrap", moves=True)
def _random_wrap(step: HostStep) -> str:
    return "{0}"


@rule("bitcast_convert_type", moves=True)
def _bitcast(step: HostStep) -> Function:
    if step.given[0].dtype.itemsize != step.made[0].dtype.itemsize or bool in (step.given[0].dtype, step.made[0].dtype):
        raise UnknownStepError("bits of another width")
    return lambda x: x.view(step.made[0].dtype)
