"""Which kinds of call are compiled: where small ones keep coming that do not recur, the function itself runs.

To trace and compile a kind of call takes a second, the function itself a few milliseconds where NumPy computes it. So
the first kinds are compiled when they come first; from then on a kind is when it comes again, until an earlier one
has. The results are those of the function either way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lite_py.core import small
from paddle_lite_py.core.memo import Memo

from .cache import Cache, CacheKey

# So many kinds that differ in shapes alone are compiled before one of them has come again.
MOST = 2
KEPT = 512


class CompilePolicy:
    """Decides whether a new kind of call of one function is compiled.

    Arguments:
        programs: of the function.
    """

    def __init__(self, programs: Cache) -> None:
        self._programs = programs
        # Key: as of the programs; whether to compile, not what.
        self._met: Memo[CacheKey, bool] = Memo(f"kinds of call that {programs.name} met once", KEPT)

    def should_run_eagerly(self, key: CacheKey, tensors: list[Any]) -> bool:
        """Whether the function itself is to run for a kind of call that has no program: then what it reads is NumPy's.

        Arguments:
            tensors: of the call.
        """
        if self._met.pop(key, False):
            return False
        alike = [e for k, entries in self._programs.entries.items() for e in entries[:1] if _alike(k, key)]
        once = [e for e in alike if e.called_once]
        if len(once) < MOST:
            return False
        read = [*tensors, *(h for e in once for h in e.traced.captures)]
        if not all(small.is_small(t._payload.shape, t._payload.dtype) for t in read):
            return False
        for t in read:
            if t._payload.__class__ is not np.ndarray:
                t.__dict__["_payload"] = np.asarray(t._payload)
        return self._met.put(key, True)


def _alike(a: CacheKey, b: CacheKey) -> bool:
    """True for kinds that differ in the shapes of their tensors alone."""
    if (a.context, a.structure) != (b.context, b.structure) or len(a.tensors) != len(b.tensors):
        return False
    return all(
        x.__class__ is y.__class__ is tuple and x[1:] == y[1:] for x, y in zip(a.tensors, b.tensors, strict=True)
    )
