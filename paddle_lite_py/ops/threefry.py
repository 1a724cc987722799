"""Random booleans from fewer bits than JAX takes."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..core.jax_compat.threefry import is_by_element, random_words


def bernoulli(key: Any, p: float, shape: tuple[int, ...]) -> Any:
    """Draw what `jax.random.bernoulli()` draws, comparing 32 instead of 53 random bits with p."""
    if jax.random.key_data(key).shape != (2,) or not is_by_element(shape):
        return jax.random.bernoulli(key, p, shape)
    return random_words(jax.random.key_data(key), shape)[0] < np.uint32(min(round(p * 2**32), 2**32 - 1))
