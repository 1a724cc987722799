"""Search, sort, select by data."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.jax_compat.sizes import is_known
from ..core.no_effect import Immaterial, no_effect
from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from . import ordering
from .dynamic import concrete, fresh, is_eager, known
from .gather import take_along_axis
from .joining import broadcast_tensors, stack
from .manipulation import broadcast_shapes
from .promote import from_start, numpy_dtype, of_scalar, promote
from .types import Array, DTypeLike, Shape, TensorLike

__all__ = [
    *("argmax", "argmin", "argsort", "argwhere", "bucketize", "masked_select", "msort", "nonzero", "searchsorted"),
    *("sort", "topk", "unique", "unique_consecutive", "where"),
]


def _arg(x: Any, axis: int | None, keepdim: bool, dtype: Any, least: bool = False) -> Any:
    axis = None if axis in (0, -1) and not x.ndim else axis
    out = ordering.argmax(x, axis, least).astype(numpy_dtype(dtype))
    if not keepdim:
        return out
    return out.reshape((1,) * x.ndim) if axis is None else jnp.expand_dims(out, axis)


@op(methods=["argmax"], grad=False)
def argmax(x: Array, /, axis: int | None = None, keepdim: bool = False, dtype: DTypeLike = "int64") -> Any:
    """Return the index of the maximum along a dimension.

    Returns:
        Indices of dtype `dtype`, without the dimension `axis` (size 1 if `keepdim`); 0-D if `axis` is None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.argmax(paddle.to_tensor([[1, 5], [4, 3]]), axis=1).tolist()
        [1, 0]
    """
    return _arg(x, axis, keepdim, dtype)


@op(methods=["argmin"], grad=False)
def argmin(x: Array, /, axis: int | None = None, keepdim: bool = False, dtype: DTypeLike = "int64") -> Any:
    """Return the index of the minimum along a dimension.

    Returns:
        Indices of dtype `dtype`, without the dimension `axis` (size 1 if `keepdim`); 0-D if `axis` is None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.argmin(paddle.to_tensor([[1, 5], [4, 3]]), axis=1).tolist()
        [0, 1]
    """
    return _arg(x, axis, keepdim, dtype, least=True)


STABLE = Immaterial("every sort is stable")
SORTED = Immaterial("the values come in order")


@op(methods=["sort"])
@no_effect(stable=STABLE)
def sort(x: Array, /, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Sort the elements along a dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.sort(paddle.to_tensor([2, 3, 1]), descending=True).tolist()
        [3, 2, 1]
    """
    if not x.ndim:
        of_scalar(axis)
        return x
    return ordering.sort(x, axis, descending)


@op(methods=["msort"])
def msort(input: Array, /) -> Any:
    """Sort the elements along the first dimension in ascending order.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.msort(paddle.to_tensor([2, 3, 1])).tolist()
        [1, 2, 3]
    """
    return ordering.sort(input, 0) if input.ndim else input


