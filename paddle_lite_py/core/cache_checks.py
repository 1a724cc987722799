"""A checker for tests: now and then, what a cache has is compared with what is computed anew.

`PADDLE_LITE_CHECK_CACHES=7` in the environment does so with every seventh find; nothing of it runs otherwise.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

VARIABLE = "PADDLE_LITE_CHECK_CACHES"
EVERY = int(os.environ.get(VARIABLE) or 0)
# Programs round differently from single ops, and deep nets multiply that; stale results differ by far more.
TOLERANCE = 0.05
_finds = itertools.count(1)


class StaleError(AssertionError):
    """A cache has given what would not be computed now."""


def is_due() -> bool:
    """Whether this find is one to be checked."""
    return bool(EVERY) and next(_finds) % EVERY == 0


def expect_same(what: str, kept: Any, compute: Callable[[], Any]) -> None:
    """Compare what came out of something kept with what is computed anew.

    Raises:
        StaleError: they differ in structure, dtype, shape, or by more than rounding.
    """
    anew, kept = jax.tree.leaves(compute()), jax.tree.leaves(kept)
    if len(anew) != len(kept) or not all(map(_alike, kept, anew)):
        raise StaleError(f"{what}: kept {kept!r:.300}, computed anew {anew!r:.300}")


def _alike(a: Any, b: Any) -> bool:
    if not hasattr(a, "dtype") or not hasattr(b, "dtype"):
        return type(a) is type(b)
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    if a.dtype.kind not in "fc":
        return True  # an index of the largest may be another one
    a, b = np.asarray(a), np.asarray(b)
    both = np.isfinite(a) & np.isfinite(b)
    scale = float(np.abs(b[both]).max(initial=0.0))
    return bool(np.allclose(a[both], b[both], rtol=TOLERANCE, atol=TOLERANCE * scale))


def content(obj: Any) -> Any:
    """Return a value that identifies the content of an array; None for other objects."""
    if isinstance(obj, np.ndarray):
        return obj.shape, obj.dtype, obj.tobytes()
    return content(np.asarray(obj)) if isinstance(obj, jax.Array) and not obj.is_deleted() else None
