"""Functions with torch's signatures and results."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ..core.argument_docs import document as _document
from ..core.no_effect import no_effect
from ..dispatch.codegen import into
from ..eager import random
from ..eager.tensor import Tensor
from ..ops import decomposition, gather, logic, math, reduction, search, splitting, statistics
from . import amp, autograd, backends, distributions, func, linalg, nn, optim, pytree, tensorboard, torchvision
from .absent import missing
from .constructors import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from .draws import drawn, fork_rng, initial_seed
from .functions import (
    addcdiv_,
    addcmul_,
    aminmax,
    augmented,
    broadcast_tensors,
    cartesian_prod,
    chunk,
    fmod,
    index_copy_,
    index_fill_,
    new_tensor,
    norm,
    randint,
    select,
    to_type,
    unravel_index,
    xlogy,
)
from .results import allclose, cummax, cummin, imag, kthvalue, mode, qr, real, svd

__all__ = [
    *("addcdiv_", "addcmul_", "allclose", "aminmax", "cartesian_prod", "chunk", "fmod", "index_copy_"),
    *("index_fill_", "new_tensor"),
    *(
        "norm",
        "randint",
        "select",
        "to_type",
        "unravel_index",
        "xlogy",
        "drawn",
        "initial_seed",
        "missing",
        "cummax",
        "cummin",
        "kthvalue",
    ),
    *("imag", "mode", "qr", "real", "svd", "func", "linalg", "pytree", "broadcast_tensors", "fork_rng", "augmented"),
    *("BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor"),
    *("IntTensor", "LongTensor", "ShortTensor"),
    "Final",
    *(
        "amp",
        "autograd",
        "backends",
        "distributions",
        "equal",
        "max",
        "median",
        "min",
        "nanmedian",
        "nn",
        "optim",
        "seed",
        "slogdet",
        "sort",
        "split",
        "tensorboard",
        "torchvision",
        "unique",
    ),
]


class MinMaxRetType(NamedTuple):
    """The greatest or least values, and where they stood.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.max(paddle.to_tensor([[1.0, 3.0]]), 1).indices.tolist()
        [1]
    """

    values: Tensor
    indices: Tensor


class MedianRetType(NamedTuple):
    """The values in the middle, and where they stood.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.median(paddle.to_tensor([[1.0, 3.0]]), 1).values.tolist()
        [1.0]
    """

    values: Tensor
    indices: Tensor


class SortRetType(NamedTuple):
    """Values in order, and where they stood.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.sort(paddle.to_tensor([3.0, 1.0])).values.tolist()
        [1.0, 3.0]
    """

    values: Tensor
    indices: Tensor


class Determinant(NamedTuple):
    """Sign, and logarithm of the size, of determinants.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.slogdet(paddle.eye(2)).logabsdet.item()
        0.0
    """

    sign: Tensor
    logabsdet: Tensor


def _write_out(out: Any, made: Any) -> Any:
    if out is None:
        return made
    return type(made)(*into(out, tuple(made))) if isinstance(made, tuple) else into(out, made)


def _at(input: Any, where: Any, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """Return the element at each index along a dimension; gradients flow to those elements."""
    found: Any = gather.take_along_axis
    values = found(input, where, dim)
    return (values, where) if keepdim else (values.squeeze(dim), where.squeeze(dim))


_EXTREME = """The {most} of all elements; with `dim` of each slice, and where it stands; with `other` of each two.

Arguments:
    input: the first tensor.
    args, kwargs: (dim, keepdim=False), or (other).

Examples:
    >>> import paddle_lite_py as paddle
    >>> x = paddle.to_tensor([[1.0, 3.0], [4.0, 2.0]])
    >>> values, indices = paddle.compat.{name}(x, 1)
    >>> values.tolist(), indices.tolist(), paddle.compat.{name}(x).item()
    ({result})
