"""Ops that act on the world: printing."""

from __future__ import annotations

import sys
from typing import Any

import jax
import numpy as np

from ..arrays import as_text
from ..op import op
from ..place import current


@op(grad=False, effect=True)
def print_(tensors: list[Any], /, texts: Any, sep: str = " ", end: str = "\n") -> Any:
    """Print tensors among texts when the program runs; `texts` holds stop_gradient where a tensor stands."""

    place = current()

    def show(*arrays: Any) -> None:
        it = iter(arrays)
        sys.stdout.write(
            sep.join(t if isinstance(t, str) else as_text(np.asarray(next(it)), place, t) for t in texts) + end
        )

    jax.debug.callback(show, *tensors, ordered=True)
    return ()
