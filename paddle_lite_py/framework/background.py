"""paddle.async_save: files that are written while training goes on."""

from __future__ import annotations

import atexit
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..core.memo import once
from ..ops.dynamic import is_eager
from .io import UnsavableError, packed, save

__all__ = ["async_save", "clear_async_save_task_queue"]

_under_way: deque[Future[None]] = deque()


def async_save(obj: Any, path: Any, protocol: int = 4, sync_other_task: bool = False, **configs: Any) -> None:
    """Save a state_dict or tensor in the background, like paddle.save(); later changes do not affect the file.

    Arguments:
        obj: a state_dict or a tensor.
        path: path of the file, or a file object.
        protocol: pickle protocol, 2 to 5. Default: 4.
        sync_other_task: wait first until earlier files are written. Default: False.
        configs: further arguments of paddle.save().

    Raises:
        UnsavableError: if obj has another type.
        ValueError: in static mode.
        Exception: the error of an earlier file that could not be written.

    Examples:
        >>> import tempfile, paddle_lite_py as paddle
        >>> path = tempfile.mkdtemp() + "/net.pdparams"
        >>> paddle.async_save(paddle.nn.Linear(2, 3).state_dict(), path)
        >>> paddle.clear_async_save_task_queue()
        >>> sorted(paddle.load(path))
        ['bias', 'weight']
    """
    if not is_eager():
        raise ValueError("paddle.async_save: tensors of a program have no data; call it in dynamic mode")
    if not isinstance(obj, dict) and not hasattr(obj, "_payload"):
        raise UnsavableError(f"paddle.async_save: obj is a {type(obj).__name__}; expected a state_dict or a tensor")
    while _under_way and (sync_other_task or _under_way[0].done()):
        _under_way.popleft().result()
    _finish_at_exit()
    _under_way.append(_writer().submit(save, packed(obj), path, protocol, **configs))


def clear_async_save_task_queue() -> None:
    """Wait until all files of async_save() are written.

    Raises:
        Exception: the error of a file that could not be written.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.clear_async_save_task_queue()
    """
    while _under_way:
        _under_way.popleft().result()


@once
def _writer() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "async_save")


@once
def _finish_at_exit() -> None:
    atexit.register(clear_async_save_task_queue)