@op(methods=["argsort"], grad=False)
@no_effect(stable=STABLE)
def argsort(x: Array, /, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Return the indices that sort the elements along a dimension; the order of equal elements is kept.

    Returns:
        An int64 tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.argsort(paddle.to_tensor([2, 3, 1])).tolist()
        [2, 0, 1]
    """
    rows = x if x.ndim else x.reshape(1)
    return ordering.argsort(rows, axis, descending).astype(jnp.int64).reshape(x.shape)


class TopKRetType(NamedTuple):
    """The result of `topk()`: the values and their indices."""

    values: Tensor
    indices: Tensor


@composite(methods=["topk"], around=call_cached("x"))
@no_effect(sorted=SORTED)
def topk(
    x: Tensor, k: int, axis: int | None = None, largest: bool = True, sorted: bool = True, name: str | None = None
) -> TopKRetType:
    """Return the k largest (or smallest) elements along a dimension (default: the last) and their indices.

    Returns:
        (values, indices): tensors with size `k` along `axis`; the indices are int64.

    Raises:
        ValueError: if k exceeds the size of the axis.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [out.tolist() for out in paddle.topk(paddle.to_tensor([1.0, 3.0, 2.0]), 2)]
        [[3.0, 2.0], [1, 2]]
    """
    return TopKRetType(*_topk(x, k, axis, largest))


@op(name="topk")
def _topk(x: Any, /, k: int, axis: int | None = None, largest: bool = True) -> Any:
    axis = -1 if axis is None else axis
    if not x.ndim:
        of_scalar(axis)
    size = x.shape[axis] if x.ndim else 1
    if is_known(size) and not 0 < k <= size:
        raise ValueError(f"k is {k}, but axis {axis} has size {size}; expected 1 to {size}")
    row = jnp.moveaxis(x, axis, -1) if x.ndim else x.reshape(1)
    # For integers ~x reverses the order, not -x: the lowest one has no negative.
    flip = (lambda a: a) if largest else jnp.negative if jnp.issubdtype(x.dtype, jnp.floating) else jnp.invert
    values, index = jax.lax.top_k(flip(row), k)
    outs = flip(values), index.astype(jnp.int64)
    return tuple([jnp.moveaxis(o, -1, axis) if x.ndim else o.reshape(()) for o in outs])


@composite(methods=["searchsorted"], around=call_cached("sorted_sequence", "values?"))
def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
    *,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Any:
    """Find the positions at which `values` would be inserted into a sorted sequence, along the last dimension.

    Arguments:
        out_int32: return int32 instead of int64. Default: False.
        right: insert after equal elements instead of before. Default: False.
        side: "left" or "right", another spelling of `right`.
        sorter: integer tensor, the indices that sort `sorted_sequence`; None: it is sorted.

    Returns:
        An int64 (or int32) tensor with the shape of `values`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.searchsorted(paddle.to_tensor([1, 3, 5]), paddle.to_tensor([3, 4])).tolist()
        [1, 2]
    """
    if sorter is not None:
        sorted_sequence = take_along_axis(sorted_sequence, sorter, -1)
    return _searchsorted(sorted_sequence, values, "int32" if out_int32 else "int64", right or side == "right")


@op(name="_searchsorted", grad=False)
def _searchsorted(sequence: Any, values: Any, /, dtype: str, right: bool) -> Any:
    side = "right" if right else "left"
    sequence, values = promote(sequence, values)

    def find(row: Any, v: Any) -> Any:
        return jnp.searchsorted(row, v, side=side)

    if sequence.ndim > 1:
        if sequence.shape[:-1] != values.shape[:-1]:
            raise ValueError(
                f"values have the shape {list(values.shape)}; expected [{str(list(sequence.shape[:-1]))[1:-1]}, k], "
                "with rows as those of the sorted sequence"
            )
        rows, wanted = (a.reshape(math.prod(a.shape[:-1]), a.shape[-1]) for a in (sequence, values))
        return jax.vmap(find)(rows, wanted).reshape(values.shape).astype(dtype)
    return find(sequence, values).astype(dtype)


@composite(methods=["bucketize"])
def bucketize(x: Tensor, sorted_sequence: Tensor, out_int32: bool = False, right: bool = False) -> Any:
    """Return the index of the bucket that each element falls into, between sorted boundaries.

    Returns:
        An int64 (or int32) tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.bucketize(paddle.to_tensor([3, 4]), paddle.to_tensor([1, 3, 5])).tolist()
        [1, 2]
    """
    if isinstance(sorted_sequence, Tensor) and sorted_sequence.ndim != 1:
        raise ValueError(f"bucketize(): sorted_sequence has {sorted_sequence.ndim} dimensions; expected 1")
    return searchsorted(sorted_sequence, x, out_int32, right)


@op(name="where")
def _where(condition: Any, x: Any, y: Any, /) -> Any:
    return jnp.where(condition.astype(bool), *promote(x, y))


@composite(methods=["where"], around=call_cached("condition", "x?", "y?"))
def where(condition: Tensor, x: Tensor | None = None, y: TensorLike | None = None) -> Any:
    """Select elements of `x` where `condition` is True, of `y` elsewhere; alone: `nonzero(as_tuple=True)`.

    Returns:
        A tensor of the shape that `condition`, `x` and `y` broadcast to.

    Raises:
        ValueError: if only one of x and y is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([1, -2])
        >>> paddle.where(x > 0, x, 0).tolist()
        [1, 0]
    """
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise ValueError("where() needs both x and y, or neither")
    if isinstance(condition, Tensor) and condition.dtype != "bool":
        raise ValueError(f"where(): condition is {condition.dtype.name}; expected bool, as of x > 0")
    return _where(condition, x, y)


@composite(methods=["nonzero"])
def nonzero(x: Tensor, as_tuple: bool = False) -> Any:
    """Return the indices of nonzero elements. The size of the result depends on the data.

    Arguments:
        as_tuple: return a tuple with one 1-D index tensor per dimension instead. Default: False.

    Returns:
        An int64 tensor [n, x.ndim].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nonzero(paddle.to_tensor([[0, 1], [2, 0]])).tolist()
        [[0, 1], [1, 0]]
    """
    if isinstance(x, Tensor) and not x.ndim:
        raise ValueError("nonzero(): x has no dimensions, and so no indices; test it as a number")
    if not is_eager() and isinstance(x, Tensor):
        axes = coordinates(x.astype("bool"), "nonzero()", "where(mask, x, 0) or a sum over mask * x")
        return axes if as_tuple else stack(list(axes), -1)
    found = np.nonzero(concrete(x, "nonzero()", "where(mask, x, 0) or a sum over mask * x"))
    return tuple([fresh(i) for i in found]) if as_tuple else fresh(np.stack(found, -1))


@op(name="_flat_nonzero", grad=False)
def _flat_nonzero(mask: Any, /, size: int) -> Any:
    return jnp.flatnonzero(mask, size=size)


@op(name="_unravel", grad=False)
def _unravel(flat: Any, /, shape: Any) -> Any:
    return tuple(jnp.unravel_index(flat, shape))


def positions(mask: Tensor, what: str, instead: str) -> Tensor:
    """Return the positions in the flattened mask where a traced mask is True."""
    return _flat_nonzero(mask, known(mask.astype("int64").sum(), what, instead))


def coordinates(mask: Tensor, what: str, instead: str) -> tuple[Tensor, ...]:
    """Return the indices along each dimension where a traced mask is True."""
    return _unravel(positions(mask, what, instead), tuple(mask.shape))


@composite(methods=["argwhere"])
def argwhere(input: Tensor) -> Any:
    """Return the indices of nonzero elements, one per row. The size of the result depends on the data.

    Returns:
        An int64 tensor [n, input.ndim].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.argwhere(paddle.to_tensor([0, 1])).tolist()
        [[1]]
    """
    return nonzero(input)


@op(name="_take_flat")
def take_flat(x: Array, index: Array, /, shape: Shape | None = None) -> Any:
    """Return elements of the flattened `x` (after broadcasting to a shape)."""
    return (x if shape is None else jnp.broadcast_to(x, shape)).reshape(-1)[index]


@composite(methods=["masked_select"])
def masked_select(x: Tensor, mask: Tensor) -> Any:
    """Select the elements where `mask` is True. The size of the result depends on the data.

    Returns:
        A 1-D tensor with the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([1.0, -2.0, 3.0])
        >>> paddle.masked_select(x, x > 0).tolist()
        [1.0, 3.0]
    """
    if isinstance(mask, Tensor) and mask.dtype != "bool":
        raise ValueError(f"masked_select(): mask is {mask.dtype.name}; expected bool, as of x > 0")
    if not is_eager() and isinstance(mask, Tensor):
        x, mask = broadcast_tensors([x, mask])
        return take_flat(x, positions(mask, "masked_select()", "where(mask, x, 0) or a sum over mask * x"))
    held = concrete(mask, "masked_select()", "where(mask, x, 0) or a sum over mask * x")
    shape = tuple(broadcast_shapes(x.shape, held.shape))
    return take_flat(x, np.flatnonzero(np.broadcast_to(held, shape)), shape)


@composite(methods=["unique"])
@no_effect(sorted=SORTED)
def unique(
    x: Tensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    sorted: bool = True,
) -> Any:
    """Return the sorted unique elements, or unique slices along a dimension. The size depends on the data.

    Arguments:
        return_index, return_inverse, return_counts: return as well, as tensors of `dtype`: the first index of each
            unique element, the position of each element among the unique ones, and their counts. Default: False.

    Returns:
        The unique elements; a tuple with the requested tensors, in that order, if there are any.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [out.tolist() for out in paddle.unique(paddle.to_tensor([3, 1, 1]), return_counts=True)]
        [[1, 3], [2, 1]]
    """
    if not is_eager() and isinstance(x, Tensor):
        instead = "sort() and a comparison of neighbours"
        axis = None if axis is None else from_start(axis, x.ndim)
        found: Any = _unique(x, known(_count_unique(x, axis), "unique()", instead), axis)
        first, inverse, counts = found
        return _unique_result(x, first, inverse, counts, (return_index, return_inverse, return_counts), axis, dtype)
    values = concrete(x, "unique()", "sort() and a comparison of neighbours")
    axis = None if axis is None else from_start(axis, values.ndim)
    outs = np.unique(values, True, True, True, axis=axis, equal_nan=False)
    return _unique_result(
        x, outs[1], outs[2].reshape(-1), outs[3], (return_index, return_inverse, return_counts), axis, dtype
    )


@op(name="_count_unique", grad=False)
def _count_unique(x: Any, /, axis: int | None = None) -> Any:
    rows = x.reshape(-1, 1) if axis is None else jnp.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
    rows = rows[jnp.lexsort(rows.T)]
    return jnp.sum((rows[1:] != rows[:-1]).any(1)) + min(x.size, 1)


@op(name="_unique", grad=False)
def _unique(x: Any, /, size: int, axis: int | None = None) -> Any:
    values = x.reshape(-1) if axis is None else x
    found = jnp.unique(values, True, True, True, axis=axis, size=size, equal_nan=False)[1:]
    return tuple([f.reshape(-1) for f in found])


def _unique_result(x: Any, first: Any, inverse: Any, counts: Any, wanted: Any, axis: int | None, dtype: Any) -> Any:
    """Assemble the result of `unique()`: elements by index, so that gradients flow, and the requested counts."""
    at = first if isinstance(first, Tensor) else fresh(first)
    out = take_flat(x, first) if axis is None else x.gather(at, axis)
    kind = numpy_dtype(dtype)
    extra = [
        e.astype(kind) if isinstance(e, Tensor) else fresh(e.astype(kind))
        for e, w in zip((first, inverse, counts), wanted, strict=True)
        if w
    ]
    return (out, *extra) if extra else out


@op(name="_is_new", grad=False)
def _is_new(x: Any, /, axis: int | None = None) -> Any:
    rows = x.reshape(-1) if axis is None else jnp.moveaxis(x, axis, 0)
    other = (rows[1:] != rows[:-1]).any(tuple(range(1, rows.ndim)))
    return jnp.concatenate([jnp.ones(min(1, rows.shape[0]), bool), other])


@op(name="_ends", grad=False)
def _ends(first: Any, /, size: int) -> Any:
    return jnp.append(first[1:], size)


@composite(methods=["unique_consecutive"])
def unique_consecutive(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
) -> Any:
    """Remove consecutive duplicates of elements, or of slices along a dimension. The size depends on the data.

    Returns:
        The remaining elements; a tuple with the inverse indices and counts if they are requested.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 1])).tolist()
        [1, 2, 1]
    """
    axis = None if axis is None else from_start(axis, x.ndim)
    if not is_eager() and isinstance(x, Tensor):
        new = _is_new(x, axis)
        at = positions(new, "unique_consecutive()", "a comparison of neighbours")
        found = at, new.cumsum() - 1, _ends(at, x.size if axis is None else x.shape[axis]) - at
        return _unique_result(x, *found, (False, return_inverse, return_counts), axis, dtype)
    values = concrete(x, "unique_consecutive()", "a comparison of neighbours")
    rows = values.reshape(-1, 1) if axis is None else np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)
    new = np.concatenate([np.ones(min(1, len(rows)), bool), (rows[1:] != rows[:-1]).any(1)])
    first = np.flatnonzero(new)
    counts = np.diff(np.append(first, len(rows)))
    return _unique_result(x, first, np.cumsum(new) - 1, counts, (False, return_inverse, return_counts), axis, dtype)
