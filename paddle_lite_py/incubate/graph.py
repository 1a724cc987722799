"""Message passing under its older name."""

from __future__ import annotations

from typing import Any

from ..ops.segment import send_u_recv


def graph_send_recv(
    x: Any, src_index: Any, dst_index: Any, pool_type: str = "sum", out_size: Any = None, name: Any = None
) -> Any:
    """What geometric.send_u_recv does: rows of x sent along edges, and pooled where they arrive.

    Arguments:
        pool_type: "sum", "mean", "max" or "min".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, a, b = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])
        >>> paddle.incubate.graph_send_recv(x, a, b, pool_type="mean").tolist()
        [[0.0], [1.5]]
    """
    return send_u_recv(x, src_index, dst_index, pool_type, out_size)
