"""Slicing, flipping, rolling, rotation, strided views and sliding windows."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from ..registry.view import ViewRule, ViewStep
from .indexing import set_items
from .types import Array, Axis
from .view_rules import attributes, strided

__all__ = [
    *("as_strided", "crop", "flip", "narrow", "reverse", "roll", "rot90", "slice", "strided_slice", "unfold"),
]


def _strided_in(array: np.ndarray, step: ViewStep) -> np.ndarray:
    shape, stride, offset = step.bound.attrs
    flat = array.reshape(-1)[offset // array.dtype.itemsize :]
    return np.lib.stride_tricks.as_strided(flat, shape, [s * array.dtype.itemsize for s in stride], writeable=False)


def _windows_in(array: np.ndarray, step: ViewStep) -> np.ndarray:
    given = attributes(step)
    axis = given["axis"] % array.ndim
    seen = np.lib.stride_tricks.sliding_window_view(array, given["size"], axis)
    return seen[(*[builtins.slice(None)] * axis, builtins.slice(None, None, given["step"]))]


_STRIDED, _UNFOLDED = strided(_strided_in, True), strided(_windows_in, True)
_SLICED = ViewRule(
    lambda x, new, step: set_items(x, _index(x, *step.bound.attrs), new),
    lambda array, step: array[_index(array, *step.bound.attrs)],
    anywhere=True,
)


@op(methods=["flip"])
def flip(x: Array, /, axis: Axis) -> Any:
    """Reverse the order of elements along the given dimensions.

    Returns:
        A tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.flip(paddle.to_tensor([1, 2, 3]), 0).tolist()
        [3, 2, 1]
    """
    return jnp.flip(x, axis)


@op(methods=["roll"])
def roll(x: Array, /, shifts: Any, axis: Axis = None) -> Any:
    """Roll elements along the given dimensions; elements that leave at one end re-enter at the other.

    Returns:
        A tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.roll(paddle.to_tensor([1, 2, 3]), 1).tolist()
        [3, 1, 2]
    """
    return jnp.roll(x, shifts, axis)


@op(methods=["rot90"])
def rot90(x: Array, /, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    """Rotate by 90 degrees `k` times in the plane of two dimensions.

    Returns:
        A tensor whose two dimensions are swapped for odd `k`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.rot90(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    return jnp.rot90(x, k, tuple(axes))  # type: ignore[arg-type]


@op(methods=["slice"], views=_SLICED)
def slice(input: Array, /, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int]) -> Any:
    """Slice a tensor: `starts[i]:ends[i]` along dimension `axes[i]`.

    Returns:
        The sliced tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.slice(paddle.to_tensor([[1, 2, 3], [4, 5, 6]]), [1], [1], [3]).tolist()
        [[2, 3], [5, 6]]
    """
    return _slice(input, axes, starts, ends, None)


@op(methods=["strided_slice"], views=_SLICED)
def strided_slice(
    x: Array, /, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], strides: Sequence[int]
) -> Any:
    """Slice a tensor with strides: `starts[i]:ends[i]:strides[i]` along dimension `axes[i]`.

    Returns:
        The sliced tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.strided_slice(paddle.to_tensor([1, 2, 3, 4]), [0], [3], [0], [-2]).tolist()
        [4, 2]
    """
    return _slice(x, axes, starts, ends, strides)


def _slice(x: Any, axes: Any, starts: Any, ends: Any, strides: Any) -> Any:
    return x[_index(x, axes, starts, ends, strides)]


def _each(sizes: Any) -> Any:
    """Sizes as a sequence: a tensor of one element has become a number."""
    return sizes if isinstance(sizes, tuple | list) else (sizes,)


def _index(x: Any, axes: Any, starts: Any, ends: Any, strides: Any = None) -> tuple[Any, ...]:
    strides = [1] * len(axes) if strides is None else strides
    starts, ends, strides = map(_each, (starts, ends, strides))
    index = [builtins.slice(None)] * x.ndim
    for a, start, end, step in zip(axes, starts, ends, strides, strict=True):
        index[a] = builtins.slice(start, None if step < 0 and end < -x.shape[a] else end, step)
    return tuple(index)


