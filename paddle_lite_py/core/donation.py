"""When a program may reuse the memory of its arguments, and what follows for how it is compiled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .references import is_shared

# Of parameters that are updated in a program. Of more, the updates take longer than what plain emitters gain.
MAX_UPDATED = 1 << 25
MIN_DONATED_BYTES = 64 << 20


def worth_donating(loops: bool, arrays: Iterable[Any]) -> bool:
    """True but for programs with loops on CPUs: reused buffers make those slower, so only much state is reused."""
    return not (loops and jax.default_backend() == "cpu") or sum(a.nbytes for a in arrays) >= MIN_DONATED_BYTES


def suits_plain(wanted: bool, updated: int) -> bool:
    """Whether XLA's plain emitters, which some op of a program wants, serve all of it: see config.compiler_options.

    Arguments:
        updated: how many elements of parameters are updated in it.
    """
    return wanted and updated <= MAX_UPDATED


def donatable(arrays: list[Any]) -> list[Any]:
    """The arrays, each one that somebody else may still read replaced by a copy, so that XLA may reuse their memory."""
    for i in range(len(arrays)):
        array = arrays[i]  # whose handle and this list hold it
        if array.__class__ is not np.ndarray and is_shared(array, 2):  # JAX copies what is NumPy's itself
            arrays[i] = jnp.copy(array)
    return arrays
