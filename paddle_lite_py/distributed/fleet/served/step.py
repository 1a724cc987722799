"""The gradients of a training step for the servers, as rows of tables and as one array of the dense part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...ps.sums import sum_rows


class IdRows(NamedTuple):
    """Some rows of a table, each id once.

    Arguments:
        ids: int64 [n].
        values: gradients, or changes: float32 [n, columns].
        shows, clicks: how often each id was shown and clicked, float32 [n]; None: nobody counts.
    """

    ids: np.ndarray
    values: np.ndarray
    shows: np.ndarray | None = None
    clicks: np.ndarray | None = None

    def part(self, wanted: np.ndarray) -> IdRows:
        """Some of them, by a mask."""
        counts = [None if c is None else c[wanted] for c in (self.shows, self.clicks)]
        return IdRows(self.ids[wanted], self.values[wanted], *counts)


class Gradients(NamedTuple):
    """Gradients of a step.

    Arguments:
        sparse: by table.
        dense: of the dense parameters, one after another.
        rate: the learning rate.
        own: gives the state that the worker alone has after it.
    """

    sparse: dict[str, IdRows]
    dense: np.ndarray | None
    rate: float
    own: Callable[[], Mapping[str, np.ndarray]] | None = None


def merged(parts: Sequence[IdRows]) -> IdRows:
    """IdRows of several, each id once: what they have for it is added, in their order.

    Examples:
        >>> rows = [IdRows(np.array([7, 3]), np.ones([2, 1])), IdRows(np.array([7]), np.ones([1, 1]))]
        >>> merged(rows).ids.tolist(), merged(rows).values.tolist()
        ([3, 7], [[1.0], [2.0]])
    """
    ids, place = np.unique(np.concatenate([p.ids for p in parts]), return_inverse=True)
    values = np.concatenate([p.values for p in parts])
    out = sum_rows(np.ascontiguousarray(values, np.float32), place, len(ids))
    if any(p.shows is None for p in parts):
        return IdRows(ids, out)
    counts = [np.bincount(place, np.concatenate([p[i] for p in parts]), len(ids)).astype(np.float32) for i in (2, 3)]
    return IdRows(ids, out, *counts)


def mean(steps: Sequence[Gradients]) -> Gradients:
    """Return the mean of several steps; shows and clicks are added up."""
    count = np.float32(len(steps))
    tables = {name for step in steps for name in step.sparse}
    sparse = {}
    for name in sorted(tables):
        rows = merged([step.sparse[name] for step in steps if name in step.sparse])
        sparse[name] = rows._replace(values=rows.values / count)
    dense = [step.dense for step in steps if step.dense is not None]
    total = sum(dense[1:], start=dense[0]) / count if dense else None
    return Gradients(sparse, total, steps[-1].rate, steps[-1].own)
