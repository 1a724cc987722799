"""Ops whose output shape depends on the data."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..core.arrays import as_array
from ..core.errors import DataDependentError, user_frame
from ..core.interpreter import state
from ..eager.tensor import Tensor, wrap


def is_eager() -> bool:
    """Return True if ops execute immediately (eager mode).

    Examples:
        >>> is_eager()
        True
    """
    return state.interpreter.is_eager


def concrete(x: Any, what: str, instead: str) -> np.ndarray:
    """Return the values of a tensor as a NumPy array; raise in a program, where they are unknown.

    Raises:
        DataDependentError: in a static program, naming the call and what to write instead.
    """
    if isinstance(x, Tensor):
        if not is_eager():
            raise _error(what, instead)
        x = x._read(what)
    return np.asarray(x)


def _error(what: str, instead: str) -> DataDependentError:
    return DataDependentError(
        f"{what} at {user_frame()} gives a tensor whose shape depends on the data, which a static program cannot hold; "
        f"use {instead}, or run this part eagerly"
    )


def known(size: Tensor, what: str, instead: str) -> Any:
    """Return a size held by a traced tensor: the value of the current call (assumed by the program), or a symbol.

    Raises:
        DataDependentError: if there is neither, for example inside a branch or loop.
    """
    builder: Any = state.interpreter
    return builder.assume(size, _error(what, instead))


def fresh(values: Any) -> Tensor:
    """Create a tensor from NumPy values."""
    return wrap(as_array(np.asarray(values)) if not isinstance(values, jax.Array) else values)
