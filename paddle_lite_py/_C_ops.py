"""Kernels by name, with attributes in order; what programs call of them."""

from __future__ import annotations

from typing import Any

from . import _legacy_C_ops


def argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False) -> tuple[Any, Any]:
    """The sorted tensor, and where each element was.

    Args:
        x: a tensor.
        axis, descending, stable: as for paddle.argsort.
    """
    return _legacy_C_ops.argsort(x, "axis", axis, "descending", descending, "stable", stable)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"paddle._C_ops has no kernel {name!r} here: call the public function of that name")
