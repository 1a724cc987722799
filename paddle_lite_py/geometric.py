"""Graph learning: message passing, segment reductions, and neighbor sampling (on the host, since sizes vary)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core.argument_docs import document as _document
from .core.no_effect import Immaterial, no_effect
from .eager.pending import payload_of
from .eager.random import host_draw
from .eager.tensor import Tensor
from .ops.dynamic import concrete, fresh
from .ops.on_host import Arguments, HostResult, on_host
from .ops.segment import segment_max, segment_mean, segment_min, segment_sum, send_u_recv, send_ue_recv, send_uv

__all__ = [
    "reindex_graph",
    "reindex_heter_graph",
    "sample_neighbors",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
    "send_u_recv",
    "send_ue_recv",
    "send_uv",
    "weighted_sample_neighbors",
]


def _host(x: Any, who: str) -> np.ndarray:
    return concrete(x, who, "it before the static function")


def _edges_and_nodes(given: Arguments) -> Any:
    kind = payload_of(given["x"]).dtype
    return HostResult(("edges",), kind), HostResult(("edges",), kind), HostResult((None,), kind)


def _edges_and_counts(given: Arguments) -> Any:
    kind = payload_of(given["row"]).dtype
    found = HostResult(("neighbors",), kind), HostResult(payload_of(given["input_nodes"]).shape, kind)
    ids = given["eids"]
    return (
        (*found, HostResult(("neighbors",), payload_of(ids).dtype))
        if given["return_eids"] and ids is not None
        else found
    )


NO_BUFFER = Immaterial("nodes are found without a table")


@no_effect(value_buffer=NO_BUFFER, index_buffer=NO_BUFFER)
@on_host(_edges_and_nodes)
def reindex_graph(
    x: Tensor, neighbors: Tensor, count: Tensor, value_buffer: Any = None, index_buffer: Any = None, name: Any = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Renumber the nodes of a sampled graph from 0: first `x`, then new neighbors in order of appearance.

    Arguments:
        x: 1-D integer tensor, the nodes.
        neighbors: 1-D integer tensor, the neighbors of all nodes, concatenated.
        count: 1-D integer tensor, the number of neighbors of each node; for several edge types, concatenated.

    Returns:
        (source, destination, nodes): the endpoints of each edge in new numbers, and the original ids in new order.

    Raises:
        ValueError: if `count` does not have one entry per node.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> i = paddle.to_tensor
        >>> [t.tolist() for t in paddle.geometric.reindex_graph(i([5, 7]), i([7, 9, 5]), i([2, 1]))]
        [[1, 2, 0], [0, 0, 1], [5, 7, 9]]
    """
    return reindex_heter_graph(x, [neighbors], [count])


def _turns(nodes: int, counts: np.ndarray) -> np.ndarray:
    """Return the node that each count belongs to."""
    if nodes == 0 or len(counts) % nodes:
        raise ValueError(f"reindex_graph: count has {len(counts)} numbers for {nodes} nodes; expected one for each")
    return np.arange(len(counts)) % nodes


@no_effect(value_buffer=NO_BUFFER, index_buffer=NO_BUFFER)
def reindex_heter_graph(
    x: Tensor, neighbors: Any, count: Any, value_buffer: Any = None, index_buffer: Any = None, name: Any = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Renumber the nodes of a sampled heterogeneous graph; see `reindex_graph()`.

    Arguments:
        x: 1-D integer tensor, the nodes.
        neighbors, count: lists of 1-D integer tensors, one per edge type.

    Returns:
        (source, destination, nodes): the endpoints of each edge in new numbers, and the original ids in new order.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, one = paddle.to_tensor([5, 7]), paddle.to_tensor([1, 1], dtype="int32")
        >>> source, target, nodes = paddle.geometric.reindex_heter_graph(x, [paddle.to_tensor([7, 9])], [one])
        >>> source.tolist(), target.tolist(), nodes.tolist()
        ([1, 2], [0, 1], [5, 7, 9])
    """
    nodes = _host(x, "reindex_graph()")
    number = {int(n): k for k, n in enumerate(nodes)}
    sources, targets = [], []
    for found, counts in zip(neighbors, count, strict=True):
        sources += [number.setdefault(int(n), len(number)) for n in _host(found, "reindex_graph()")]
        targets += np.repeat(_turns(len(nodes), times := _host(counts, "reindex_graph()")), times).tolist()
    kind = nodes.dtype
    return tuple(fresh(np.array(v, kind)) for v in (sources, targets, list(number)))  # type: ignore[return-value]


@no_effect(perm_buffer=NO_BUFFER)
@on_host(_edges_and_counts)
def sample_neighbors(
    row: Tensor,
    colptr: Tensor,
    input_nodes: Tensor,
    sample_size: int = -1,
    eids: Tensor | None = None,
    return_eids: bool = False,
    perm_buffer: Any = None,
    name: Any = None,
) -> Any:
    """Sample up to `sample_size` neighbors of each input node of a graph in CSC format.

    Returns:
        (neighbors, count), with the edge ids if `return_eids`: the sampled neighbors, concatenated, and the number per
        node.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])
        >>> neighbors, count = paddle.geometric.sample_neighbors(row, colptr, paddle.to_tensor([0]))
        >>> neighbors.tolist(), count.tolist()
        ([1, 2], [2])
    """
    return _sample(row, colptr, None, input_nodes, sample_size, eids, return_eids)


@on_host(_edges_and_counts)
def weighted_sample_neighbors(
    row: Tensor,
    colptr: Tensor,
    edge_weight: Tensor,
    input_nodes: Tensor,
    sample_size: int = -1,
    eids: Tensor | None = None,
    return_eids: bool = False,
    name: Any = None,
) -> Any:
    """Sample neighbors with probabilities proportional to edge weights; see `sample_neighbors()`.

    Returns:
        (neighbors, count), with the edge ids if `return_eids`: the sampled neighbors, concatenated, and the number per
        node.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])
        >>> w = paddle.to_tensor([1.0, 2.0, 3.0])
        >>> neighbors, count = paddle.geometric.weighted_sample_neighbors(row, colptr, w, paddle.to_tensor([0]))
        >>> sorted(neighbors.tolist()), count.tolist()
        ([1, 2], [2])
    """
    return _sample(row, colptr, edge_weight, input_nodes, sample_size, eids, return_eids)


def _sample(row: Any, colptr: Any, weight: Any, nodes: Any, size: int, eids: Any, return_eids: bool) -> Any:
    if return_eids and eids is None:
        raise ValueError("sample_neighbors: return_eids=True needs eids")
    rows, ends, wanted = (_host(v, "sample_neighbors()") for v in (row, colptr, nodes))
    weights = None if weight is None else _host(weight, "sample_neighbors()")
    draw = host_draw()
    chosen = []
    for node in wanted.reshape(-1):
        at = np.arange(ends[node], ends[node + 1])
        if 0 <= size < len(at):
            p = None if weights is None else weights[at] / weights[at].sum()
            at = draw.choice(at, size, replace=False, p=p)
        chosen.append(at)
    edges = np.concatenate(chosen) if chosen else np.zeros(0, np.int64)
    out = fresh(rows[edges]), fresh(np.array([len(c) for c in chosen], rows.dtype))
    return (*out, fresh(_host(eids, "sample_neighbors()")[edges])) if return_eids else out


_document(globals())
