"""Split tensors along a dimension."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp

from ..core.jax_compat.sizes import is_known
from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from .indexing import SLICES
from .promote import from_start
from .types import Ints

__all__ = ["chunk", "dsplit", "hsplit", "split", "tensor_split", "unbind", "unstack", "vsplit"]


def _sections(size: Any, parts: Any) -> list[Any]:
    """Resolve the sizes of the parts of a dimension: an equal number, or a list with at most one -1."""
    if isinstance(parts, int):
        if parts < 1:
            raise ValueError(f"the number of parts is {parts}; expected at least 1")
        if is_known(size) and size % parts:
            raise ValueError(f"an axis of size {size} cannot be split into {parts} equal parts")
        return [size // parts] * parts
    known = sum(n for n in parts if n != -1)
    if parts.count(-1) > 1 or any(is_known(n) and n < -1 for n in parts):
        raise ValueError(f"sections are {list(parts)}; expected sizes of at least 0, of which one may be -1, the rest")
    if is_known(size) and -1 in parts and is_known(known) and known > size:
        raise ValueError(f"sections {list(parts)} leave nothing for -1; the axis has size {size}")
    sizes = [size - known if n == -1 else n for n in parts]
    total = sum(sizes)
    if is_known(size) and is_known(total) and total != size:
        raise ValueError(f"sections {list(parts)} add up to {total}; the axis has size {size}")
    return sizes


@op(name="_split")
def _split(x: Any, /, parts: Any, axis: int) -> Any:
    axis = from_start(axis, x.ndim)
    out, start = [], 0
    for n in _sections(x.shape[axis], parts):
        out.append(_cut(x, start, n, axis))
        start = start + n
    return tuple(out)


def _cut(x: Any, start: Any, n: Any, axis: int) -> Any:
    try:
        return jax.lax.slice_in_dim(x, start, start + n, axis=axis)
    except jax.errors.InconclusiveDimensionOperation:  # of open sizes whose sum JAX cannot tell to be that of the axis
        return jnp.take(x, start + jnp.arange(n), axis=axis, mode="clip")


@composite(methods=["split"], around=call_cached("x"))
def split(x: Tensor, num_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split a tensor along a dimension.

    Arguments:
        num_or_sections: int, the number of equal parts; or list of ints, their sizes, one of which may be -1.

    Returns:
        A list of tensors.

    Raises:
        ValueError: if the dimension cannot be split into these sizes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.tolist() for part in paddle.split(paddle.to_tensor([1, 2, 3]), [1, -1])]
        [[1], [2, 3]]
    """
    return list(_split(x, num_or_sections, axis))


@composite(methods=["chunk"], around=call_cached("x"))
def chunk(x: Tensor, chunks: int, axis: int = 0) -> list[Any]:
    """Split a tensor into equal chunks along a dimension.

    Returns:
        A list of `chunks` tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.tolist() for part in paddle.chunk(paddle.to_tensor([1, 2, 3, 4]), 2)]
        [[1, 2], [3, 4]]
    """
    return list(_split(x, chunks, axis))


@op(name="_tensor_split")
def _tensor_split(x: Any, /, at: Any, axis: int) -> Any:
    if isinstance(at, int):
        return tuple(jnp.array_split(x, at, axis))
    before = (slice(None),) * from_start(axis, x.ndim)
    return tuple([x[(*before, slice(*pair))] for pair in itertools.pairwise([0, *at, x.shape[axis]])])


@composite(methods=["tensor_split"], around=call_cached("x"))
def tensor_split(x: Tensor, num_or_indices: Ints, axis: int = 0) -> list[Any]:
    """Split a tensor into parts of nearly equal size, or at given indices.

    Returns:
        A list of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.tolist() for part in paddle.tensor_split(paddle.to_tensor([1, 2, 3]), 2)]
        [[1, 2], [3]]
    """
    return list(_tensor_split(x, num_or_indices, axis))


@composite(methods=["hsplit"], around=call_cached("x"))
def hsplit(x: Tensor, num_or_indices: Ints) -> list[Any]:
    """Split a tensor along dimension 1 (dimension 0 of a 1-D tensor), as `tensor_split()` does.

    Returns:
        A list of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.shape for part in paddle.hsplit(paddle.zeros([2, 4]), 2)]
        [paddle.Size([2, 2]), paddle.Size([2, 2])]
    """
    return tensor_split(x, num_or_indices, 1 if x.ndim > 1 else 0)


@composite(methods=["vsplit"], around=call_cached("x"))
def vsplit(x: Tensor, num_or_indices: Ints) -> list[Any]:
    """Split a tensor along dimension 0, as `tensor_split()` does.

    Returns:
        A list of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.shape for part in paddle.vsplit(paddle.zeros([2, 4]), 2)]
        [paddle.Size([1, 4]), paddle.Size([1, 4])]
    """
    return tensor_split(x, num_or_indices, 0)


@composite(methods=["dsplit"], around=call_cached("x"))
def dsplit(x: Tensor, num_or_indices: Ints) -> list[Any]:
    """Split a tensor along dimension 2, as `tensor_split()` does.

    Returns:
        A list of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.shape for part in paddle.dsplit(paddle.zeros([1, 1, 4]), 2)]
        [paddle.Size([1, 1, 2]), paddle.Size([1, 1, 2])]
    """
    return tensor_split(x, num_or_indices, 2)


def _slices(x: Any, axis: int) -> Any:
    if not isinstance(x.shape[axis], int):
        raise ValueError(f"the size of axis {axis} is not known, so its slices cannot be listed; loop over the tensor")
    return tuple([jax.lax.index_in_dim(x, i, axis, keepdims=False) for i in range(x.shape[axis])])


@op(name="_unstack")
def _unstack(x: Any, /, axis: int) -> Any:
    return _slices(x, axis)


@op(name="_unbind", views=SLICES)
def _unbind(x: Any, /, axis: int) -> Any:
    return _slices(x, axis)


@composite(methods=["unbind"], around=call_cached("input", views=True))
def unbind(input: Tensor, axis: int = 0) -> list[Any]:
    """Split a tensor into its slices along a dimension, which is removed.

    Returns:
        A list of views of `input`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.tolist() for part in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    return list(_unbind(input, axis))


@composite(methods=["unstack"], around=call_cached("x"))
def unstack(x: Tensor, axis: int = 0, num: int | None = None) -> list[Any]:
    """Split a tensor into its slices along a dimension, which is removed.

    Arguments:
        num: int, expected size of the dimension, checked if given.

    Returns:
        A list of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.tolist() for part in paddle.unstack(paddle.to_tensor([[1, 2], [3, 4]]), axis=1)]
        [[1, 3], [2, 4]]
    """
    if num is not None and num != x.shape[axis]:
        raise ValueError(f"unstack(): num is {num}, but axis {axis} of x has size {x.shape[axis]}")
    return list(_unstack(x, axis))
