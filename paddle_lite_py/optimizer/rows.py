"""Gradients of tables as rows: an update reads and writes the rows that a step has looked up, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from ..eager.tensor import Tensor
from ..ops.joining import concat

# Optimizers that leave a row alone whose gradient is zero, so that updating the others is all there is to do.
BY_ROWS = ("SGD", "Adagrad")


class RowsGradient(NamedTuple):
    """The gradient of a table, [rows, columns], where it is not zero.

    Arguments:
        ids: int64 [n], each once; those left over are `rows`, which is no row.
        values: [n, columns].
    """

    ids: Tensor
    values: Tensor


@op(name="merged_rows", grad=False)
def _merged(ids: Any, values: Any, /, rows: int, padding: int | None) -> Any:
    """Return each id once, with the sum of its values; what pads, and what is no row, is left out."""
    n = ids.shape[0]
    known = (ids >= 0) & (ids < rows)
    ids = jnp.where(known if padding is None else known & (ids != padding), ids, rows)
    order = jnp.argsort(ids)
    ordered = ids[order]
    first = jnp.concatenate([jnp.ones(1, bool), ordered[1:] != ordered[:-1]])[:n]
    place = jnp.cumsum(first) - 1
    summed = jax.ops.segment_sum(values[order], place, n, indices_are_sorted=True)
    return jnp.full(n, rows, ids.dtype).at[place].set(ordered), summed


@op(name="rows_taken", grad=False)
def _gather_rows(table: Any, ids: Any, /) -> Any:
    """Rows of a table."""
    return table.at[ids].get(mode="clip")


@op(name="rows_put", grad=False)
def _put(table: Any, ids: Any, rows: Any, /) -> Any:
    """Return a table with other rows."""
    return table.at[ids].set(rows, mode="drop")


def gradient_of(lookups: Sequence[tuple[Tensor, Tensor]], rows: int, padding: int | None) -> RowsGradient:
    """Return the gradient of a table, from the ids that were looked up and the gradients of what they gave."""
    ids = [i.reshape([-1]).astype("int64") for i, _ in lookups]
    columns = lookups[0][1].shape[-1]
    values = [g.reshape([-1, columns]) for _, g in lookups]
    merged: Any = _merged
    return RowsGradient(*merged(concat(ids, 0), concat(values, 0), rows=rows, padding=padding))


def split_rows(handles: list[Tensor], grads: list[Any]) -> list[Tensor]:
    """Return what an update changes, handle by handle in the order of parameters: of row-wise tables their rows."""
    fn: Any = _gather_rows
    return [h if g is None else fn(h, g.ids) for h, g in zip(handles, _by_handle(handles, grads), strict=True)]


def put(handles: list[Tensor], grads: list[Any], made: Sequence[Tensor]) -> list[Tensor]:
    """Return the same as a whole, after the update."""
    fn: Any = _put
    found = zip(handles, _by_handle(handles, grads), made, strict=True)
    return [new if g is None else fn(h, g.ids, new) for h, g, new in found]


def _by_handle(handles: list[Tensor], grads: list[Any]) -> list[RowsGradient | None]:
    """For each handle the gradient as rows of the parameter that it belongs to; scalars, at the end, belong to none."""
    rows = [g if isinstance(g, RowsGradient) else None for g in grads]
    each = len(handles) - len(handles) % len(grads) if len(handles) >= len(grads) else 0
    return [rows[k % len(grads)] if k < each else None for k in range(len(handles))]
