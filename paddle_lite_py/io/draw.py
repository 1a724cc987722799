"""Random numbers for shuffling, on the host."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..eager.random import Generator, default_generator, host_draw


def source(generator: Generator | None = None) -> Any:
    """Return the generator of an order: the given stream, or NumPy's global one, where numpy.random.seed() fixes
    the order, whatever paddle.seed() was given, as in the reference."""
    return np.random if generator is None else host_draw(generator)


def permutation(n: int, generator: Generator | None = None) -> list[int]:
    """Return the numbers from 0 to n - 1 in random order."""
    return source(generator).permutation(n).tolist()


def split_order(n: int, generator: Generator | None = None) -> list[int]:
    """The numbers from 0 to n - 1 in the order that a split or a subset takes: of paddle's stream, which the reference
    takes for them, if paddle.seed() has set it."""
    return permutation(n, default_generator if generator is None and default_generator.seeded else generator)


def worker_seed() -> int:
    """Return a seed for workers, which takes as much from NumPy's stream as the reference's does."""
    return int(np.random.randint(0, sys.maxsize))
