"""Checks of the operands of linear algebra: matrices, square matrices, systems that fit."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp


def matrices(x: Any, name: str = "x") -> Any:
    """Return stacks of matrices, integers as floating-point numbers.

    Raises:
        ValueError: x has fewer than 2 dimensions.
    """
    if x.ndim < 2:
        raise ValueError(f"{name} has the shape {list(x.shape)}; expected matrices [..., m, n]")
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.result_type(float))


def square(x: Any, name: str = "x") -> Any:
    """Return stacks of square matrices, integers as floating-point numbers.

    Raises:
        ValueError: x has fewer than 2 dimensions, or the last two differ.
    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{name} has the shape {list(x.shape)}; expected square matrices [..., n, n]")
    return matrices(x, name)


def need_equal_rows(x: Any, y: Any) -> None:
    """Check that the systems of x have right sides in y.

    Raises:
        ValueError: the numbers of rows differ.
    """
    if x.shape[-2] != y.shape[-2]:
        raise ValueError(
            f"x has the shape {list(x.shape)} and y {list(y.shape)}; expected as many rows in y as in x, {x.shape[-2]}"
        )