"""


def _extreme(name: str, most: str, whole: Any, where: Any, two: Any, result: str) -> Any:
    def of_two(input: Tensor, other: Tensor) -> Tensor:
        return two(input, other)

    def of_slices(input: Tensor, dim: int, keepdim: bool = False) -> MinMaxRetType:
        return MinMaxRetType(*_at(input, where(input, dim, keepdim=True), dim, keepdim))

    def extreme(input: Tensor, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if not args and not kwargs:
            return _write_out(out, whole(input))
        pair = isinstance(args[0] if args else kwargs.get("other"), Tensor)
        return _write_out(out, (of_two if pair else of_slices)(input, *args, **kwargs))

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = _EXTREME.format(name=name, most=most, result=result)
    return extreme


max = _extreme("max", "greatest", reduction.max, search.argmax, math.maximum, "[3.0, 4.0], [1, 0], 4.0")
min = _extreme("min", "least", reduction.min, search.argmin, math.minimum, "[1.0, 2.0], [0, 1], 1.0")


def _middle(function: Any, input: Tensor, dim: int | None, keepdim: bool, out: Any) -> Any:
    found = function(input, dim, keepdim, mode="min")
    return _write_out(out, found if dim is None else MedianRetType(*found))


def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Return the lower one of the middle elements; with `dim` of each slice, and where it stands.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.median(paddle.to_tensor([4.0, 1.0, 3.0, 2.0])).item()
        2.0
    """
    return _middle(statistics.median, input, dim, keepdim, out)


def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """median() of the elements that are not NaN.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nanmedian(paddle.to_tensor([float("nan"), 1.0, 3.0])).item()
        1.0
    """
    return _middle(statistics.nanmedian, input, dim, keepdim, out)


def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False, out: Any = None) -> Any:
    """Return the elements in order along a dimension, and where they stood.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.sort(paddle.to_tensor([3.0, 1.0])).indices.tolist()
        [1, 0]
    """
    order: Any = search.argsort
    return _write_out(out, SortRetType(*_at(input, order(input, dim, descending, stable), dim, True)))


def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of a size (the last one may be smaller), or of the sizes in a list.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.tolist() for part in paddle.compat.split(paddle.to_tensor([1, 2, 3]), 2)]
        [[1, 2], [3]]
    """
    sizes = split_size_or_sections
    if isinstance(sizes, int):
        whole, rest = divmod(tensor.shape[dim], sizes)
        sizes = [*[sizes] * whole, *[rest] * (rest > 0)]
    cut: Any = splitting.split
    return tuple(cut(tensor, list(sizes), dim))


@no_effect(sorted=search.SORTED)
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Each element once, in order; with return_inverse where each one went, with return_counts how many there were.

    Arguments:
        dim: slices along it instead of elements.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [t.tolist() for t in paddle.compat.unique(paddle.to_tensor([[3, 1], [3, 3]]), return_inverse=True)]
        [[1, 3], [[1, 0], [1, 1]]]
    """
    once: Any = search.unique
    found = once(input, False, return_inverse, return_counts, dim)
    if not return_inverse:
        return found
    inverse = found[1] if dim is not None else found[1].reshape(list(input.shape))
    return (found[0], inverse, *found[2:])


def equal(input: Tensor, other: Tensor) -> bool:
    """True if shapes and elements agree.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.equal(paddle.ones([2]), paddle.ones([1]))
        False
    """
    same: Any = logic.equal_all
    return list(input.shape) == list(other.shape) and bool(same(input, other))


def slogdet(x: Tensor, out: Any = None) -> Any:
    """Sign, and logarithm of the size, of the determinants of matrices.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.item() for part in paddle.compat.slogdet(paddle.eye(2))]
        [1.0, 0.0]
    """
    found: Any = decomposition.slogdet
    return _write_out(out, Determinant(*found(x).unbind(0)))


def seed() -> int:
    """Begin another random stream; returns its seed.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.compat.seed(), int)
        True
    """
    chosen = secrets.randbits(52)
    random.seed(chosen)
    return chosen


_document(globals())
