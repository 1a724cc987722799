"""Which arrays are small: those that eager mode keeps in NumPy's memory and computes with NumPy (see host/).

The answer depends on the number of elements alone, never on what has run before, so that a program gives the same bits
each time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .switches import is_on, nan_checks

# Up to here NumPy is about as fast as XLA on most ops that have been called before, and on small ones faster.
MOST = 32768
_OFF = -1
# The dtypes that NumPy computes in as XLA does.
DTYPES = frozenset(map(np.dtype, ("bool", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "c8", "c16")))


class _Limit:
    """The most elements that an array of the host has; below zero where all are XLA's."""

    most = _OFF
    known = False  # not before there is a device
    wanted = is_on("FLAGS_host_tier")


limit = _Limit()
_listeners: list[Callable[[], None]] = []


def most() -> int:
    """Return the most elements that an array of the host may have."""
    if not limit.known:
        limit.most, limit.known = _find_limit(), True
    return limit.most


def _find_limit() -> int:
    chosen = getattr(jax.config, "jax_default_device", None)
    plain = limit.wanted and not nan_checks.on and jax.default_backend() == "cpu"
    return MOST if plain and (chosen is None or chosen == jax.local_devices()[0]) else _OFF


def is_small(shape: tuple[int, ...], dtype: Any) -> bool:
    """Whether an array of this shape and dtype is the host's."""
    return math.prod(shape) <= most() and dtype in DTYPES


def on_change(listener: Callable[[], None]) -> None:
    """Call a function when the answer may have changed."""
    _listeners.append(listener)


def reset() -> None:
    """Forget the limit, since the device or a flag has changed."""
    limit.known = False
    most()
    for listener in _listeners:
        listener()


def use_host_tier(wanted: bool) -> None:
    """Switch the tier on or off."""
    limit.wanted = bool(wanted)
    reset()
