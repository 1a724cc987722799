"""Write elements by index: every function returns a new tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.pending import payload_of
from ..eager.tensor import Tensor
from .convert import to_tensor
from .gather import crop_others
from .index_plans import parse
from .indexing import set_items
from .manipulation import as_tuple
from .promote import from_start
from .types import Array, Shape, TensorLike

__all__ = [
    *("diagonal_scatter", "fill_diagonal_tensor", "index_add", "index_fill", "index_put", "masked_fill"),
    *("masked_scatter", "put_along_axis", "scatter", "scatter_add", "scatter_nd", "scatter_nd_add", "scatter_reduce"),
    *("select_scatter", "slice_scatter"),
]


@op(name="scatter", amp="float32")
def _scatter(x: Any, index: Any, updates: Any, /, overwrite: bool) -> Any:
    index, updates = index.reshape(-1), updates.astype(x.dtype)
    return x.at[index].set(updates) if overwrite else x.at[index].set(0).at[index].add(updates)


@composite(methods=["scatter"], inplace="scatter_", around=call_cached("x", "index?", "updates?", "src"))
def scatter(
    x: Tensor,
    index: Any,
    updates: Any = None,
    overwrite: Any = True,
    *,
    dim: int | None = None,
    src: Tensor | None = None,
    value: Tensor | None = None,
    reduce: str | None = None,
) -> Any:
    """Write rows of `x` at the positions of a 1-D index; `scatter(x, dim, index, src)` writes elements.

    Arguments:
        index: 1-D integer tensor, the rows to write.
        updates: tensor [len(index), ...], the new rows.
        overwrite: True: the last update of a row wins; False: the updates of a row are summed. Default: True.
        dim, src, value, reduce: `axis`, `values` (a tensor or a number) and `reduce` of `put_along_axis()`.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, rows = paddle.zeros([2, 2]), paddle.to_tensor([[5.0, 6.0]])
        >>> paddle.scatter(x, paddle.to_tensor([1]), rows).tolist()
        [[0.0, 0.0], [5.0, 6.0]]
    """
    if isinstance(index, int):  # dim, index and src by position
        dim, index, updates = index, updates, None if overwrite is True else overwrite
    if dim is None:
        return _scatter(x, index, updates, overwrite)
    written = next((v for v in (src, value, updates) if v is not None), None)
    if written is None:
        raise TypeError("scatter() along dim writes src, a tensor, or value, a number; neither is given")
    return put_along_axis(x, index, written, dim, reduce or "assign", broadcast=False)


@op(methods=["scatter_nd_add"])
def scatter_nd_add(x: Array, index: Array, updates: Array, /) -> Any:
    """Add to elements or slices at multi-dimensional indices: `out[tuple(index[i])] += updates[i]`.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> i, v = paddle.to_tensor([[1], [1]]), paddle.to_tensor([1.0, 2.0])
        >>> paddle.scatter_nd_add(paddle.zeros([3]), i, v).tolist()
        [0.0, 3.0, 0.0]
    """
    return x.at[tuple(jnp.moveaxis(index, -1, 0))].add(updates.astype(x.dtype))


@op
def scatter_nd(index: Array, updates: Array, /, shape: Shape) -> Any:
    """Add `updates` to zeros of the given shape at multi-dimensional indices; see `scatter_nd_add()`.

    Returns:
        A tensor of shape `shape` in the dtype of `updates`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.scatter_nd(paddle.to_tensor([[1], [1]]), paddle.to_tensor([1.0, 2.0]), [3]).tolist()
        [0.0, 3.0, 0.0]
    """
    return jnp.zeros(shape, updates.dtype).at[tuple(jnp.moveaxis(index, -1, 0))].add(updates)


@composite(
    methods=["index_add"],
    inplace="index_add_",
    around=call_cached("x", "index?", "axis?", "value"),
)
def index_add(x: Tensor, index: Any, axis: Any, value: Tensor, alpha: Any = 1) -> Any:
    """Add slices along a dimension: `out[index[i]] += alpha * value[i]`; `index` and `axis` in either order.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.index_add(paddle.zeros([2, 2]), paddle.to_tensor([1]), 0, paddle.ones([1, 2])).tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """
    if isinstance(index, int) and isinstance(axis, Tensor):
        index, axis = axis, index
    return _index_add(x, index, value if type(alpha) is int and alpha == 1 else value * alpha, axis)


@op(name="_index_add")
def _index_add(x: Any, index: Any, value: Any, /, axis: int) -> Any:
    out = jnp.moveaxis(x, axis, 0).at[index].add(jnp.moveaxis(value, axis, 0).astype(x.dtype))
    return jnp.moveaxis(out, 0, axis)


@composite(
    methods=["index_fill"],
    inplace="index_fill_",
    around=call_cached("x", "index", "value?"),
)
def index_fill(x: Tensor, index: Tensor, axis: int, value: Tensor) -> Any:
    """Fill the slices at `index` along a dimension with a value.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.index_fill(paddle.zeros([2, 2]), paddle.to_tensor([1]), 0, 5.0).tolist()
        [[0.0, 0.0], [5.0, 5.0]]
    """
    return _index_fill(x, index, value, axis)


@op(name="_index_fill")
def _index_fill(x: Any, index: Any, value: Any, /, axis: int) -> Any:
    out = jnp.moveaxis(x, axis, 0).at[index].set(jnp.asarray(value).astype(x.dtype))
    return jnp.moveaxis(out, 0, axis)


@composite(methods=["index_put"], inplace="index_put_", around=call_cached("x!", "indices*", "value!"))
def index_put(x: Tensor, indices: Sequence[Any], value: Tensor, accumulate: bool = False) -> Any:
    """Write values at the positions of index tensors: `out[indices] = value`, or `+=` if `accumulate`.

    Arguments:
        indices: tuple of integer tensors, or of boolean masks over as many dimensions as each has; they broadcast
            together.
        value: tensor broadcast to the selected elements; for masks in row-major order.

    Returns:
        A tensor with the shape and dtype of `x`.

    Raises:
        IndexError: if an index is out of range, there are too many, or a mask does not fit.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> i, j = paddle.to_tensor([0]), paddle.to_tensor([1])
        >>> paddle.index_put(paddle.zeros([2, 2]), (i, j), paddle.to_tensor(9.0)).tolist()
        [[0.0, 9.0], [0.0, 0.0]]
    """
    indices = [i if isinstance(i, Tensor) else to_tensor(i) for i in indices]
    if "b" in [payload_of(i).dtype.kind for i in indices]:
        if not accumulate:
            return set_items(x, tuple(indices), value)
        indices = parse(x, tuple(indices)).operands
    return _index_put(x, indices, value, accumulate)


@op(name="index_put")
def _index_put(x: Any, indices: list[Any], value: Any, /, accumulate: bool) -> Any:
    if len(indices) > x.ndim:
        raise IndexError(f"there are {len(indices)} indices for a tensor of {x.ndim} dimensions")
    at = x.at[tuple(indices)]
    value = jnp.asarray(value).astype(x.dtype)
    return at.add(value) if accumulate else at.set(value)


@op(methods=["masked_fill"], inplace="masked_fill_")
def masked_fill(x: Array, mask: Array, value: Array, /) -> Any:
    """Fill the elements where `mask` is True with a value.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.masked_fill(paddle.to_tensor([1, 2]), paddle.to_tensor([True, False]), 0).tolist()
        [0, 2]
    """
    return jnp.where(mask, jnp.asarray(value).astype(x.dtype), x)


@op(methods=["masked_scatter"], inplace="masked_scatter_")
def masked_scatter(x: Array, mask: Array, value: Array, /) -> Any:
    """Replace the elements where `mask` is True by consecutive elements of `value`.

    Returns:
        A tensor with the dtype of `x`, and the shape to which `x` and `mask` broadcast.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, mask = paddle.to_tensor([1, 2, 3]), paddle.to_tensor([True, False, True])
        >>> paddle.masked_scatter(x, mask, paddle.to_tensor([7, 8, 9])).tolist()
        [7, 2, 8]
    """
    x, mask = jnp.broadcast_arrays(x, mask)
    order = jnp.cumsum(mask.reshape(-1)) - 1
    return jnp.where(mask, jnp.take(value.reshape(-1), order, mode="clip").reshape(x.shape).astype(x.dtype), x)


def _scatter_product(shape: Any, at: tuple[Any, ...], values: Any) -> Any:
    """Multiply the values that are scattered to the same index; 1 where there is none."""

    @jax.custom_jvp
    def product(values: Any) -> Any:
        return jnp.ones(shape, values.dtype).at[at].multiply(values)

    @product.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (v,), (dv,) = primals, tangents
        out = product(v)
        # The other factors by division, as in Paddle; 0 where the value is 0.
        others = jnp.where(v == 0, 0, out[at] / jnp.where(v == 0, 1, v))
        return out, jnp.zeros(shape, v.dtype).at[at].add(others * dv)

    return product(jnp.broadcast_to(values, jnp.broadcast_shapes(*[i.shape for i in at])))


_REDUCE = {"add": "add", "sum": "add", "mul": "multiply", "multiply": "multiply", "amax": "max", "amin": "min"}


@composite(
    methods=["put_along_axis"],
    inplace="put_along_axis_",
    around=call_cached("arr", "indices", "values?"),
)
def put_along_axis(
    arr: Tensor,
    indices: Tensor,
    values: Tensor,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Any:
    """Write values along a dimension at an index of the same number of dimensions.

    Arguments:
        values: number or tensor, the values to write.
        reduce: how values combine with existing elements: "assign", "add", "mul", "mean", "amax" or "amin". Default:
            "assign".
        include_self: include the existing element in the reduction. Default: True.
        broadcast: broadcast `indices` and `values` against `arr` in the other dimensions. Default: True.

    Returns:
        A tensor with the shape and dtype of `arr`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.put_along_axis(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]]), 9, 1).tolist()
        [[1, 9], [9, 4]]
    """
    if reduce not in ("assign", "mean", *_REDUCE):
        raise ValueError(f"put_along_axis(): reduce is {reduce!r}; expected 'assign', 'mean' or one of {list(_REDUCE)}")
    return _put_along_axis(arr, indices, values, axis, reduce, include_self, broadcast)


@op(name="_put_along_axis")
def _put_along_axis(
    x: Any, indices: Any, values: Any, /, axis: int, reduce: str, include_self: bool, broadcast: bool
) -> Any:
    axis = from_start(axis, x.ndim)
    values = jnp.asarray(values).astype(x.dtype)
    if broadcast:
        target = tuple([n if i == axis else m for i, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True))])
        indices, values = jnp.broadcast_to(indices, target), jnp.broadcast_to(values, target)
    elif values.ndim:
        values = crop_others(values, indices.shape, -1)
    grid = jnp.meshgrid(*[jnp.arange(n) for n in indices.shape], indexing="ij", sparse=True)
    at = tuple([indices if i == axis else g for i, g in enumerate(grid)])
    return _reduced(x, at, values, reduce, include_self)


def _reduced(x: Any, at: tuple[Any, ...], values: Any, reduce: str, include_self: bool) -> Any:
    """Return `x` with values written or reduced into it."""
    if reduce == "assign":
        return x.at[at].set(values)
    if reduce == "mean":
        values = jnp.broadcast_to(values, jnp.broadcast_shapes(*[i.shape for i in at]))
        count = jnp.full(x.shape, int(include_self), x.dtype).at[at].add(1)
        total = (x if include_self else x.at[at].set(0)).at[at].add(values)
        return total / jnp.maximum(count, 1) if jnp.issubdtype(x.dtype, jnp.inexact) else total // jnp.maximum(count, 1)
    if _REDUCE[reduce] == "multiply":
        return (x if include_self else x.at[at].set(1)) * _scatter_product(x.shape, at, values)
    if not include_self:
        x = x.at[at].set(0 if _REDUCE[reduce] == "add" else values)
    return getattr(x.at[at], _REDUCE[reduce])(values)


@composite(
    methods=["scatter_add"],
    inplace="scatter_add_",
    around=call_cached("input", "index", "src"),
)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
    """Add `src` to `input` at indices along a dimension: `out[index[i, j], j] += src[i, j]` for `dim` = 0.

    Returns:
        A tensor with the shape and dtype of `input`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.scatter_add(paddle.zeros([3]), 0, paddle.to_tensor([1, 1]), paddle.ones([2])).tolist()
        [0.0, 2.0, 0.0]
    """
    return _put_along_axis(input, index, src, dim, "add", True, False)


@composite(
    methods=["scatter_reduce"],
    around=call_cached("input", "index", "src"),
)
def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool = True) -> Any:
    """Reduce `src` into `input` at indices along a dimension.

    Arguments:
        reduce: "sum", "prod", "mean", "amax" or "amin".

    Returns:
        A tensor with the shape and dtype of `input`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> i, v = paddle.to_tensor([1, 1]), paddle.to_tensor([3.0, 5.0])
        >>> paddle.scatter_reduce(paddle.zeros([3]), 0, i, v, "amax").tolist()
        [0.0, 5.0, 0.0]
    """
    return put_along_axis(input, index, src, dim, "mul" if reduce == "prod" else reduce, include_self, False)


def _rows(x: Any, axis: int) -> tuple[Any, ...]:
    return (slice(None),) * (axis % x.ndim)


@op(methods=["select_scatter"])
def select_scatter(x: Array, values: Array, /, axis: int, index: int) -> Any:
    """Replace one slice along a dimension by `values`.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.select_scatter(paddle.zeros([2, 2]), paddle.ones([2]), 1, 0).tolist()
        [[1.0, 0.0], [1.0, 0.0]]

    Raises:
        IndexError: there is no slice `index`.
    """
    size = x.shape[axis]
    if not -size <= index < size:
        raise IndexError(f"index is {index}; expected {-size} to {size - 1}, since axis {axis} has the size {size}")
    return x.at[(*_rows(x, axis), index)].set(values.astype(x.dtype))


@op(methods=["slice_scatter"])
def slice_scatter(
    x: Array,
    value: Array,
    /,
    axes: Sequence[int] | int,
    starts: Sequence[int] | int,
    ends: Sequence[int] | int,
    strides: Sequence[int] | int,
) -> Any:
    """Replace a slice of `x`, given by start, end and step along some dimensions, by `value`.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.slice_scatter(paddle.zeros([2, 3]), paddle.ones([2, 2]), [1], [0], [3], [2]).tolist()
        [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    """
    index = [slice(None)] * x.ndim
    axes, starts, ends, strides = map(as_tuple, (axes, starts, ends, strides))
    for a, start, end, step in zip(axes, starts, ends, strides, strict=True):
        index[a] = slice(start, end, step)
    return x.at[tuple(index)].set(value.astype(x.dtype))


@op(methods=["diagonal_scatter"])
def diagonal_scatter(x: Array, y: Array, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Replace a diagonal of `x` by `y`, whose last dimension runs along the diagonal.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.diagonal_scatter(paddle.zeros([2, 2]), paddle.ones([2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]

    Raises:
        ValueError: if there is no such diagonal, or `y` is not as long.
    """
    front = jnp.moveaxis(x, (axis1, axis2), (0, 1))
    i = jnp.arange(max(0, min(front.shape[0] + min(offset, 0), front.shape[1] - max(offset, 0))))
    if y.shape[-1:] != i.shape or not (len(i) or 0 in front.shape[:2]):
        raise ValueError(f"y has the shape {[*y.shape]}; the diagonal {offset} has {len(i)} elements")
    out = front.at[i - min(offset, 0), i + max(offset, 0)].set(jnp.moveaxis(y, -1, 0).astype(x.dtype))
    return jnp.moveaxis(out, (0, 1), (axis1, axis2))


@composite(
    methods=["fill_diagonal_tensor"],
    inplace="fill_diagonal_tensor_",
    around=call_cached("x", "y"),
)
def fill_diagonal_tensor(x: Tensor, y: TensorLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Replace a diagonal of `x` by `y`: the same as `diagonal_scatter()`.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.zeros([2, 2]).fill_diagonal_tensor(paddle.ones([2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return diagonal_scatter(x, y, offset, dim1, dim2)
