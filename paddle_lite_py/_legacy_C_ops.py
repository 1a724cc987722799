"""Kernels by name, with attributes as pairs of names and values; what programs call of them."""

from __future__ import annotations

from typing import Any

from .ops.search import argsort as _argsort
from .ops.search import sort as _sort


def argsort(x: Any, *pairs: Any) -> tuple[Any, Any]:
    """The sorted tensor, and where each element was.

    Args:
        x: a tensor.
        pairs: "axis", its value, "descending", its value.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [t.tolist() for t in argsort(paddle.to_tensor([1.0, 3.0, 2.0]), "axis", 0, "descending", True)]
        [[3.0, 2.0, 1.0], [1, 2, 0]]
    """
    settings = dict(zip(pairs[::2], pairs[1::2], strict=True))
    return _sort(x, **settings), _argsort(x, **settings)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"paddle._legacy_C_ops has no kernel {name!r} here: call the public function of that name")
