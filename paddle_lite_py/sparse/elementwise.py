"""Elementwise functions of sparse tensors."""

from __future__ import annotations

from typing import Any

from ..core.no_effect import no_effect
from ..ops import logic, math, unary

_DOC = """Apply `paddle.{name}()` to the values of a sparse tensor; zeros stay zeros.

Returns:
    A sparse tensor with the sparsity pattern of `x`.

Examples:
    >>> import paddle_lite_py as paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [0.25, 0.5], [2, 2])
    >>> bool((paddle.sparse.{name}(x).values() == paddle.{name}(x.values())).all())
    True
"""


def _each(name: str, function: Any) -> Any:
    def apply(x: Any, name: Any = None) -> Any:
        return x._with(function(x.values()))

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__, apply.__module__ = _DOC.format(name=name), __name__
    return apply


sin, tan, asin, atan = (_each(n, getattr(unary, n)) for n in ("sin", "tan", "asin", "atan"))
sinh, tanh, asinh, atanh = (_each(n, getattr(unary, n)) for n in ("sinh", "tanh", "asinh", "atanh"))
sqrt, square, log1p, expm1 = (_each(n, getattr(unary, n)) for n in ("sqrt", "square", "log1p", "expm1"))
abs, neg, deg2rad, rad2deg = (_each(n, getattr(unary, n)) for n in ("abs", "neg", "deg2rad", "rad2deg"))
isnan = _each("isnan", logic.isnan)


def pow(x: Any, factor: float, name: Any = None) -> Any:
    """Raise the stored values to a power.

    Returns:
        A sparse tensor with the sparsity pattern of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.pow(x, 2.0).values().tolist()
        [1.0, 4.0]
    """
    power: Any = math.pow
    return x._with(power(x.values(), factor))


@no_effect(index_dtype="places are int64")
def cast(x: Any, index_dtype: Any = None, value_dtype: Any = None, name: Any = None) -> Any:
    """Convert the values to another dtype; indices stay int64.

    Returns:
        A sparse tensor with the sparsity pattern of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.cast(x, value_dtype="float64").dtype
        paddle.float64
    """
    return x if value_dtype is None else x.astype(value_dtype)