@composite(methods=["narrow"], around=call_cached("input", views=True))
def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Any:
    """Select `length` consecutive slices along a dimension, beginning at `start`.

    Returns:
        A tensor with size `length` along `dim`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.narrow(paddle.to_tensor([1, 2, 3]), 0, 1, 2).tolist()
        [2, 3]

    Raises:
        ValueError: if the tensor ends before.
    """
    if not -input.ndim <= dim < input.ndim:
        raise ValueError(f"narrow: dim is {dim!r}, but input has {input.ndim} dimensions")
    if isinstance(start, Tensor):
        before_end: Any = start < 0
        start = start + before_end.astype(start.dtype) * input.shape[dim]
    elif start < 0:
        start = start + input.shape[dim]
    size = input.shape[dim]
    if all(type(n) is int for n in (start, length, size)) and not (0 <= start <= start + length <= size):
        raise ValueError(f"narrow: start is {start} and length {length}; dimension {dim} has the size {size}")
    return slice(input, [dim], [start], [start + length])


@op(methods=["crop"])
def crop(x: Array, /, shape: Sequence[int] | None = None, offsets: Any = None) -> Any:
    """Crop a block from a tensor.

    Arguments:
        shape: list of ints, shape of the block; -1 extends to the end. None: the shape of `x`.
        offsets: list of ints, start of the block. Default: 0 in each dimension.

    Returns:
        The block, with the shape `shape`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.crop(paddle.to_tensor([[1, 2, 3], [4, 5, 6]]), [1, 2], [1, 0]).tolist()
        [[4, 5]]
    """
    start = (0,) * x.ndim if offsets is None else _each(offsets)
    sizes = x.shape if shape is None else _each(shape)
    stop = [n if size == -1 else at + size for n, at, size in zip(x.shape, start, sizes, strict=True)]
    if any(not 0 <= a <= b <= n for a, b, n in zip(start, stop, x.shape, strict=True)):
        raise ValueError(f"shape {list(sizes)} at offsets {list(start)} does not lie in x, {list(x.shape)}")
    return x[tuple([builtins.slice(a, b) for a, b in zip(start, stop, strict=True)])]


@op(name="as_strided", views=_STRIDED)
def _as_strided(x: Array, /, shape: Sequence[int], stride: Sequence[int], offset: int = 0) -> Any:
    first, within = divmod(offset, x.dtype.itemsize)
    if within:
        raise ValueError(f"offset is {offset}; expected a multiple of {x.dtype.itemsize}, the bytes of an element")
    at = np.full((), first)
    for n, step in zip(shape, stride, strict=True):
        at = at[..., None] + np.arange(n) * step
    if at.size and not 0 <= at.min() <= at.max() < x.size:
        raise ValueError(f"shape, stride and offset reach elements {at.min()} to {at.max()}, but x has {x.size}")
    return x.reshape(-1)[at]


@composite(methods=["as_strided"])
def as_strided(x: Tensor, shape: Sequence[int], stride: Sequence[int], offset: int = 0) -> Any:
    """View the storage of a tensor with another shape and strides.

    Arguments:
        stride: list of ints, the number of elements between neighbors in each dimension.
        offset: int, start of the view in bytes. Default: 0.

    Returns:
        A view of shape `shape` with `out[i, j, ...] = storage[offset + i * stride[0] + j * stride[1] + ...]`.

    Raises:
        ValueError: if the offset is within an element, or an element lies outside of the storage.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.as_strided(paddle.to_tensor([1, 2, 3, 4]), [2, 2], [1, 2]).tolist()
        [[1, 3], [2, 4]]
    """
    return _as_strided(x if x._view is None else x._view[0], shape, stride, offset)


@op(methods=["unfold"], views=_UNFOLDED)
def unfold(x: Array, /, axis: int, size: int, step: int) -> Any:
    """Extract sliding windows along a dimension.

    Returns:
        A tensor with one more dimension: `axis` counts the windows, and the last dimension has size `size`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.unfold(paddle.to_tensor([1, 2, 3, 4]), 0, 2, 1).tolist()
        [[1, 2], [2, 3], [3, 4]]
    """
    if not 0 < size <= x.shape[axis] or step < 1:
        n = x.shape[axis]
        raise ValueError(f"size is {size} and step {step}; expected 1 to {n}, the size of the axis, and 1 or more")
    starts = np.arange(0, x.shape[axis] - size + 1, step)
    windows = jnp.take(x, starts[:, None] + np.arange(size), axis=axis)
    return jnp.moveaxis(windows, axis % x.ndim + 1, -1)


reverse = flip
