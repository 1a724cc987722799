"""Message passing under its older names."""

from __future__ import annotations

from typing import Any

from ..core.no_effect import no_effect
from ..geometric import NO_BUFFER, reindex_graph, sample_neighbors
from ..ops.segment import send_u_recv


def graph_send_recv(
    x: Any, src_index: Any, dst_index: Any, pool_type: str = "sum", out_size: Any = None, name: Any = None
) -> Any:
    """Return the older name of geometric.send_u_recv: rows of x are sent along edges, and pooled where they arrive.

    Arguments:
        pool_type: "sum", "mean", "max" or "min".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, a, b = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])
        >>> paddle.incubate.graph_send_recv(x, a, b, pool_type="mean").tolist()
        [[0.0], [1.5]]
    """
    return send_u_recv(x, src_index, dst_index, pool_type, out_size)


@no_effect(value_buffer=NO_BUFFER, index_buffer=NO_BUFFER, flag_buffer_hashtable=NO_BUFFER)
def graph_reindex(
    x: Any, neighbors: Any, count: Any, value_buffer: Any = None, index_buffer: Any = None,
    flag_buffer_hashtable: bool = False, name: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the older name of geometric.reindex_graph: the nodes of a sampled graph are numbered from 0.

    Arguments:
        x: the nodes.
        neighbors: all their neighbours in a row.
        count: how many each has.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> i = paddle.to_tensor
        >>> paddle.incubate.graph_reindex(i([5, 7]), i([7, 9, 5]), i([2, 1]))[2].tolist()
        [5, 7, 9]
    """
    return reindex_graph(x, neighbors, count)


@no_effect(perm_buffer=NO_BUFFER, flag_perm_buffer=NO_BUFFER)
def graph_sample_neighbors(
    row: Any, colptr: Any, input_nodes: Any, eids: Any = None, perm_buffer: Any = None, sample_size: int = -1,
    return_eids: bool = False, flag_perm_buffer: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """The older name of geometric.sample_neighbors: up to sample_size neighbours of each node, in compressed columns.

    Arguments:
        row, colptr: the graph. input_nodes: the nodes. eids: numbers of the edges, for return_eids.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> i = paddle.to_tensor
        >>> [t.tolist() for t in paddle.incubate.graph_sample_neighbors(i([1, 2, 0]), i([0, 2, 3]), i([0]))]
        [[1, 2], [2]]
    """
    return sample_neighbors(row, colptr, input_nodes, sample_size, eids, return_eids)
