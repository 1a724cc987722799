"""Starting a function in each process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def spawn(
    func: Callable[..., Any], args: Iterable[Any] = (), nprocs: int = -1, join: bool = True, daemon: bool = False,
    **options: Any,
) -> None:  # fmt: skip
    """Call a function as each process does: here, since this process is the one that there is.

    Args:
        func: what each process runs.
        args: its arguments.
        nprocs: how many processes; 1 or -1, for what there is.
        join, daemon, options: accepted for compatibility.

    Raises:
        NotImplementedError: if nprocs is above 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.spawn(print, args=("trained",))
        trained
    """
    if nprocs > 1:
        raise NotImplementedError(f"spawn: nprocs is {nprocs}; training runs in one process: give nprocs=1")
    func(*args)
