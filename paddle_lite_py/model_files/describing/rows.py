"""Rows of operators that programs look for by the name that they were called by, where files have a simpler form."""

from __future__ import annotations

from typing import Any

from ...core.symbolic import has_symbolic
from ..writing.emitter import Emitter, Unwritable
from ..writing.pir_text import FileValue
from ..writing.rows import detection, elementwise, indexing, layers, library, places, recurrent, shaping, table  # noqa: F401  (they enter their rows)
from ..writing.rows.table import row

ROWS: dict[str, Any] = dict(table.ROWS)


def _axes(axis: Any) -> list[int]:
    return [] if axis is None else [axis] if isinstance(axis, int) else list(axis)


@row("reshape", table=ROWS)
def reshape(w: Emitter, x: Any, shape: Any) -> FileValue:
    if has_symbolic(shape):
        return w.reshape(x, w.out[0].shape)
    return w.op("reshape", x, w.ints(shape), to=w.out[0])


@row("squeeze", table=ROWS)
def squeeze(w: Emitter, x: Any, axis: Any) -> FileValue:
    return w.op("squeeze", x, w.ints(_axes(axis)), to=w.out[0])


@row("unsqueeze", table=ROWS)
def unsqueeze(w: Emitter, x: Any, axis: Any) -> FileValue:
    return w.op("unsqueeze", x, w.ints(_axes(axis)), to=w.out[0])


@row("flatten", table=ROWS)
def flatten(w: Emitter, x: Any, start_axis: int, stop_axis: int) -> FileValue:
    n = len(x.type.shape)
    return w.op("flatten", x, to=w.out[0], start_axis=start_axis % n, stop_axis=stop_axis % n)


@row("_split", table=ROWS)
def split(w: Emitter, x: Any, parts: Any, axis: int) -> tuple[FileValue, ...]:
    at = w.number(axis % len(x.type.shape))
    if isinstance(parts, int):
        return tuple(w.items(w.op("split_with_num", x, at, to=list(w.out), num=parts)))
    if has_symbolic(tuple(parts)):
        raise Unwritable("sizes that are not known")
    return tuple(w.items(w.op("split", x, w.ints(parts), at, to=list(w.out))))


@row("square_error_cost", table=ROWS)
def square_error_cost(w: Emitter, x: Any, y: Any) -> FileValue:
    return w.op("square", w.op("subtract", x, y, to=w.out[0]))


@row("_mul", table=ROWS)
def mul(w: Emitter, x: Any, y: Any, x_num_col_dims: int) -> FileValue:
    return w.op("mul", x, y, to=w.out[0], x_num_col_dims=x_num_col_dims, y_num_col_dims=1)


@row("_add_along", table=ROWS)
def add_along(w: Emitter, x: Any, y: Any, axis: int) -> FileValue:
    return w.op("elementwise_add", x, y, axis=axis)
