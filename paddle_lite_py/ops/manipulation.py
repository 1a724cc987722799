"""Reshape, transpose and cast tensors."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.jax_compat.sizes import is_known
from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.pending import payload_of
from ..eager.tensor import Tensor
from .promote import from_start, natural, numpy_dtype, scalar_as_vector, to_integers
from .types import Array, Axis, DTypeLike
from .view_rules import BITS, PERMUTED, RESHAPED

__all__ = [
    *("broadcast_shape", "broadcast_shapes", "broadcast_to", "cast", "expand", "expand_as", "flatten"),
    *("moveaxis", "permute", "ravel", "repeat", "reshape", "squeeze", "swapaxes", "swapdims", "t", "tile"),
    *("transpose", "unflatten", "unsqueeze", "view", "view_as"),
]


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Normalize an int or a sequence of ints to a tuple."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


@op(methods=["reshape"], inplace="reshape_", variadic="shape", reshapes=True, views=RESHAPED)
def reshape(x: Array, /, shape: Sequence[int]) -> Any:
    """Change the shape of a tensor without changing its elements or their order.

    Arguments:
        x: tensor of any shape.
        shape: list of ints, the new shape. One entry may be -1, which is inferred from the others; 0 copies the size of
            `x` at that position.

    Returns:
        A tensor with the shape `shape` and the elements of `x`.

    Raises:
        ValueError: if the number of elements differs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.reshape(paddle.zeros([2, 3, 4]), [0, -1]).shape
        paddle.Size([2, 12])
    """
    shape = as_tuple(shape)
    if x.size != 0:
        if 0 in shape[x.ndim :]:
            raise ValueError(f"shape is {list(shape)}; a 0 copies a size of x, which has {x.ndim} dimensions")
        shape = tuple([x.shape[i] if isinstance(n, int) and n == 0 else n for i, n in enumerate(shape)])
    elif 0 in shape:  # the unknown size is inferred from those other than 0
        rest, odd = divmod(math.prod(filter(None, x.shape)), math.prod([n for n in shape if n > 0]))
        if odd and -1 in shape:
            raise ValueError(f"shape is {list(shape)}, whose sizes do not divide those of x, {list(x.shape)}")
        shape = tuple([rest if n == -1 else n for n in shape])
    try:
        made = jnp.reshape(x, shape)
    except TypeError as e:  # raised by JAX if the sizes do not match
        raise ValueError(f"the {x.size} elements of x do not fit into shape {list(shape)}") from e
    if is_known(made.size) and is_known(x.size) and made.size != x.size:  # which JAX does not ask of symbols
        raise ValueError(f"the {x.size} elements of x do not fit into shape {list(shape)}")
    return made


@op(
    methods=["flatten"],
    inplace="flatten_",
    reshapes=True,
    views=RESHAPED,
)
def flatten(x: Array, /, start_axis: int = 0, stop_axis: int = -1) -> Any:
    """Flatten the dimensions from `start_axis` to `stop_axis` into one.

    Returns:
        A tensor with the elements of `x` and `stop_axis - start_axis` fewer dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.flatten(paddle.zeros([2, 3, 4]), 1).shape
        paddle.Size([2, 12])
    """
    if not x.ndim:
        from_start(start_axis, 1, "start_axis"), from_start(stop_axis, 1, "stop_axis")
        return x.reshape(1)
    start, stop = from_start(start_axis, x.ndim, "start_axis"), from_start(stop_axis, x.ndim, "stop_axis")
    if stop < start:
        raise ValueError(f"stop_axis is {stop_axis}, which is before start_axis, {start_axis}")
    return x.reshape(*x.shape[:start], math.prod(x.shape[start : stop + 1]), *x.shape[stop + 1 :])


@composite(
    methods=["ravel"],
    around=call_cached("input", views=True),
)
def ravel(input: Tensor) -> Any:
    """Flatten a tensor to one dimension.

    Returns:
        A 1-D tensor with all elements.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.ravel(paddle.zeros([2, 3])).shape
        paddle.Size([6])
    """
    return flatten(input)


@op(methods=["unflatten"], views=RESHAPED)
def unflatten(x: Array, /, axis: int, shape: Sequence[int]) -> Any:
    """Split one dimension into several.

    Returns:
        A tensor whose dimension `axis` is replaced by the dimensions `shape`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.unflatten(paddle.zeros([2, 6]), 1, [3, -1]).shape
        paddle.Size([2, 3, 2])
    """
    axis = from_start(axis, x.ndim)
    known = math.prod([n for n in shape if n != -1])
    return x.reshape(*x.shape[:axis], *[x.shape[axis] // known if n == -1 else n for n in shape], *x.shape[axis + 1 :])


def _exchanged(x: Any, *axes: int) -> tuple[int, ...]:
    """Return the order of the axes of x with two of them exchanged; more than two are that order."""
    if len(axes) != 2:
        return axes
    order = [*range(x.ndim)]
    first, second = (from_start(a, x.ndim) for a in axes)
    order[first], order[second] = second, first
    return tuple(order)


def _by_dims(x: Any, perm: Any = None, name: Any = None, *, dim0: int | None = None, dim1: int | None = None) -> Any:
    if isinstance(perm, int):
        perm, dim0 = None, perm
    return transpose(x, perm=_exchanged(x, dim0, dim1) if perm is None else perm)  # type: ignore[arg-type]


@op(
    methods=["transpose"],
    inplace="transpose_",
    variadic="perm",
    spread=_exchanged,
    wider=_by_dims,
    reshapes=True,
    views=PERMUTED,
)
def transpose(x: Array, /, perm: Sequence[int]) -> Any:
    """Permute the dimensions: dimension i of the result is dimension `perm[i]` of `x`.

    Arguments:
        perm: list of ints with each dimension once. Two ints as separate arguments swap those dimensions:
            `x.transpose(0, 1)`.

    Returns:
        A tensor with the dimensions of `x` in the new order.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.transpose(paddle.zeros([2, 3, 4]), [2, 0, 1]).shape
        paddle.Size([4, 2, 3])
    """
    if len(perm) == 2 and x.ndim > 2:
        return jnp.swapaxes(x, *perm)
    if len(perm) != x.ndim:
        raise ValueError(f"perm is {list(perm)}; expected {x.ndim} axes")
    return jnp.transpose(x, perm)


@op(methods=["permute"], variadic="dims", views=PERMUTED)
def permute(input: Array, /, dims: Sequence[int]) -> Any:
    """Permute the dimensions: dimension i of the result is dimension `dims[i]` of `input`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.zeros([2, 3, 4]).permute(2, 0, 1).shape
        paddle.Size([4, 2, 3])
    """
    return jnp.transpose(input, as_tuple(dims))


@op(methods=["t"], inplace="t_", reshapes=True, views=PERMUTED)
def t(input: Array, /) -> Any:
    """Transpose a matrix; tensors of fewer than two dimensions are returned as they are.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.t(paddle.zeros([2, 3])).shape
        paddle.Size([3, 2])
    """
    if input.ndim > 2:
        raise ValueError(f"t() needs at most 2 dimensions, got {input.ndim}; use transpose()")
    return input.T


@op(methods=["moveaxis"], views=PERMUTED)
def moveaxis(x: Array, /, source: Any, destination: Any) -> Any:
    """Move dimensions to other positions; the others keep their order.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.moveaxis(paddle.zeros([2, 3, 4]), 0, 2).shape
        paddle.Size([3, 4, 2])
    """
    return jnp.moveaxis(x, source, destination)


def _by_perm(x: Any, axis0: Any = None, axis1: int | None = None, *, perm: Any = None) -> Any:
    wanted = axis0 if perm is None else perm
    if isinstance(wanted, list | tuple):
        return transpose(x, wanted)
    return swapaxes(x, axis0=axis0, axis1=axis1)


@op(
    methods=["swapaxes", "swapdims"],
    wider=_by_perm,
    views=PERMUTED,
)
def swapaxes(x: Array, /, axis0: int, axis1: int) -> Any:
    """Swap two dimensions; a list of all dimensions (`perm`) instead of two ints permutes them.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.swapaxes(paddle.zeros([2, 3, 4]), 0, 2).shape
        paddle.Size([4, 3, 2])
    """
    return jnp.swapaxes(x, axis0, axis1)


@op(methods=["squeeze"], inplace="squeeze_", reshapes=True, views=RESHAPED)
@scalar_as_vector
def squeeze(x: Array, /, axis: Axis = None) -> Any:
    """Remove dimensions of size 1.

    Returns:
        A tensor without the dimensions of size 1 listed in `axis`, or without any if `axis` is None. Listed dimensions
        of another size stay.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.squeeze(paddle.zeros([1, 3, 1]), axis=[0, 1]).shape
        paddle.Size([3, 1])
    """
    chosen = builtins.range(x.ndim) if axis is None or axis == () else as_tuple(axis)
    for a in chosen:
        if not -x.ndim <= a < x.ndim:
            raise ValueError(f"axis is {a}; expected {-x.ndim} to {x.ndim - 1}")
    gone = {a % x.ndim for a in chosen}
    return jnp.squeeze(x, tuple([a for a in sorted(gone) if isinstance(x.shape[a], int) and x.shape[a] == 1]))


@op(methods=["unsqueeze"], inplace="unsqueeze_", reshapes=True, views=RESHAPED)
def unsqueeze(x: Array, /, axis: Axis) -> Any:
    """Insert dimensions of size 1.

    Returns:
        A tensor with a dimension of size 1 at each position of `axis`, which are inserted one after the other.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.unsqueeze(paddle.zeros([2, 3]), [0, 2]).shape
        paddle.Size([1, 2, 1, 3])
    """
    for a in as_tuple(axis):
        x = jnp.expand_dims(x, a)
    return x


def _expand(x: Any, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the target shape with -1 replaced by x's own sizes."""
    lead = len(shape) - x.ndim
    return tuple([x.shape[i - lead] if isinstance(n, int) and n == -1 else n for i, n in enumerate(shape)])


