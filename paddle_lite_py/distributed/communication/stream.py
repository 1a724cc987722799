"""Exchanges on a stream of the device, of which there is one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import collective


def _streamed(exchange: Callable[..., collective.Task]) -> Callable[..., collective.Task]:
    @functools.wraps(exchange)
    def on_stream(*args: Any, use_calc_stream: bool = False, **kwargs: Any) -> collective.Task:
        return exchange(*args, **kwargs)

    return on_stream


all_gather = _streamed(collective.all_gather)
all_reduce = _streamed(collective.all_reduce)
alltoall = _streamed(collective.alltoall)
alltoall_single = _streamed(collective.alltoall_single)
broadcast = _streamed(collective.broadcast)
gather = _streamed(collective.gather)
reduce = _streamed(collective.reduce)
reduce_scatter = _streamed(collective.reduce_scatter)
scatter = _streamed(collective.scatter)
