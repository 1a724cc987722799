"""Exchanges on a stream of the device, of which there is one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .. import collective, point_to_point


def _stream_form(
    exchange: Callable[..., collective.Task | None], **names: str
) -> Callable[..., collective.Task | None]:
    """Return an exchange with other names for some of its parameters, and one more for the stream."""
    found = inspect.signature(exchange)
    stream = inspect.Parameter("use_calc_stream", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False)
    shown = found.replace(parameters=[*[p.replace(name=names.get(n, n)) for n, p in found.parameters.items()], stream])
    own = dict(zip(shown.parameters, found.parameters, strict=False))

    @functools.wraps(exchange)
    def on_stream(*args: Any, **kwargs: Any) -> collective.Task | None:
        given = shown.bind(*args, **kwargs).arguments
        return exchange(**{own[n]: v for n, v in given.items() if n in own})

    on_stream.__signature__ = shown  # type: ignore[attr-defined]
    return on_stream


_PARTS = {"tensor_list": "tensor_or_tensor_list"}

all_gather = _stream_form(collective.all_gather, **_PARTS)
all_reduce = _stream_form(collective.all_reduce)
alltoall = _stream_form(
    collective.alltoall,
    out_tensor_list="out_tensor_or_tensor_list",
    in_tensor_list="in_tensor_or_tensor_list",
)
alltoall_single = _stream_form(
    collective.alltoall_single, in_split_sizes="out_split_sizes", out_split_sizes="in_split_sizes"
)
broadcast = _stream_form(collective.broadcast)
gather = _stream_form(collective.gather)
reduce = _stream_form(collective.reduce)
reduce_scatter = _stream_form(collective.reduce_scatter, **_PARTS)
scatter = _stream_form(collective.scatter, **_PARTS)
recv = _stream_form(point_to_point.recv)
send = _stream_form(point_to_point.send)
all_to_all = alltoall
