"""Distinct ids of a batch, and sums of what belongs to the same id."""

from __future__ import annotations

import numpy as np

from .compiled import HAS_NUMBA, compiled
from .index import mixed


@compiled
def _distinct(ids, table, first, inverse, counts):
    """Number ids in the order in which they come; how many there are."""
    mask = np.uint64(len(table) - 1)
    found = 0
    for i in range(len(ids)):
        at = np.int64(mixed(ids[i]) & mask)
        while table[at] >= 0 and ids[first[table[at]]] != ids[i]:
            at = np.int64(np.uint64(at + 1) & mask)
        if table[at] < 0:
            table[at] = found
            first[found] = i
            found += 1
        inverse[i] = table[at]
        counts[table[at]] += 1
    return found


@compiled
def _sum_rows(values, inverse, out):
    for i in range(len(inverse)):
        for c in range(values.shape[1]):
            out[inverse[i], c] += values[i, c]


def distinct(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the different ids in the order in which they come, which of them each id is, and how often each is there.

    Example:
        >>> [a.tolist() for a in distinct(np.array([7, 5, 7], np.uint64))]
        [[7, 5], [0, 1, 0], [2, 1]]
    """
    if HAS_NUMBA:
        table = np.full(1 << (2 * len(ids)).bit_length(), -1, np.int32)
        first, inverse = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
        counts = np.zeros(len(ids), np.int64)
        found = _distinct(ids, table, first, inverse, counts)
        return ids[first[:found]], inverse, counts[:found]
    _, first, inverse, counts = np.unique(ids, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return ids[first[order]], rank[inverse.reshape(-1)], counts[order]


def sum_rows(values: np.ndarray, inverse: np.ndarray, count: int) -> np.ndarray:
    """Rows of values that belong together, added in their order: [count, columns]."""
    out = np.zeros((count, values.shape[1]), values.dtype)
    if HAS_NUMBA:
        _sum_rows(values, inverse, out)
    else:
        np.add.at(out, inverse, values)
    return out
