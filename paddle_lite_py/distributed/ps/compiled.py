"""Whether Numba is there to compile the inner loops; without it NumPy does the same, slower."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

try:
    if os.environ.get("PADDLE_PS_NUMBA") == "0":
        raise ImportError
    import numba
except ImportError:
    HAS_NUMBA = False
else:
    HAS_NUMBA = True


def compiled(function: F) -> F:
    """Compile a loop by Numba, kept on disk between processes; no error model of Python's, and no fused products.

    So its results are NumPy's, bit by bit.
    """
    if not HAS_NUMBA:
        return function
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        made: Any = numba.njit(function, cache=True, **settings)
    except RuntimeError:  # there is no folder to write to
        made = numba.njit(function, **settings)
    return made
