"""Select elements by index."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from .dynamic import is_eager, known
from .promote import from_start
from .types import Array

__all__ = [
    *("gather", "gather_nd", "index_sample", "index_select", "one_hot", "shard_index", "take", "take_along_axis"),
    *("take_along_dim",),
]


def wrap_negative(index: Any, size: Any) -> Any:
    """Convert negative indices to non-negative ones."""
    return jnp.where(index < 0, index + size, index)


@op(name="gather")
def _gather(x: Any, index: Any, /, axis: int | None = None) -> Any:
    if index.ndim > 2 or (index.ndim == 2 and index.shape[1] != 1):
        raise ValueError(f"index has shape {list(index.shape)}; expected a vector")
    return jnp.take(x, index.reshape(-1) if index.ndim == 2 else index, axis=0 if axis is None else axis)


@composite(methods=["gather"], around=call_cached("x", "index?"))
def gather(x: Tensor, index: Any, axis: Any = None, *, dim: int | None = None) -> Any:
    """Select slices along a dimension by a 1-D index; `gather(x, dim, index)` selects elements.

    Arguments:
        x: tensor to select from.
        index: 0-D or 1-D integer tensor (or a column [N, 1]); a 0-D index removes the dimension.
        axis: int, the dimension to select along. Default: 0.
        dim: int, the dimension for an index with as many dimensions as `x`; see `take_along_axis()`.

    Returns:
        A tensor with the shape of `x`, but of the size of `index` along `axis`.

    Raises:
        ValueError: if `index` has more dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.gather(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([1, 0])).tolist()
        [[3, 4], [1, 2]]
    """
    if isinstance(index, int) and isinstance(axis, Tensor):  # dim and index by position
        dim, index = index, axis
    return _gather(x, index, axis) if dim is None else take_along_axis(x, index, dim, broadcast=False)


@op(name="index_select")
def _index_select(x: Any, index: Any, /, axis: int = 0) -> Any:
    return jnp.take(x, index.reshape(-1), axis=axis)


@composite(methods=["index_select"], around=call_cached("x", "index?", "axis?"))
def index_select(x: Tensor, index: Any, axis: Any = 0) -> Any:
    """Select slices along a dimension by a 1-D index; `index` and `axis` may come in either order.

    Returns:
        A tensor with the shape of `x`, but of size `len(index)` along `axis`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.index_select(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([1]), axis=1).tolist()
        [[2], [4]]
    """
    if isinstance(index, int) and isinstance(axis, Tensor):
        index, axis = axis, index
    return _index_select(x, index, axis)


@op(methods=["gather_nd"])
def gather_nd(x: Array, index: Array, /) -> Any:
    """Select elements or slices by multi-dimensional indices: `out[i] = x[tuple(index[i])]`.

    Returns:
        A tensor of shape `index.shape[:-1] + x.shape[index.shape[-1]:]`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.gather_nd(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[0, 1], [1, 0]])).tolist()
        [2, 3]
    """
    return x[tuple(jnp.moveaxis(index, -1, 0))]


@op(methods=["index_sample"])
def index_sample(x: Array, index: Array, /) -> Any:
    """Select elements in each row: `out[i, j] = x[i, index[i, j]]`.

    Returns:
        A tensor with the shape of `index` and the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.index_sample(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]])).tolist()
        [[2], [3]]
    """
    return jnp.take_along_axis(x, index, 1)


@op(methods=["take_along_axis"])
def take_along_axis(arr: Array, indices: Array, /, axis: int, broadcast: bool = True) -> Any:
    """Select elements along a dimension by an index of the same number of dimensions.

    Arguments:
        broadcast: broadcast `indices` against `arr` in the other dimensions; False: `indices` may be smaller there.
            Default: True.

    Returns:
        A tensor with the (broadcast) shape of `indices`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.take_along_axis(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]]), 1).tolist()
        [[2], [3]]
    """
    if arr.ndim != indices.ndim:
        raise ValueError(f"indices have {indices.ndim} dimensions; expected {arr.ndim}, as arr")
    axis = from_start(axis, arr.ndim)
    if not broadcast:
        arr = crop_others(arr, indices.shape, axis)
    return jnp.take_along_axis(arr, indices, axis)


@composite(methods=["take_along_dim"], around=call_cached("arr", "indices"))
def take_along_dim(arr: Tensor, indices: Tensor, axis: int | None = None, broadcast: bool = True) -> Any:
    """Select elements along a dimension by an index that is broadcast; None selects from the flattened tensor.

    Returns:
        A tensor with the broadcast shape of `indices`; 1-D if `axis` is None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.take_along_dim(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([3])).tolist()
        [4]
    """
    return take(arr, indices).flatten() if axis is None else take_along_axis(arr, indices, axis, broadcast)


def crop_others(x: Any, shape: tuple[Any, ...], axis: int) -> Any:
    """Crop `x` to a shape in all dimensions but one."""
    return x[tuple([slice(None) if i == axis else slice(n) for i, n in enumerate(shape)])]


@op(methods=["take"])
def take(x: Array, index: Array, /, mode: str = "raise") -> Any:
    """Select elements of the flattened tensor.

    Arguments:
        index: integer tensor; negative values count from the end.
        mode: for indices out of range: "wrap" around, "clip" to the range, or "raise" an error where values can be
            checked. Default: "raise".

    Returns:
        A tensor with the shape of `index` and the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.take(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([0, -1])).tolist()
        [1, 4]
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode is {mode!r}; expected 'raise', 'wrap' or 'clip'")
    flat = x.reshape(-1)
    if mode == "clip":
        return jnp.take(flat, index, mode="clip")
    return jnp.take(flat, index % flat.shape[0] if mode == "wrap" else wrap_negative(index, flat.shape[0]))


@op(name="one_hot", grad=False)
def _one_hot(x: Any, /, num_classes: int) -> Any:
    return jax.nn.one_hot(x, num_classes, dtype=jnp.float32)


@composite
def one_hot(x: Tensor, num_classes: int | Tensor = -1) -> Any:
    """Encode integers as one-hot vectors.

    Returns:
        A float tensor of shape [*x.shape, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.one_hot(paddle.to_tensor([0, 2]), 3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if isinstance(num_classes, Tensor):
        num_classes = num_classes._static_value("num_classes")
    elif num_classes == -1:
        most = x.max() + 1
        num_classes = int(most) if is_eager() else known(most, "one_hot() without num_classes", "num_classes=n")
    return _one_hot(x, num_classes)


@op(grad=False)
def shard_index(input: Array, /, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Any:
    """Map the indices of a sharded table to indices within one shard; others become `ignore_value`.

    Returns:
        A tensor with the shape of `input`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.shard_index(paddle.to_tensor([[16], [1]]), index_num=20, nshards=2, shard_id=0).tolist()
        [[-1], [1]]
    """
    size = -(-index_num // nshards)
    return jnp.where(input // size == shard_id, input % size, ignore_value)