@op(methods=["expand"], variadic="shape")
def expand(x: Array, /, shape: Sequence[int]) -> Any:
    """Broadcast a tensor to a larger shape.

    Returns:
        A tensor of the shape `shape`, where -1 keeps the size of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.expand(paddle.to_tensor([[1], [2]]), [-1, 3]).tolist()
        [[1, 1, 1], [2, 2, 2]]
    """
    return jnp.broadcast_to(x, _expand(x, as_tuple(shape)))


@op(methods=["broadcast_to"], variadic="shape")
def broadcast_to(x: Array, /, shape: Sequence[int]) -> Any:
    """Broadcast a tensor to a larger shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.broadcast_to(paddle.to_tensor([1, 2]), [2, 2]).tolist()
        [[1, 2], [1, 2]]
    """
    return jnp.broadcast_to(x, _expand(x, as_tuple(shape)))


@op(methods=["expand_as"])
def expand_as(x: Array, y: Array, /) -> Any:
    """Broadcast `x` to the shape of `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.expand_as(paddle.to_tensor([1]), paddle.zeros([3])).tolist()
        [1, 1, 1]
    """
    return jnp.broadcast_to(x, y.shape)


def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    """Compute the shape that two shapes broadcast to.

    Returns:
        A list of ints.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.broadcast_shape([2, 1], [3])
        [2, 3]
    """
    return broadcast_shapes(*[[builtins.abs(n) for n in s] for s in (x_shape, y_shape)])


