"""Ops that act on the world: printing."""

from __future__ import annotations

import sys
from typing import Any

import jax
import numpy as np

from ..op import op


@op(grad=False, effect=True)
def print_(tensors: list[Any], /, texts: Any, sep: str = " ", end: str = "\n") -> Any:
    """Print tensors among texts when the program runs; `texts` holds None where a tensor stands."""

    def show(*arrays: Any) -> None:
        it = iter(arrays)
        sys.stdout.write(sep.join(_text(next(it)) if t is None else t for t in texts) + end)

    jax.debug.callback(show, *tensors, ordered=True)
    return ()


def _text(array: Any) -> str:
    return np.array2string(np.asarray(array), separator=", ")
