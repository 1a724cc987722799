"""Linear algebra."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..op import op
from .promote import promote


@op(methods=["matmul", "mm"], operators=["__matmul__"], amp="white")
def matmul(x: Any, y: Any, /, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    """Matrix product of x and y."""
    x, y = promote(x, y)
    return jnp.matmul(_t(x) if transpose_x else x, _t(y) if transpose_y else y)


def _t(x: Any) -> Any:
    return jnp.swapaxes(x, -1, -2) if x.ndim > 1 else x
