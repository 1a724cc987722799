"""Choose elements by index."""

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
    """Indices counted from the end, as from the start."""
    return jnp.where(index < 0, index + size, index)


@op(name="gather")
def _gather(x: Any, index: Any, /, axis: int | None = None) -> Any:
    if index.ndim > 2 or (index.ndim == 2 and index.shape[1] != 1):
        raise ValueError(f"index has shape {list(index.shape)}; expected a vector")
    return jnp.take(x, index.reshape(-1) if index.ndim == 2 else index, axis=0 if axis is None else axis)


@composite(methods=["gather"], around=call_cached("x", "index?"))
def gather(x: Tensor, index: Any, axis: Any = None, *, dim: int | None = None) -> Any:
    """Slices of x along an axis, chosen by a vector of indices; or elements along one: gather(x, dim, index).

    Arguments:
        x: a tensor.
        index: a vector (or column) of integers; a single one drops the axis.
        axis: the first by default.
        dim: an axis, for an index of as many dimensions as x has; see take_along_axis.

    Raises:
        ValueError: if index has more dimensions.

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
    """Slices of x along an axis, chosen by a vector of indices; index and axis in either order.

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
    """Elements or slices of x; each row of index holds the indices of its first axes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.gather_nd(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[0, 1], [1, 0]])).tolist()
        [2, 3]
    """
    return x[tuple(jnp.moveaxis(index, -1, 0))]


@op(methods=["index_sample"])
def index_sample(x: Array, index: Array, /) -> Any:
    """From row i of x, the elements that row i of index names.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.index_sample(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]])).tolist()
        [[2], [3]]
    """
    return jnp.take_along_axis(x, index, 1)


@op(methods=["take_along_axis"])
def take_along_axis(arr: Array, indices: Array, /, axis: int, broadcast: bool = True) -> Any:
    """Elements along an axis, at indices of the same number of dimensions.

    Arguments:
        broadcast: let the sizes of the other axes broadcast; otherwise indices may be smaller than arr there.

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
    """Elements along an axis at indices that broadcast, or of the flattened tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.take_along_dim(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([3])).tolist()
        [4]
    """
    return take(arr, indices).flatten() if axis is None else take_along_axis(arr, indices, axis, broadcast)


def crop_others(x: Any, shape: tuple[Any, ...], axis: int) -> Any:
    """x cut to a shape on all axes but one."""
    return x[tuple([slice(None) if i == axis else slice(n) for i, n in enumerate(shape)])]


@op(methods=["take"])
def take(x: Array, index: Array, /, mode: str = "raise") -> Any:
    """Elements of the flattened tensor.

    Arguments:
        index: integers, negative ones from the end.
        mode: "wrap" or "clip" indices that are too large; "raise" promises that there are none.

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
    """A vector for each integer, 1 at its place and 0 elsewhere; of the largest integer plus one if not given.

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
    """Indices of a sharded table as indices of one shard; those of other shards become ignore_value.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.shard_index(paddle.to_tensor([[16], [1]]), index_num=20, nshards=2, shard_id=0).tolist()
        [[-1], [1]]
    """
    size = -(-index_num // nshards)
    return jnp.where(input // size == shard_id, input % size, ignore_value)
