"""Point-to-point communication: tensors arrive in the order in which they were sent; a sender does not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.arrays import from_host
from ..core.dtypes import DType
from ..eager.pending import Failed, Pending, payload_of
from ..eager.tensor import Tensor
from .collective import Task, member, place
from .exchange import exchanges
from .group import Group
from .messenger import PeerGone
from .objects import from_bytes, to_bytes


class Transfer(Task):
    """A tensor that is received in the background: a reader waits for it.

    Arguments:
        tensor: receives it.
        work: gives the array once it has come.
    """

    def __init__(self, tensor: Tensor, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work = work
        self._error: Exception | None = None
        data = payload_of(tensor)
        self._pending = Pending(self, 0, tuple(data.shape), data.dtype)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        tensor._set_payload(self._pending)

    def _run(self) -> None:
        try:
            self._found = self._work()
        except Exception as e:
            self._error = e
            self._found = Failed(e)

    def look(self) -> None:
        """Wait for the array, and give it to the tensor; errors are raised at readers."""
        self._thread.join()
        self._pending.array = self._found

    def wait(self, timeout: Any = None) -> bool:
        """Wait until it is over; True.

        Raises:
            RuntimeError: if the other process has ended.
            ValueError: if what came does not fit the tensor.
        """
        self._thread.join(timeout)
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()

    synchronize = wait

    def is_completed(self) -> bool:
        """Whether it is over."""
        return not self._thread.is_alive()


def _peer(name: str, rank: int, group: Group | None) -> Group | None:
    among = member(group)
    if among is None:
        return None
    place(name, rank, among)
    if rank == among.get_global_rank(among.rank):
        raise ValueError(f"{name}: rank {rank} is this process; give the rank of another")
    return among


def isend(tensor: Tensor, dst: int, group: Group | None = None) -> Task | None:
    """Start to send a tensor to process `dst`.

    Arguments:
        tensor: the tensor; later changes are not sent.
        dst: rank of the destination.
        group: the group of processes; None: all.

    Returns:
        A Task; call wait() on it before reading the result.

    Raises:
        ValueError: if there is no process `dst`.
        RuntimeError: if it has ended.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist, x = paddle.distributed, paddle.ones([2])
        >>> rank = dist.get_rank()
        >>> if dist.get_world_size() == 2:
        ...     dist.isend(x, dst=1).wait() if rank == 0 else dist.irecv(x, src=0).wait()
    """
    if (among := _peer("send", dst, group)) is None:
        return None
    try:
        exchanges().messenger.send(dst, among.id, tensor.numpy())
    except PeerGone as e:
        raise RuntimeError(f"send({tensor.dtype.name}{[*tensor.shape]}, dst={dst}): {e}") from None
    return Task()


def irecv(tensor: Tensor, src: int | None = None, group: Group | None = None) -> Task | None:
    """Start to receive a tensor from process `src`; it is available after wait().

    Arguments:
        tensor: receives the data; of the shape and dtype of the sent tensor.
        src: rank of the source.
        group: the group of processes; None: all.

    Returns:
        A Task; call wait() on it before reading the result.

    Raises:
        ValueError: if there is no process `src`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist, x = paddle.distributed, paddle.ones([2])
        >>> rank = dist.get_rank()
        >>> if dist.get_world_size() == 2:
        ...     dist.isend(x, dst=1).wait() if rank == 0 else dist.irecv(x, src=0).wait()
    """
    source = 0 if src is None else src
    if (among := _peer("recv", source, group)) is None:
        return None
    before = _last.get((among.id, source))

    kind, shape = tensor.dtype, [*tensor.shape]

    def take() -> Any:
        if before is not None:
            before.wait()
        return from_host(_receive(kind, shape, source, among))

    transfer = _last[among.id, source] = Transfer(tensor, take)
    return transfer


# The last transfer from each process: messages are taken in the order of their receives.
_last: dict[tuple[int, int], Transfer] = {}


def _receive(kind: DType, shape: list[int], source: int, group: Group) -> np.ndarray:
    what = f"recv({kind.name}{shape}, src={source})"
    try:
        found = exchanges().messenger.receive(source, group.id, group.patience)
    except (PeerGone, TimeoutError) as e:
        raise RuntimeError(f"{what}: {e}") from None
    if list(found.shape) != shape or found.dtype != kind.np:
        raise ValueError(f"{what}: rank {source} has sent {found.dtype.name}{list(found.shape)}")
    return found


def send(tensor: Tensor, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Send a tensor to process `dst`; see isend().

    Arguments:
        tensor: the tensor.
        dst: rank of the destination. Default: 0.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist, x = paddle.distributed, paddle.ones([2])
        >>> rank = dist.get_rank()
        >>> if dist.get_world_size() == 2:
        ...     dist.send(x, dst=1) if rank == 0 else dist.recv(x, src=0)
    """
    return isend(tensor, dst, group)


