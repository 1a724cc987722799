"""Collective communication: with one process, each function returns its own input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.no_effect import Immaterial, no_effect
from ..eager.tensor import Tensor
from ..ops.convert import to_tensor
from ..ops.joining import concat, stack
from . import kernels, programs
from .group import Group, ReduceOp, init_parallel_env

_ORDER = Immaterial("the device's own order makes who reads a tensor wait for it")


class Task:
    """An exchange that was begun.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.barrier(); paddle.distributed.all_reduce(paddle.ones([2])).is_completed()
        True
    """

    def __init__(self, tensor: Tensor | None = None) -> None:
        self.tensor = tensor

    def wait(self, timeout: Any = None) -> bool:
        """Wait until it is over; True."""
        if self.tensor is not None and hasattr(self.tensor._payload, "block_until_ready"):
            self.tensor._payload.block_until_ready()
        return True

    synchronize = wait

    def is_completed(self) -> bool:
        """Whether it is over."""
        return self.tensor is None or not hasattr(self.tensor._payload, "is_ready") or self.tensor._payload.is_ready()


# -- the one way to exchange -----------------------------------------------------------------------------------------
def exchanged(kind: str, tensor: Tensor, group: Group, *how: Any) -> Tensor:
    """Return the result of an exchange of the given kind (kernels.KERNELS) in a group."""
    return kernels.ALONE[kind](tensor) if group.nranks == 1 else programs.exchanged(kind, [tensor], group, *how)[0]


def member(group: Group | None) -> Group | None:
    """Return the group, all processes by default; None where this process is not in it, and has nothing to do."""
    group = group or init_parallel_env()
    return group if group.is_member() else None


def place(name: str, rank: int, group: Group) -> int:
    """Return the place in a group of the process that an exchange begins or ends with.

    Raises:
        ValueError: if it is none of the group.
    """
    if rank not in group.ranks:
        raise ValueError(f"{name}: there is no process of rank {rank} in the group of ranks {group.ranks}")
    return group.ranks.index(rank)


def put(tensor: Tensor, value: Tensor) -> Task:
    """Give a tensor its new value, past the graph."""
    data = value._payload
    if data.shape == tensor._payload.shape and data.dtype == tensor._payload.dtype:
        tensor._set_payload(data)
    else:
        tensor.set_value(value.reshape(tensor.shape).detach())
    return Task(tensor)


def _checked(op: int, tensor: Tensor) -> int:
    if op not in range(5):
        raise ValueError(f"op is {op!r}; expected one of ReduceOp.SUM, MAX, MIN, PROD, AVG")
    if op in (ReduceOp.MAX, ReduceOp.MIN) and tensor.dtype.is_complex:
        raise ValueError(f"op is ReduceOp.{kernels.OP_NAMES[op]}, but {tensor.dtype.name} numbers have no order")
    return op


# -- exchanges of tensors --------------------------------------------------------------------------------------------
def all_reduce(
    tensor: Tensor, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task | None:  # fmt: skip
    """Reduce a tensor over all processes, in place; every process receives the result.

    Arguments:
        tensor: the tensor, of the same shape and dtype in all processes.
        op: a ReduceOp: SUM, MAX, MIN, PROD or AVG.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Raises:
        RuntimeError: if a process has ended, or exchanges something else.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> loss = paddle.to_tensor(2.0)
        >>> task = paddle.distributed.all_reduce(loss); loss.item()
        2.0
    """
    if (among := member(group)) is None:
        return None
    return put(tensor, exchanged("all_reduce", tensor, among, _checked(op, tensor)))


def reduce(
    tensor: Tensor, dst: int = 0, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task | None:  # fmt: skip
    """Reduce a tensor over all processes, in place; process `dst` receives the result.

    Arguments:
        tensor: the tensor, of the same shape and dtype in all processes.
        dst: rank of the destination.
        op: a ReduceOp: SUM, MAX, MIN, PROD or AVG.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Raises:
        ValueError: if there is no process `dst`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> _ = paddle.distributed.reduce(x, dst=0, op=paddle.distributed.ReduceOp.MAX)
        >>> x.tolist()
        [1.0, 2.0]
    """
    if (among := member(group)) is None:
        return None
    found = exchanged("reduce", tensor, among, _checked(op, tensor), root := place("reduce", dst, among))
    return put(tensor, found) if among.rank == root else Task()


def broadcast(tensor: Tensor, src: int, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Copy the tensor of process `src` to all processes, in place.

    Arguments:
        tensor: the tensor, of the same shape and dtype in all processes.
        src: rank of the source.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Raises:
        ValueError: if there is no process `src`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> _ = paddle.distributed.broadcast(x, src=0)
        >>> x.tolist()
        [1.0, 2.0]
    """
    if (among := member(group)) is None:
        return None
    return put(tensor, exchanged("broadcast", tensor, among, place("broadcast", src, among)))


