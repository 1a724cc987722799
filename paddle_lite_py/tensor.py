"""`paddle.tensor`: the functions on tensors under the reference's module paths."""

from __future__ import annotations

import importlib
from typing import Any

from .eager.tensor import Parameter, RemoveHandle, Tensor, _restore

__all__ = ["Parameter", "RemoveHandle", "Tensor", "_restore"]

# Programs know the functions on tensors as those of the modules of `paddle.tensor`, too.
_MODULES = (*("array", "attribute", "creation", "linalg", "logic", "manipulation", "math", "random", "search", "stat"),)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(__name__)
    for place in (__package__, f"{__package__}.ops.lists"):
        if hasattr(module := importlib.import_module(place), name):
            return getattr(module, name)
    raise AttributeError(f"module 'paddle.tensor' has no attribute {name!r} here")
