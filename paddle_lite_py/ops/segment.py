"""Segment reductions, and message passing along the edges of a graph."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..core.symbolic import is_symbolic
from ..dispatch.define import op
from ..eager.tensor import Tensor
from . import bounds
from .search import where

__all__ = ["segment_max", "segment_mean", "segment_min", "segment_sum", "send_u_recv", "send_ue_recv", "send_uv"]


def _pool(rows: Any, at: Any, count: int, pool: str) -> Any:
    """Reduce the rows of each segment; empty segments are zeros."""
    if pool == "sum":
        return jax.ops.segment_sum(rows, at, count)
    sizes = jax.ops.segment_sum(jnp.ones(at.shape, rows.dtype), at, count)
    sizes = sizes.reshape(-1, *[1] * (rows.ndim - 1))
    if pool == "mean":
        total = jax.ops.segment_sum(rows, at, count) / jnp.maximum(sizes, 1).astype(rows.dtype)
        return total.astype(rows.dtype)  # of integers: cut off
    reduce = jax.ops.segment_max if pool == "max" else jax.ops.segment_min
    return jnp.where(sizes > 0, reduce(rows, at, count), 0).astype(rows.dtype)


@op(name="segment_pool")
def _segment(data: Any, ids: Any, /, *, count: int, pool: str) -> Any:
    return _pool(data, ids, count, pool)


def _count(ids: Tensor, who: str) -> Any:
    """Return the largest id plus 1."""
    if not ids.shape or not ids.shape[0]:
        return 0
    return ids.max()._static_value(f"the number of segments of {who}()") + 1


def _segment_op(pool: str, what: str, example: str) -> Any:
    name = f"segment_{pool}"

    def segment(data: Tensor, segment_ids: Tensor, name: Any = None) -> Tensor:
        if segment_ids.ndim != 1 or segment_ids.shape[0] != data.shape[0]:
            raise ValueError(
                f"segment_{pool}: segment_ids has the shape {[*segment_ids.shape]}; expected one id for each of the "
                f"{data.shape[0]} rows of data"
            )
        fn: Any = _segment
        return fn(data, segment_ids, count=_count(segment_ids, f"segment_{pool}"), pool=pool)

    segment.__name__ = segment.__qualname__ = name
    segment.__doc__ = f"""Compute the {what} of the rows of `data` in each segment.

    In a static program the ids must be known, since the number of segments is a shape.

    Returns:
        A tensor [segments, ...] with the dtype of `data`; empty segments are zeros.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.geometric.{name}(paddle.to_tensor([[1.0], [2.0], [6.0]]), paddle.to_tensor([0, 0, 1])).tolist()
        {example}
    """
    return segment


segment_sum = _segment_op("sum", "sum", "[[3.0], [6.0]]")
segment_mean = _segment_op("mean", "mean", "[[1.5], [6.0]]")
segment_max = _segment_op("max", "maximum", "[[2.0], [6.0]]")
segment_min = _segment_op("min", "minimum", "[[1.0], [6.0]]")

_MESSAGES: dict[str, Any] = {"add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "div": jnp.divide}
_POOLS = ("sum", "mean", "max", "min")


def _one_of(who: str, what: str, value: str, known: Any) -> None:
    if value not in known:
        raise ValueError(f"{who}: {what} is {value!r}; expected one of {', '.join(known)}")


@op(name="send_u_recv")
def _send_u_recv(x: Any, source: Any, target: Any, /, *, count: int, pool: str) -> Any:
    return _pool(x[source], target, count, pool)


def send_u_recv(
    x: Tensor, src_index: Tensor, dst_index: Tensor, reduce_op: str = "sum", out_size: Any = None, name: Any = None
) -> Tensor:
    """Gather the rows of source nodes along edges and reduce them at the destination nodes.

    Arguments:
        src_index, dst_index: 1-D integer tensors, the source and destination of each edge.
        reduce_op: "sum", "mean", "max" or "min"; nodes without messages get zeros. Default: "sum".
        out_size: int, number of rows of the result. Default: that of `x`.

    Returns:
        A tensor [out_size, ...] with the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[1.0], [2.0]])
        >>> paddle.geometric.send_u_recv(x, paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])).tolist()
        [[0.0], [3.0]]
    """
    _one_of("send_u_recv", "reduce_op", reduce_op, _POOLS)
    fn: Any = _send_u_recv
    return fn(x, src_index, dst_index, count=_rows(x, out_size), pool=reduce_op)


def _rows(x: Tensor, out_size: Any) -> Any:
    if out_size is None:
        return x.shape[0]
    if isinstance(out_size, Tensor):
        out_size = where(out_size > 0, out_size, x.shape[0]).reshape([])._static_value("out_size")
    return out_size if is_symbolic(out_size) or out_size > 0 else x.shape[0]


@op(name="send_ue_recv")
def _send_ue_recv(x: Any, y: Any, source: Any, target: Any, /, *, message: str, count: int, pool: str) -> Any:
    return _pool(_MESSAGES[message](*_align(x[source], y)), target, count, pool)


def _align(a: Any, b: Any) -> tuple[Any, Any]:
    """Give both operands the same number of dimensions, inserting missing ones after the first."""
    n = max(a.ndim, b.ndim)
    return tuple(v.reshape(v.shape[0], *[1] * (n - v.ndim), *v.shape[1:]) for v in (a, b))


def send_ue_recv(
    x: Tensor,
    y: Tensor,
    src_index: Tensor,
    dst_index: Tensor,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: Any = None,
    name: Any = None,
) -> Tensor:
    """Combine source rows with edge features, and reduce them at the destination nodes.

    Arguments:
        y: tensor [edges, ...], the edge features.
        message_op: how they combine: "add", "sub", "mul" or "div". Default: "add".

    Returns:
        A tensor [out_size, ...].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, w = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[10.0], [20.0]])
        >>> paddle.geometric.send_ue_recv(x, w, paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])).tolist()
        [[0.0], [33.0]]
    """
    _one_of("send_ue_recv", "message_op", message_op, _MESSAGES)
    _one_of("send_ue_recv", "reduce_op", reduce_op, _POOLS)
    fn: Any = _send_ue_recv
    return fn(x, y, src_index, dst_index, message=message_op, count=_rows(x, out_size), pool=reduce_op)


@op(name="send_uv")
def _send_uv(x: Any, y: Any, source: Any, target: Any, /, *, message: str) -> Any:
    return _MESSAGES[message](*_align(x[source], y[target]))


def send_uv(
    x: Tensor, y: Tensor, src_index: Tensor, dst_index: Tensor, message_op: str = "add", name: Any = None
) -> Tensor:
    """Combine the features of the source node in `x` and of the destination node in `y`, for each edge.

    Returns:
        A tensor [edges, ...].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[10.0], [20.0]])
        >>> paddle.geometric.send_uv(x, y, paddle.to_tensor([0]), paddle.to_tensor([1])).tolist()
        [[21.0]]
    """
    _one_of("send_uv", "message_op", message_op, _MESSAGES)
    fn: Any = _send_uv
    return fn(x, y, src_index, dst_index, message=message_op)


bounds.attach(bounds.GRAPH_CHECKS)
