"""Exchanges between the parts of a layer. There is one part, so that each tensor is what it was."""

from __future__ import annotations

from typing import Any


def _c_identity(tensor: Any, group: Any = None, **settings: Any) -> Any:
    """The tensor, the gradients of all parts of which are added."""
    return tensor


_c_concat = _c_split = _mp_allreduce = _c_identity
