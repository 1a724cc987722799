"""Reductions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from .. import dtype as dtypes
from ..op import op


@op(methods=["sum"])
def sum(x: Any, /, axis: Any = None, dtype: Any = None, keepdim: bool = False) -> Any:
    """Sum of x over axes; integers and booleans sum in int64."""
    kind = None if dtype is None else dtypes.as_dtype(dtype).np
    if kind is None and x.dtype.kind in "bi":
        kind = jnp.int64
    return jnp.sum(x, axis=axis or None if axis == () else axis, dtype=kind, keepdims=keepdim)
