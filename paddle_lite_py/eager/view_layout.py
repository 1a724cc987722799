"""Where the elements of a view lie in the memory of its root, as the reference has it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..registry.view import ViewStep


def can_lie(root: Any, path: list[ViewStep]) -> bool:
    """Whether what some steps lead to is a view, and need not be copied."""
    if not all(isinstance(n, int) for n in root.shape):  # unknown sizes: only what cannot need a copy
        return all(step.rule is path[-1].rule for step in path)
    try:
        return layout(root, path) is not None
    except ValueError:
        return False


def whole(data: Any) -> np.ndarray:
    """Memory that is not there, as an array of the shape and dtype of some data."""
    memory = _memory.setdefault(data.dtype, np.empty(1, data.dtype))
    return np.lib.stride_tricks.as_strided(
        memory, data.shape, row_major(data.shape, data.dtype.itemsize), writeable=False
    )


_memory: dict[Any, np.ndarray] = {}


def start(seen: np.ndarray) -> int:
    """Where a view of whole() begins, in elements."""
    return (_address(seen) - _address(_memory[seen.dtype])) // seen.dtype.itemsize


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def layout(root: Any, path: list[ViewStep]) -> np.ndarray:
    """Return a view as NumPy would have it, of memory that is not there: for shape and strides only.

    Raises:
        ValueError: the elements do not lie so that a view could have that shape.
    """
    seen = whole(root)
    for step in path:
        seen = step.rule.layout(seen, step)
    return seen


def row_major(shape: Any, item: int) -> tuple[int, ...]:
    """How far apart neighbours along each axis are where elements lie one after the other."""
    return tuple([item * math.prod(shape[i + 1 :]) for i in range(len(shape))])
