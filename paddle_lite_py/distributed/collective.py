"""What processes say to each other. There is one, so that each hears what it said itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..eager.tensor import Tensor
from ..ops.joining import concat
from .group import Group, ReduceOp


class Task:
    """An exchange that is over.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.barrier(); paddle.distributed.all_reduce(paddle.ones([2])).is_completed()
        True
    """

    def wait(self, timeout: Any = None) -> bool:
        """True: there is nothing to wait for."""
        return True

    synchronize = wait

    def is_completed(self) -> bool:
        """True: it is over."""
        return True


def _alone(name: str, rank: int | None) -> None:
    if rank not in (0, None):
        raise ValueError(f"{name}: there is no process of rank {rank}; there is one, of rank 0")


def all_reduce(
    tensor: Tensor, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task:  # fmt: skip
    """Reduce a tensor over all processes, in place: with one process it stays what it is.

    Args:
        tensor: of any shape and dtype.
        op: a `ReduceOp`.
        group, sync_op: who takes part, and whether to wait.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> loss = paddle.to_tensor(2.0)
        >>> task = paddle.distributed.all_reduce(loss); loss.item()
        2.0
    """
    return Task()


def reduce(
    tensor: Tensor, dst: int, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task:  # fmt: skip
    """Reduce a tensor over all processes, in place, for the process `dst`.

    Raises:
        ValueError: if there is no process `dst`.
    """
    _alone("reduce", dst)
    return Task()


def broadcast(tensor: Tensor, src: int, group: Group | None = None, sync_op: bool = True) -> Task:
    """Give all processes the tensor of `src`, in place.

    Raises:
        ValueError: if there is no process `src`.
    """
    _alone("broadcast", src)
    return Task()


def broadcast_object_list(object_list: list[Any], src: int, group: Group | None = None) -> None:
    """Give all processes the objects of `src`, in place.

    Raises:
        ValueError: if there is no process `src`.
    """
    _alone("broadcast_object_list", src)


def all_gather(
    tensor_list: list[Tensor] | Tensor, tensor: Tensor, group: Group | None = None, sync_op: bool = True
) -> Task:
    """The tensors of all processes.

    Args:
        tensor_list: takes them: a list, which grows by one for each process, or a tensor that holds them in rows.
        tensor: that of this process.
        group, sync_op: who takes part, and whether to wait.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> found = []
        >>> task = paddle.distributed.all_gather(found, paddle.ones([2])); len(found)
        1
    """
    if isinstance(tensor_list, Tensor):
        return _into(tensor_list, tensor)
    tensor_list.append(tensor.clone())
    return Task()


def all_gather_object(object_list: list[Any], obj: Any, group: Group | None = None) -> None:
    """The objects of all processes, put into the list.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> found = []
        >>> paddle.distributed.all_gather_object(found, {"hits": 3}); found
        [{'hits': 3}]
    """
    object_list.append(obj)


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0,
    group: Group | None = None, sync_op: bool = True,
) -> Task:  # fmt: skip
    """The tensors of all processes, put into the list of the process `dst`.

    Raises:
        ValueError: if there is no process `dst`.
    """
    _alone("gather", dst)
    if gather_list is not None:
        gather_list.append(tensor.clone())
    return Task()


def scatter(
    tensor: Tensor, tensor_list: Sequence[Tensor] | Tensor | None = None, src: int = 0,
    group: Group | None = None, sync_op: bool = True,
) -> Task:  # fmt: skip
    """Take the tensor that `src` has for this process, in place.

    Raises:
        ValueError: if there is no process `src`.
    """
    _alone("scatter", src)
    return Task() if tensor_list is None else _into(tensor, _whole(tensor_list))


def scatter_object_list(
    out_object_list: list[Any], in_object_list: list[Any] | None = None, src: int = 0, group: Group | None = None
) -> None:
    """Take the objects that `src` has for this process.

    Raises:
        ValueError: if there is no process `src`.
    """
    _alone("scatter_object_list", src)
    out_object_list[:] = in_object_list or []


def reduce_scatter(
    tensor: Tensor, tensor_list: Sequence[Tensor] | Tensor, op: int = ReduceOp.SUM,
    group: Group | None = None, sync_op: bool = True,
) -> Task:  # fmt: skip
    """Reduce over all processes, and take the share of this one, in place."""
    return _into(tensor, _whole(tensor_list))


def alltoall(
    out_tensor_list: list[Tensor] | Tensor, in_tensor_list: Sequence[Tensor] | Tensor,
    group: Group | None = None, sync_op: bool = True,
) -> Task:  # fmt: skip
    """Each process gives each a tensor."""
    if isinstance(out_tensor_list, Tensor):
        return _into(out_tensor_list, _whole(in_tensor_list))
    out_tensor_list.extend(t.clone() for t in in_tensor_list)
    return Task()


all_to_all = alltoall


def alltoall_single(
    out_tensor: Tensor, in_tensor: Tensor, in_split_sizes: list[int] | None = None,
    out_split_sizes: list[int] | None = None, group: Group | None = None, sync_op: bool = True,
) -> Task:  # fmt: skip
    """Each process gives each a part of its tensor."""
    return _into(out_tensor, in_tensor)


def barrier(group: Group | None = None) -> None:
    """Wait until all processes are here."""


def wait(tensor: Tensor, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Wait until the tensor is computed, by the device's own order."""


def _whole(parts: Sequence[Tensor] | Tensor) -> Tensor:
    return parts if isinstance(parts, Tensor) else concat(list(parts), axis=0)


def _into(tensor: Tensor, value: Tensor) -> Task:
    tensor.set_value(value.reshape(tensor.shape).detach())
    return Task()
