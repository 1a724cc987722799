"""Instances of a data set among the workers of parameter servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .slots import SlotValues, join_slots


def spread(
    exchange: Callable[[list[Any]], list[Any]], rank: int, size: int, slots: list[SlotValues], order: np.ndarray
) -> list[SlotValues]:
    """Shuffle instances among all workers, each dealing its own in a random order to all in turn.

    Arguments:
        exchange: gives all workers what is theirs, and what they have for this one.
        rank, size: the number of this worker, and how many there are.
    """
    dealt = [select_instances(slots, order[(worker - rank) % size :: size]) for worker in range(size)]
    found = exchange([_named_arrays(part) for part in dealt])
    parts = [[SlotValues(f[f"values/{i}"], f[f"starts/{i}"]) for i in range(len(slots))] for f in found]
    return [join_slots([part[i] for part in parts]) for i in range(len(slots))]


def select_instances(slots: list[SlotValues], rows: np.ndarray) -> list[SlotValues]:
    """Some instances, in this order.

    Examples:
        >>> ids = SlotValues(np.array([7, 8, 9]), np.array([0, 2, 3]))
        >>> select_instances([ids], np.array([1, 0]))[0].values.tolist()
        [9, 7, 8]
    """
    out = []
    for slot in slots:
        counts = np.diff(slot.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(counts)])
        index = np.repeat(slot.starts[rows] - starts[:-1], counts) + np.arange(starts[-1])
        out.append(SlotValues(slot.values[index], starts))
    return out


def _named_arrays(slots: list[SlotValues]) -> dict[str, np.ndarray]:
    return {f"{field}/{i}": a for i, slot in enumerate(slots) for field, a in slot._asdict().items()}
