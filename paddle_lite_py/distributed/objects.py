"""Collective communication of Python objects, as bytes."""

from __future__ import annotations

import pickle
from typing import Any, TypeVar

import numpy as np

from ..ops.convert import to_tensor
from .collective import exchanged, member, place
from .group import Group

T = TypeVar("T")


def to_bytes(obj: Any) -> np.ndarray:
    """Return an object as bytes."""
    return np.frombuffer(pickle.dumps(obj), np.uint8)


def from_bytes(data: np.ndarray) -> Any:
    """Return the object that bytes from a process of this job stand for."""
    return pickle.loads(data.tobytes())


def gathered(obj: Any, group: Group, *purpose: Any) -> list[Any]:
    """Return the objects of all members of a group, by their places in it.

    Arguments:
        obj: of this process.
        group: the group.
        purpose: what they are exchanged for, on which all members must agree: hashable.
    """
    if group.nranks == 1:
        return [from_bytes(to_bytes(obj))]
    data = to_bytes(obj)
    count = to_tensor(np.array([len(data)], np.int64))
    sizes = exchanged("all_gather of objects", count, group, *purpose).numpy().reshape(-1)
    room = 1 << max(int(sizes.max()) - 1, 1).bit_length()  # few sizes, few programs
    held = np.zeros(room, np.uint8)
    held[: len(data)] = data
    rows = exchanged("all_gather", to_tensor(held), group).numpy()
    return [from_bytes(row[:n]) for row, n in zip(rows, sizes, strict=True)]


def all_gather_object(object_list: list[T], obj: T, group: Group | None = None) -> None:
    """Gather picklable objects of all processes in every process.

    Arguments:
        object_list: a list, to which the objects of all processes are appended.
        obj: the object of this process.
        group: the group of processes; None: all.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> found = []
        >>> paddle.distributed.all_gather_object(found, {"hits": 3}); found
        [{'hits': 3}]
    """
    if (among := member(group)) is not None:
        object_list.extend(gathered(obj, among, "all_gather_object"))


def broadcast_object_list(object_list: list[Any], src: int, group: Group | None = None) -> None:
    """Copy the objects of process `src` to all processes, in place.

    Arguments:
        object_list: a list of picklable objects, of the same length in all processes.
        src: rank of the source.
        group: the group of processes; None: all.

    Raises:
        ValueError: if there is no process `src`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> found = [{"step": 3}, "text"]
        >>> paddle.distributed.broadcast_object_list(found, src=0)
        >>> found
        [{'step': 3}, 'text']
    """
    if (among := member(group)) is None:
        return
    root = place("broadcast_object_list", src, among)
    given = list(object_list) if among.rank == root else None
    object_list[:] = gathered(given, among, "broadcast_object_list", root)[root]


def scatter_object_list(
    out_object_list: list[Any], in_object_list: list[Any] | None = None, src: int = 0, group: Group | None = None
) -> None:
    """Scatter picklable objects of process `src`: process i receives the i-th.

    Arguments:
        out_object_list: a list that receives the object of this process.
        in_object_list: in process src, one object for each process.
        src: rank of the source. Default: 0.
        group: the group of processes; None: all.

    Raises:
        ValueError: if there is no process `src`, or it has not one object for each process.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> found = []
        >>> paddle.distributed.scatter_object_list(found, [{"files": ["a", "b"]}], src=0)
        >>> found
        [{'files': ['a', 'b']}]
    """
    if (among := member(group)) is None:
        return
    root = place("scatter_object_list", src, among)
    if among.rank == root and len(in_object_list or ()) != among.nranks:
        raise ValueError(
            f"scatter_object_list: in_object_list has {len(in_object_list or ())} objects for {among.nranks} processes"
        )
    given = in_object_list if among.rank == root else None
    out_object_list[:] = [gathered(given, among, "scatter_object_list", root)[root][among.rank]]
