"""Which ids get a row: what is known of those that have none yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .hashing import draws
from .rows import RowStore

# The counters of an id: shows, clicks, and calls of shrink in which it was not seen.
SHOWS, CLICKS, UNSEEN = range(3)
STATS = 3


class Admission:
    """Decides on ids without a row at each push, and remembers what it has counted of them.

    Args:
        entry: kind and numbers, as in a config.
        seed: of draws.
    """

    def __init__(self, entry: Mapping[str, Any], seed: int) -> None:
        self.entry, self.seed = entry, seed
        self.counted = RowStore(STATS)

    def admitted(self, ids: np.ndarray, shows: np.ndarray, clicks: np.ndarray, moment: tuple[int, int]) -> np.ndarray:
        """Which ids get a row now, and their statistics: (bool [n], float32 [n, 3]).

        Args:
            ids: distinct ids without a row, pushed now.
            shows: how often each was shown.
            clicks: how often each was clicked.
            moment: what tells this push from all others, for draws.
        """
        if self.entry["kind"] == "probability":
            return draws(ids, self.seed, *moment) < self.entry["probability"]
        rows, new_at = self.counted.place(ids)
        values = self.counted.values
        values[rows[new_at]] = 0
        values[rows, SHOWS] += shows
        values[rows, CLICKS] += clicks
        values[rows, UNSEEN] = 0
        return self._score(values[rows]) >= self._threshold()

    def leave(self, ids: np.ndarray) -> np.ndarray:
        """Forget ids that have got a row; what was counted of them: float32 [n, 3]."""
        if self.entry["kind"] == "probability":
            return np.zeros((len(ids), STATS), np.float32)
        stats = self.counted.take(self.counted.find(ids), STATS)
        self.counted.remove(ids)
        return stats

    def _threshold(self) -> float:
        return self.entry["count"] if self.entry["kind"] == "count_filter" else self.entry["threshold"]

    def _score(self, stats: np.ndarray) -> np.ndarray:
        return stats[:, SHOWS] if self.entry["kind"] == "count_filter" else score(stats, self.entry)


def score(stats: np.ndarray, entry: Mapping[str, Any] | None) -> np.ndarray:
    """Return the scores of rows: float32 [n], from their shows and clicks.

    Example:
        >>> score(np.array([[10, 2, 0]], np.float32), {"kind": "show_click", "nonclk_coeff": 0.5, "click_coeff": 3})
        array([10.], dtype=float32)
    """
    numbers = entry if entry is not None and entry["kind"] == "show_click" else {"nonclk_coeff": 0.1, "click_coeff": 1}
    without = (stats[:, SHOWS] - stats[:, CLICKS]) * np.float32(numbers["nonclk_coeff"])
    return without + stats[:, CLICKS] * np.float32(numbers["click_coeff"])
