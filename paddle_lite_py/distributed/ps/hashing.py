"""Numbers that depend on an id alone: the server that it lies on, its part of a table, its first values, its draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

import numpy as np

# Constants of the generator splitmix64.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)
# A table's parts, which snapshots write one at a time: the first bits of the hash say which.
PART_BITS = 6
PARTS = 1 << PART_BITS


def mix(numbers: np.ndarray) -> np.ndarray:
    """Hash of uint64 numbers: every bit depends on every bit."""
    h = numbers + GOLDEN
    h = (h ^ (h >> np.uint64(30))) * MIX_A
    h = (h ^ (h >> np.uint64(27))) * MIX_B
    return h ^ (h >> np.uint64(31))


def shard_of(ids: np.ndarray, servers: int) -> np.ndarray:
    """Return the server of each id."""
    return (mix(ids) % np.uint64(servers)).astype(np.int64)


def part_of(ids: np.ndarray) -> np.ndarray:
    """Return the part of the table that each id lies in."""
    return (mix(ids) >> np.uint64(64 - PART_BITS)).astype(np.int64)


def draws(ids: np.ndarray, *words: int) -> np.ndarray:
    """Return a number of [0, 1) for each id, other ones for other words."""
    key = np.zeros(1, np.uint64)
    for word in words:
        key = mix(key ^ np.uint64(word % 2**64))
    return (mix(ids ^ key) >> np.uint64(11)) * 2.0**-53


def first_values(ids: np.ndarray, columns: int, seed: int, initializer: Mapping[str, Any]) -> np.ndarray:
    """First values of rows: float32 [len(ids), columns].

    Args:
        ids: uint64 [n].
        columns: numbers in each row.
        seed: another seed gives other numbers.
        initializer: kind and numbers, as in a config.

    Example:
        >>> first_values(np.arange(2, dtype=np.uint64), 2, 0, {"kind": "constant", "value": 3.0}).tolist()
        [[3.0, 3.0], [3.0, 3.0]]
    """
    kind = initializer["kind"]
    if kind in ("zeros", "constant"):
        return np.full((len(ids), columns), initializer.get("value", 0.0), np.float32)
    key = mix(np.array([seed], np.uint64))
    start = mix(ids ^ key)[:, None]
    bits = mix(start + np.arange(1, columns + 1, dtype=np.uint64) * GOLDEN)
    if kind == "uniform":
        bound = np.float32(initializer["bound"])
        return ((bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)) * bound
    # Box and Muller: the first half of the bits is a radius, above zero for the logarithm, the second an angle.
    radius = np.sqrt(-2 * np.log(((bits >> np.uint64(32)) + 1) * 2.0**-32))
    angle = (bits & np.uint64(0xFFFFFFFF)) * (2 * np.pi * 2.0**-32)
    return (radius * np.cos(angle) * initializer["std"]).astype(np.float32)


def home_of(table: str, servers: int) -> int:
    """Return the server that a dense table lies on.

    Example:
        >>> home_of("bias", 1)
        0
    """
    return crc32(table.encode()) % servers
