"""The share of a sparse table that lies on one server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .config import SparseConfig
from .entry import CLICKS, SHOWS, STATS, UNSEEN, Admission, score
from .hashing import PARTS, first_values
from .rows import RowStore
from .tiered import TieredRows
from .updates import first_state, numbers_of, state_columns, update_of


class Push(NamedTuple):
    """A push to a table.

    ids are distinct, uint64 [n]; gradients float32 [n, columns]; shows and clicks float32 [n]; the rate is the rule's
    if it is None; the moment (worker, number) tells pushes apart.
    """

    ids: np.ndarray
    gradients: np.ndarray
    shows: np.ndarray
    clicks: np.ndarray
    rate: float | None = None
    moment: tuple[int, int] = (0, 0)


class SparseTable:
    """Rows of weights, the optimizer's numbers and, where the config asks, statistics; and which ids wait for a row."""

    def __init__(self, config: SparseConfig, folder: str | None = None) -> None:
        self.config = config
        self._weights = config.columns + state_columns(config.rule, config.columns)  # with the optimizer's numbers
        width, limit = self._weights + (STATS if config.keeps_stats else 0), config.memory_rows
        self.rows = RowStore(width) if limit is None else TieredRows(width, limit, config.folder or folder)
        self._state = first_state(config.rule, config.columns)
        self._update = update_of(config.rule)
        self.admission = Admission(config.entry, config.seed) if config.entry is not None else None

    def __len__(self) -> int:
        return len(self.rows)

    def pull(self, ids: np.ndarray) -> np.ndarray:
        """The weights of distinct ids: float32 [n, columns]. Where any id may have a row, unknown ones get one."""
        rows = self.rows.find(ids) if self.admission else self._placed(ids)
        return self.rows.take(rows, self.config.columns)

    def push(self, push: Push) -> None:
        """Apply gradients. An id that gets its row with this push was read as zeros, and its gradient is dropped."""
        rows = self.rows.find(push.ids) if self.admission else self._placed(push.ids)
        self._update(self.rows.values, rows, push.gradients, numbers_of(self.config.rule, push.rate))
        if self.config.keeps_stats:
            self._count(rows, push)
        if self.admission:
            self._admit(rows < 0, push)

    def add(self, ids: np.ndarray, deltas: np.ndarray) -> None:
        """Add to weights; unknown ids get rows, whatever the entry rule."""
        rows = self._placed(ids)
        self.rows.values[rows, : self.config.columns] += deltas

    def shrink(self, parts: Sequence[int] = range(PARTS)) -> int:
        """Decay statistics, and delete what is worth too little or was not seen for long; how many rows that were."""
        if not self.config.keeps_stats and self.admission is None:
            return 0
        if self.admission is not None:
            self._shrink(self.admission.counted, 0, parts)
        return self._shrink(self.rows, self._weights, parts) if self.config.keeps_stats else 0

    def part(self, part: int) -> dict[str, np.ndarray]:
        """Return the content of one part of the table as arrays."""
        ids, values = self.rows.part(part)
        made = {"ids": ids, "values": values}
        if self.admission:
            made["counted_ids"], made["counted"] = self.admission.counted.part(part)
        return made

    def put(self, part: dict[str, np.ndarray]) -> None:
        """Take in what `part` gave, of this table or another one."""
        self.rows.put(part["ids"], part["values"])
        if self.admission and "counted_ids" in part:
            self.admission.counted.put(part["counted_ids"], part["counted"])

    def stats(self) -> dict[str, int]:
        """Return its size, for who watches."""
        waiting = len(self.admission.counted) if self.admission else 0
        return {"rows": len(self), "waiting": waiting, "bytes": self.rows.bytes}

    def _placed(self, ids: np.ndarray) -> np.ndarray:
        """Rows of ids; new ones get their first values."""
        rows, new_at = self.rows.place(ids)
        if len(new_at):
            values, columns, new = self.rows.values, self.config.columns, rows[new_at]
            values[new, :columns] = first_values(ids[new_at], columns, self.config.seed, self.config.initializer)
            values[new, columns : self._weights] = self._state
            values[new, self._weights :] = 0
        return rows

    def _count(self, rows: np.ndarray, push: Push) -> None:
        there = rows >= 0
        stats = self.rows.values[:, self._weights :]
        stats[rows[there], SHOWS] += push.shows[there]
        stats[rows[there], CLICKS] += push.clicks[there]
        stats[rows[there], UNSEEN] = 0

    def _admit(self, without: np.ndarray, push: Push) -> None:
        assert self.admission is not None
        ids = push.ids[without]
        if not len(ids):
            return
        ids = ids[self.admission.admitted(ids, push.shows[without], push.clicks[without], push.moment)]
        if len(ids):
            stats, rows = self.admission.leave(ids), self._placed(ids)
            if self.config.keeps_stats:
                self.rows.values[rows, self._weights :] = stats

    def _shrink(self, rows: RowStore, at: int, parts: Sequence[int]) -> int:
        """Shrink rows whose statistics begin at a column, part by part; how many are gone."""
        before = len(rows)
        for part in parts:
            ids, values = rows.part(part)
            stats = values[:, at : at + STATS]
            stats[:, :UNSEEN] *= np.float32(self.config.decay)
            stats[:, UNSEEN] += 1
            stale = self._stale(stats)
            rows.remove(ids[stale])
            rows.put(ids[~stale], values[~stale])
        return before - len(rows)

    def _stale(self, stats: np.ndarray) -> np.ndarray:
        config, stale = self.config, np.zeros(len(stats), bool)
        if config.delete_threshold is not None:
            stale |= score(stats, config.entry) < config.delete_threshold
        if config.delete_after_unseen_days is not None:
            stale |= stats[:, UNSEEN] > config.delete_after_unseen_days
        return stale
