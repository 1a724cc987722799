"""Rows that go to the experts of other processes, and come back: as many as there are, outside of programs only."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...autograd import PyLayer
from ...eager.tensor import Tensor
from ...ops.joining import concat
from ...ops.splitting import split
from ..collective import alltoall, member
from ..group import Group

__all__ = ["global_gather", "global_scatter"]


def _split_rows(x: Tensor, counts: np.ndarray) -> list[Tensor]:
    """As many rows as counted, one block after the other; none at all where nothing is counted."""
    kept = [int(n) for n in counts]
    if sum(kept) != x.shape[0]:
        raise ValueError(f"counts are {kept} for {x.shape[0]} rows; expected their sum to be the number of rows")
    return split(x, kept, 0)


def _sent(x: Tensor, giving: np.ndarray, taking: np.ndarray, group: Group) -> Tensor:
    """Blocks of rows, given by process and expert, taken by expert and process."""
    ends = np.cumsum(giving.reshape(group.nranks, -1).sum(1))[:-1]
    own = _split_rows(x, np.diff(np.concatenate([[0], ends, [x.shape[0]]])))
    found: list[Tensor] = []
    alltoall(found, [*own], group)
    by_process = taking.reshape(group.nranks, -1)
    blocks = [_split_rows(rows, counts) for rows, counts in zip(found, by_process, strict=True)]
    return concat([blocks[p][e] for e in range(by_process.shape[1]) for p in range(group.nranks)], 0)


def _return_rows(x: Tensor, giving: np.ndarray, taking: np.ndarray, group: Group) -> Tensor:
    """Return the way back: blocks given by expert and process, taken by process and expert."""
    by_process = taking.reshape(group.nranks, -1)
    blocks = _split_rows(x, by_process.T.reshape(-1))
    experts = range(by_process.shape[1])
    found: list[Tensor] = []
    alltoall(found, [concat([blocks[e * group.nranks + p] for e in experts], 0) for p in range(group.nranks)], group)
    return concat(found, 0)


class _Sent(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor, giving: Any, taking: Any, group: Group, back: bool) -> Tensor:
        ctx.how = giving, taking, group, back
        return (_return_rows if back else _sent)(x, giving, taking, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        giving, taking, group, back = ctx.how
        return (_sent if back else _return_rows)(grad, giving, taking, group)


def _exchange(x: Tensor, local_count: Any, global_count: Any, group: Group | None, back: bool) -> Tensor:
    among = member(group)
    counts = [np.asarray(c.numpy() if isinstance(c, Tensor) else c) for c in (local_count, global_count)]
    if among is None:
        return x
    return _Sent.apply(x, *counts, among, back)


def global_scatter(
    x: Tensor, local_count: Any, global_count: Any, group: Group | None = None, use_calc_stream: bool = True
) -> Tensor:
    """Give rows to the experts of all processes.

    Arguments:
        x: rows, by the process and the expert that they are for.
        local_count: how many are for expert i % n of process i // n, where each process has n experts.
        global_count: how many come from process i // n for expert i % n of this one.
        group: who has experts; all processes by default.

    Raises:
        ValueError: if the counts are not those of the rows.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> counts = paddle.to_tensor([1, 2])
        >>> global_scatter(paddle.to_tensor([[1.0], [2.0], [3.0]]), counts, counts).flatten().tolist()
        [1.0, 2.0, 3.0]
    """
    return _exchange(x, local_count, global_count, group, back=False)


def global_gather(
    x: Tensor, local_count: Any, global_count: Any, group: Group | None = None, use_calc_stream: bool = True
) -> Tensor:
    """Take rows back from the experts of all processes; the arguments are those of global_scatter().

    Raises:
        ValueError: if the counts are not those of the rows.
    """
    return _exchange(x, local_count, global_count, group, back=True)
