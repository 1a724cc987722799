"""Sparse tensors among the operands of ops and operators, such as `dense @ sparse`."""

from __future__ import annotations

from typing import Any

from ..eager.execute import of_others
from ..eager.tensor import Tensor
from ..ops import math
from ..registry.bound import BoundOp
from . import elementwise, matrix, shape
from .tensors import _Sparse, gathered

_PRODUCTS = ("matmul", "mm", "mv")
_SUMS = {"add": matrix.add, "subtract": matrix.subtract}
_SCALINGS = {"multiply": matrix.multiply, "divide": matrix.divide}


def _of_sparse(bound: BoundOp, args: tuple[Any, ...]) -> Any:
    """Return what an op of two operands gives where one is sparse; NotImplemented for any other op."""
    name = bound.op.name
    if len(args) != 2 or not any(isinstance(a, _Sparse) for a in args):
        return NotImplemented
    x, y = args
    if name in _PRODUCTS and not any(bound.attrs) and hasattr(y, "shape"):
        return _product(x, y)
    if name in _SUMS and _alike(x, y):
        both = isinstance(x, _Sparse) and isinstance(y, _Sparse)
        return _SUMS[name](x, y) if both else getattr(math, name)(_dense(x), _dense(y))
    if name in _SCALINGS and isinstance(x, _Sparse):
        return _scaled(name, x, y)
    if name == "multiply" and not isinstance(x, _Sparse):
        return _scaled(name, y, x)
    return NotImplemented


def _product(x: Any, y: Any) -> Any:
    """Return the product of two matrices, which is dense unless both are sparse."""
    if isinstance(x, _Sparse):
        return matrix.matmul(x, y)
    return matrix.matmul(_turned(y), x.t()).t() if isinstance(x, Tensor) and x.ndim == 2 else NotImplemented


def _scaled(name: str, x: Any, y: Any) -> Any:
    """Return a sparse tensor times or divided by a number, or by a dense tensor's elements at its places."""
    if isinstance(y, _Sparse):
        return _SCALINGS[name](x, y)
    if isinstance(y, Tensor) and y.ndim and not _alike(x, y):
        return NotImplemented
    dense = isinstance(y, Tensor) and y.ndim
    return x._with(getattr(math, name)(x.values(), gathered(y, x._indices) if dense else y))


def _alike(x: Any, y: Any) -> bool:
    return hasattr(x, "shape") and hasattr(y, "shape") and list(x.shape) == list(y.shape)


def _dense(x: Any) -> Any:
    return x.to_dense() if isinstance(x, _Sparse) else x


def _turned(x: Any) -> Any:
    """Return the transposed matrix."""
    return shape.transpose(x, list(range(x.ndim))[::-1])


def _moved(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the tensor with its values on another device or of another dtype."""
    return x._with(x.values().to(*args, **kwargs))


# Other operators are those of dense tensors, whose ops come back here.
_METHODS = {
    "__neg__": lambda x: x._with(-x.values()), "__pow__": elementwise.pow,
    "t": _turned, "T": property(_turned), "transpose": shape.transpose, "sum": shape.sum, "to": _moved,
}  # fmt: skip

for _name, _method in _METHODS.items():
    setattr(_Sparse, _name, _method)
of_others.append(_of_sparse)