def recv(tensor: Tensor, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Receive a tensor from process `src`, in place; see irecv().

    Arguments:
        tensor: receives the data; of the shape and dtype of the sent tensor.
        src: rank of the source. Default: 0.
        group: the group of processes; None: all.
        sync_op: wait for the result; the device runs its work in order either way. Default: True.

    Returns:
        A Task; call wait() on it before reading the result.

    Raises:
        RuntimeError: if the process has ended.
        ValueError: if what came does not fit the tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist, x = paddle.distributed, paddle.ones([2])
        >>> rank = dist.get_rank()
        >>> if dist.get_world_size() == 2:
        ...     dist.send(x, dst=1) if rank == 0 else dist.recv(x, src=0)
    """
    task = irecv(tensor, src, group)
    if task is not None and sync_op:
        task.wait()
    return task


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Group | None = None, dst_in_group: int | None = None
) -> None:
    """Send picklable objects to another process.

    Arguments:
        object_list: the objects.
        dst: rank of the destination among all processes.
        group: the group of processes; None: all.
        dst_in_group: rank of the destination in the group, instead of dst.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist, found = paddle.distributed, [{"step": 3}]
        >>> if dist.get_world_size() == 2:
        ...     dist.send_object_list(found, dst=1) if dist.get_rank() == 0 else dist.recv_object_list(found, src=0)
    """
    target = _by_place("send_object_list", dst, group, dst_in_group)
    if (among := _peer("send_object_list", target, group)) is not None:
        exchanges().messenger.send(target, among.id, to_bytes(object_list))


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Group | None = None, src_in_group: int | None = None
) -> None:
    """Receive picklable objects from another process, in place.

    Arguments:
        object_list: a list that receives the objects.
        src: rank of the source among all processes.
        group: the group of processes; None: all.
        src_in_group: rank of the source in the group, instead of src.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist, found = paddle.distributed, [None]
        >>> if dist.get_world_size() == 2:
        ...     dist.send_object_list(["a"], dst=1) if dist.get_rank() == 0 else dist.recv_object_list(found, src=0)
    """
    source = _by_place("recv_object_list", src, group, src_in_group)
    if (among := _peer("recv_object_list", source, group)) is not None:
        object_list[:] = from_bytes(exchanges().messenger.receive(source, among.id, among.patience))


def _by_place(name: str, rank: int | None, group: Group | None, at: int | None) -> int:
    if at is not None and group is not None:
        return group.get_global_rank(at)
    if rank is None:
        raise ValueError(f"{name}: neither a rank nor a place in a group is given")
    return rank


class P2POp:
    """Description of one send or receive, for batch_isend_irecv().

    Arguments:
        op: isend or irecv.
        tensor: the tensor to send, or the one that receives.
        peer: rank of the other process.
        group: the group of processes; None: all.

    Raises:
        RuntimeError: if `op` is neither.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist, x = paddle.distributed, paddle.ones([2])
        >>> operation = dist.P2POp(dist.isend, x, peer=1)
        >>> operation.peer
        1
    """

    def __init__(self, op: Callable[..., Any], tensor: Tensor, peer: int, group: Group | None = None) -> None:
        if op not in (isend, irecv):
            raise RuntimeError(f"P2POp: op is {op!r}; expected paddle.distributed.isend or paddle.distributed.irecv")
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group


@contextmanager
def _coalescing_manager(group: Group | None = None, tasks: Any = None) -> Iterator[Any]:
    """A block of sends and receives; each begins when it is called."""
    yield tasks


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Task]:
    """Start several sends and receives together.

    Arguments:
        p2p_op_list: a list of P2POp.

    Returns:
        A list of Tasks.

    Raises:
        RuntimeError: if the list is empty or contains anything else.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist, x, got = paddle.distributed, paddle.ones([2]), paddle.zeros([2])
        >>> other = 1 - dist.get_rank()
        >>> operations = [dist.P2POp(dist.isend, x, other), dist.P2POp(dist.irecv, got, other)]
        >>> if dist.get_world_size() == 2:
        ...     for task in dist.batch_isend_irecv(operations):
        ...         task.wait()
    """
    if not p2p_op_list or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise RuntimeError("batch_isend_irecv: p2p_op_list must be a list of P2POp, of at least one")
    tasks = [p.op(p.tensor, p.peer, p.group) for p in p2p_op_list]
    return [t for t in tasks if t is not None]
