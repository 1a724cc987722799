"""Random numbers for shuffling, on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..eager.random import Generator, default_generator, host_draw


def source(generator: Generator | None = None) -> Any:
    """What draws: the given stream, or paddle's if paddle.seed() has set it, or else NumPy's global one.

    So an order is reproducible after paddle.seed() as well as after numpy.random.seed().
    """
    if generator is None and not default_generator.seeded:
        return np.random
    return host_draw(generator)


def permutation(n: int, generator: Generator | None = None) -> list[int]:
    """The numbers from 0 to n - 1 in random order."""
    return source(generator).permutation(n).tolist()
