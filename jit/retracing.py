"""A trace that begins again with what it has learned of sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_lite_py.tracing.dimensions import Dimensions, Learned
from paddle_lite_py.tracing.trace import Traced


def retrace_until_sizes_hold(
    sizes: Dimensions | None, attempt: Callable[[list[Any]], Traced], arrays: list[Any]
) -> Traced:
    """Trace repeatedly until no unknown size is needed.

    Arguments:
        sizes: the unknown dimensions of the arguments, if some may have one.
        attempt: traces for arrays or specs.
        arrays: those of the call, for a trace without unknown dimensions; empty where there is no call.
    """
    if sizes is None:
        return attempt(arrays)
    while True:
        shapes = sizes.shapes()
        try:
            return attempt(shapes if sizes.symbols or not arrays else arrays)
        except Learned:
            continue
        except Exception:
            if not sizes.fix():
                raise
