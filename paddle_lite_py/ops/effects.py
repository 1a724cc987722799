"""Ops with side effects: printing."""

from __future__ import annotations

import sys
from typing import Any

import jax
import numpy as np

from ..core.place import current
from ..core.printing import as_text
from ..dispatch.define import op
from ..tracing.traced_scalars import NUMBER, number_text


@op(grad=False, effect=True)
def print_(tensors: list[Any], /, texts: Any, sep: str = " ", end: str = "\n") -> Any:
    """Print tensors among texts when the program runs."""

    place = current()

    def show(*arrays: Any) -> None:
        it = iter(arrays)
        shown = [
            "".join([p if isinstance(p, str) else _shown(np.asarray(next(it)), place, *p) for p in t]) for t in texts
        ]
        sys.stdout.write(sep.join(shown) + end)

    jax.debug.callback(show, *tensors, ordered=True)
    return ()


def _shown(array: np.ndarray, place: Any, stop_gradient: bool, conversion: int, spec: str) -> str:
    if conversion <= NUMBER or (conversion < 0 and (array.ndim == 0 or (spec and array.size == 1))):
        return number_text(array, conversion, spec)
    return format(as_text(array, place, stop_gradient), spec)