def broadcast_shapes(*shapes: Sequence[int]) -> list[int]:
    """Compute the shape that several shapes broadcast to.

    Returns:
        A list of ints.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.broadcast_shapes([2, 1], [3], [1, 1])
        [2, 3]
    """
    try:
        return list(np.broadcast_shapes(*map(tuple, shapes)))
    except ValueError:
        raise ValueError(f"the shapes {' and '.join([str([*s]) for s in shapes])} do not broadcast") from None


@op(methods=["tile"])
def tile(x: Array, /, repeat_times: Sequence[int]) -> Any:
    """Repeat a tensor along its dimensions.

    Returns:
        A tensor whose size along each dimension is that of `x` times its repeat count; the counts apply to the last
        dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.tile(paddle.to_tensor([1, 2]), [2, 2]).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    return jnp.tile(x, as_tuple(repeat_times))


@op(methods=["repeat"], variadic="repeats")
def repeat(x: Array, /, repeats: Sequence[int]) -> Any:
    """Repeat a tensor along its dimensions, as `tile()` does.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.to_tensor([1, 2]).repeat(2, 1).tolist()
        [[1, 2], [1, 2]]
    """
    return jnp.tile(x, as_tuple(repeats))


@op(methods=["cast", "astype"], amp="keep", inplace="cast_", reshapes=True)
def cast(x: Array, /, dtype: DTypeLike) -> Any:
    """Convert a tensor to another dtype.

    Returns:
        A tensor with the shape of `x` and the dtype `dtype`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cast(paddle.to_tensor([1.7, 0.0]), "int32").tolist()
        [1, 0]
    """
    kind = numpy_dtype(dtype)
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not jnp.issubdtype(kind, jnp.complexfloating):
        x = x != 0 if kind == jnp.bool_ else x.real
    x = natural(x)
    if jnp.issubdtype(x.dtype, jnp.floating) and jnp.issubdtype(kind, jnp.integer):
        return to_integers(x, kind)
    if kind.name.startswith("float8"):  # what is too large is the largest number, as in PaddlePaddle; NaN stays
        most = float(jnp.finfo(kind).max)
        x = jnp.clip(x, -most, most)
    return x.astype(kind)


@op(name="_bitcast", grad=False, views=BITS)
def _bitcast(x: Any, /, dtype: Any) -> Any:
    kind = jnp.dtype(numpy_dtype(dtype))
    if kind == x.dtype:
        return x
    if x.dtype.kind == "b":
        x = x.astype(jnp.uint8)
    if x.dtype.kind == "c":
        x = jnp.stack([x.real, x.imag], -1).reshape(*x.shape[:-1], -1)
    if kind.kind == "b":
        return _of_bits(x, jnp.dtype(jnp.uint8)) != 0
    if kind.kind == "c":
        parts = _of_bits(x, jnp.finfo(kind).dtype)
        pairs = parts.reshape(*parts.shape[:-1], -1, 2)
        return jax.lax.complex(pairs[..., 0], pairs[..., 1])
    return _of_bits(x, kind)


def _of_bits(x: Any, kind: Any) -> Any:
    """Return the bits of real numbers as another kind of them."""
    if kind.itemsize > x.dtype.itemsize:
        x = x.reshape(*x.shape[:-1], -1, kind.itemsize // x.dtype.itemsize)
    out = jax.lax.bitcast_convert_type(x, kind)
    return out.reshape(*x.shape[:-1], -1) if out.ndim > x.ndim else out


@composite(
    methods=["view"],
    variadic="shape_or_dtype",
    around=call_cached("x", views=True),
)
def view(x: Tensor, shape_or_dtype: Any) -> Any:
    """View a tensor in another shape, or reinterpret its bits as another dtype.

    Returns:
        A tensor that shares its elements with `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.view(paddle.zeros([2, 3]), [3, 2]).shape, paddle.view(paddle.zeros([2]), "int32").dtype
        (paddle.Size([3, 2]), paddle.int32)
    """
    if isinstance(shape_or_dtype, list | tuple | int) or hasattr(shape_or_dtype, "_static_value"):
        return reshape(x, shape_or_dtype)
    return _bitcast(x, shape_or_dtype)


@composite(
    methods=["view_as", "reshape_as"],
    around=call_cached("x", "other", views=True),
)
def view_as(x: Tensor, other: Tensor) -> Any:
    """View a tensor in the shape of another tensor.

    Returns:
        A tensor with the shape of `other` that shares its elements with `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.view_as(paddle.zeros([2, 3]), paddle.zeros([6])).shape
        paddle.Size([6])
    """
    return reshape(x, tuple(payload_of(other).shape))


swapdims = swapaxes