def all_gather(
    tensor_list: list[Tensor] | Tensor, tensor: Tensor, group: Group | None = None, sync_op: bool = True
) -> Task | None:
    """Gather the tensors of all processes in every process.

    Arguments:
        tensor_list: receives the tensors: an empty list, which is extended by one for each process, a list of as many
            tensors, or a tensor with one row block for each process.
        tensor: the tensor of this process.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> found = []
        >>> task = paddle.distributed.all_gather(found, paddle.ones([2])); len(found)
        1
    """
    if (among := member(group)) is None:
        return None
    return _deliver(tensor_list, exchanged("all_gather", tensor.detach(), among))


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0,
    group: Group | None = None, sync_op: bool = True,
) -> Task | None:  # fmt: skip
    """Gather the tensors of all processes in process `dst`.

    Arguments:
        tensor: the tensor of this process.
        gather_list: in process dst, a list that receives the tensors.
        dst: rank of the destination. Default: 0.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Raises:
        ValueError: if there is no process `dst`, or it gives no list.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> found = []
        >>> _ = paddle.distributed.gather(paddle.to_tensor([1.0]), found, dst=0)
        >>> [t.tolist() for t in found]
        [[1.0]]
    """
    if (among := member(group)) is None:
        return None
    root = place("gather", dst, among)
    if among.rank == root and gather_list is None:
        raise ValueError(f"gather: gather_list is None on rank {dst}, which gathers; expected a list")
    found = exchanged("gather", tensor.detach(), among, root)
    return _deliver(gather_list, found) if among.rank == root and gather_list is not None else Task()


def scatter(
    tensor: Tensor, tensor_list: Sequence[Tensor] | Tensor | None = None, src: int = 0,
    group: Group | None = None, sync_op: bool = True,
) -> Task | None:  # fmt: skip
    """Scatter tensors of process `src`: process i receives the i-th.

    Arguments:
        tensor: receives the tensor of this process.
        tensor_list: in process src, one tensor for each process.
        src: rank of the source. Default: 0.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Raises:
        ValueError: if there is no process `src`, or it has not one tensor for each process.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.zeros([2])
        >>> _ = paddle.distributed.scatter(x, [paddle.to_tensor([1.0, 2.0])], src=0)
        >>> x.tolist()
        [1.0, 2.0]
    """
    if (among := member(group)) is None:
        return None
    root = place("scatter", src, among)
    if among.rank == root:
        parts = _rows("scatter", tensor_list, tensor, among)
    else:
        parts = stack([tensor.detach()] * among.nranks).zero_()
    return put(tensor, exchanged("scatter", parts, among, root))


def reduce_scatter(
    tensor: Tensor, tensor_list: Sequence[Tensor] | Tensor, op: int = ReduceOp.SUM,
    group: Group | None = None, sync_op: bool = True,
) -> Task | None:  # fmt: skip
    """Reduce tensors over all processes and scatter the result: process i receives the reduction of the i-th tensors.

    Arguments:
        tensor: receives the result.
        tensor_list: one tensor for each process, or a tensor with one row block for each.
        op: a ReduceOp: SUM, MAX, MIN, PROD or AVG.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Raises:
        ValueError: if there is not one tensor for each process.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.zeros([2])
        >>> _ = paddle.distributed.reduce_scatter(x, [paddle.to_tensor([1.0, 2.0])])
        >>> x.tolist()
        [1.0, 2.0]
    """
    if (among := member(group)) is None:
        return None
    parts = _rows("reduce_scatter", tensor_list, tensor, among)
    return put(tensor, exchanged("reduce_scatter", parts, among, _checked(op, tensor)))


def alltoall(
    out_tensor_list: list[Tensor] | Tensor, in_tensor_list: Sequence[Tensor] | Tensor,
    group: Group | None = None, sync_op: bool = True,
) -> Task | None:  # fmt: skip
    """Exchange tensors: process i sends in_tensor_list[j] to process j and receives one tensor from each.

    Arguments:
        out_tensor_list: receives the tensors of all processes, by rank.
        in_tensor_list: the tensors for all processes, by rank.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Raises:
        ValueError: if there is not one tensor for each process.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> got = []
        >>> _ = paddle.distributed.alltoall(got, [paddle.to_tensor([1.0, 2.0])])
        >>> got[0].tolist()
        [1.0, 2.0]
    """
    if (among := member(group)) is None:
        return None
    shapes = None if isinstance(in_tensor_list, Tensor) else {tuple(t.shape) for t in in_tensor_list}
    if shapes is not None and len(shapes) > 1:
        return _all_to_all_of_sizes(out_tensor_list, list(in_tensor_list), among)
    parts = _rows("alltoall", in_tensor_list, None, among)
    found = exchanged("all_to_all", parts.detach(), among)
    if isinstance(out_tensor_list, Tensor):
        return put(out_tensor_list, found)
    return _deliver(out_tensor_list, found)


all_to_all = alltoall


def alltoall_single(
    out_tensor: Tensor, in_tensor: Tensor, in_split_sizes: list[int] | None = None,
    out_split_sizes: list[int] | None = None, group: Group | None = None, sync_op: bool = True,
) -> Task | None:  # fmt: skip
    """Exchange row blocks of a tensor: block j of process i goes to process j.

    Arguments:
        out_tensor: receives the blocks of all processes, one after the other.
        in_tensor: the blocks for all processes, one after the other.
        in_split_sizes: number of rows for each process; None: equal blocks.
        out_split_sizes: number of rows from each process; None: equal blocks.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> got, given = paddle.zeros([2]), paddle.to_tensor([1.0, 2.0])
        >>> _ = paddle.distributed.alltoall_single(got, given)
        >>> got.tolist()
        [1.0, 2.0]
    """
    if (among := member(group)) is None:
        return None
    if in_split_sizes is None and out_split_sizes is None:
        rows = in_tensor.detach().reshape([among.nranks, -1, *in_tensor.shape[1:]])
        return put(out_tensor, exchanged("all_to_all", rows, among))
    sizes = in_split_sizes or [in_tensor.shape[0] // among.nranks] * among.nranks
    expected = out_split_sizes or [out_tensor.shape[0] // among.nranks] * among.nranks
    taken: list[Tensor] = []
    starts = np.cumsum([0, *sizes])
    _all_to_all_of_sizes(
        taken, [in_tensor.detach()[int(a) : int(b)] for a, b in zip(starts, starts[1:], strict=False)], among
    )
    if [t.shape[0] for t in taken] != list(expected):
        raise ValueError(
            f"alltoall_single: out_split_sizes is {list(expected)}, but the processes sent "
            f"{[t.shape[0] for t in taken]} rows"
        )
    return put(out_tensor, concat(taken))


def barrier(group: Group | None = None) -> None:
    """Wait until all processes have called barrier().

    Arguments:
        group: the group of processes; None: all.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.barrier()
    """
    if (among := member(group)) is not None and among.nranks > 1:
        exchanged("all_reduce", to_tensor(np.zeros(1, np.float32)), among, ReduceOp.SUM).numpy()


@no_effect(tensor=_ORDER, group=_ORDER)
def wait(tensor: Tensor, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Wait until a tensor is computed; the device runs its work in order.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([2]) * 3.0
        >>> paddle.distributed.wait(x)
    """


# -- parts -----------------------------------------------------------------------------------------------------------
def _rows(name: str, parts: Sequence[Tensor] | Tensor | None, like: Tensor | None, group: Group) -> Tensor:
    """Return one tensor for each member, along a new first axis."""
    if isinstance(parts, Tensor):
        if not parts.shape or parts.shape[0] % group.nranks:
            raise ValueError(f"{name}: the shape {[*parts.shape]} cannot be divided among {group.nranks} processes")
        return parts.detach().reshape([group.nranks, -1, *parts.shape[1:]])
    if len(parts or ()) != group.nranks:
        raise ValueError(f"{name}: tensor_list has {len(parts or ())} tensors for {group.nranks} processes")
    shapes = [list(t.shape) for t in parts or ()]
    if like is not None and any(s != list(like.shape) for s in shapes):
        raise ValueError(f"{name}: tensor_list has tensors of the shapes {shapes} for one of {list(like.shape)}")
    return stack([t.detach() for t in parts or ()])


def _deliver(target: Any, rows: Tensor) -> Task:
    """Put the rows that came into a list or a tensor."""
    if isinstance(target, Tensor):
        return put(target, rows)
    if len(target) == rows.shape[0]:  # tensors that are there receive what came
        return [put(each, row) for each, row in zip(target, rows.unbind(0), strict=True)][-1]
    target.extend(row.clone() for row in rows.unbind(0))
    return Task()


def _all_to_all_of_sizes(out: Any, parts: list[Tensor], group: Group) -> Task:
    """all_to_all of parts of different sizes: each travels in the room of the largest, after its shape."""
    if len(parts) != group.nranks:
        raise ValueError(f"alltoall: there are {len(parts)} tensors for {group.nranks} processes")
    shapes = np.array([list(p.shape) for p in parts], np.int64)
    arriving = exchanged("all_to_all", to_tensor(shapes), group).numpy()
    biggest = np.array([max(int(p.size) for p in parts)], np.int64)
    room = int(exchanged("all_gather", to_tensor(biggest), group).numpy().max())
    flat = [concat([p.detach().reshape([-1]), _zeros(room - int(p.size), p)]) for p in parts]
    rows = exchanged("all_to_all", stack(flat), group)
    taken = [rows[i][: int(np.prod(s))].reshape(s.tolist()) for i, s in enumerate(arriving)]
    if isinstance(out, Tensor):
        return put(out, concat(taken))
    out.extend(taken)
    return Task()


def _zeros(n: int, like: Tensor) -> Tensor:
    return to_tensor(np.zeros(n, like.dtype.np))
