"""A dense table: one array, and the optimizer's numbers beside it."""

from __future__ import annotations

import numpy as np

from .config import DenseConfig
from .updates import first_state, numbers_of, update_of


class DenseTable:
    """An array of which the optimizer sees one long row."""

    def __init__(self, config: DenseConfig) -> None:
        self.config = config
        self._size = int(np.prod(config.shape, dtype=np.int64))
        zeros = np.zeros(self._size, np.float32)
        self._row = np.concatenate([zeros, first_state(config.rule, self._size)])[None]
        self._update = update_of(config.rule)

    @property
    def value(self) -> np.ndarray:
        """The array, as a view."""
        return self._row[0, : self._size].reshape(self.config.shape)

    def push(self, gradient: np.ndarray, rate: float | None = None) -> None:
        """Apply a gradient."""
        numbers = numbers_of(self.config.rule, rate)
        self._update(self._row, np.zeros(1, np.int32), gradient.reshape(1, -1), numbers)

    def add(self, delta: np.ndarray) -> None:
        """Add to the array."""
        self.value[...] += delta

    def set(self, value: np.ndarray) -> None:
        """Give the array other numbers; the optimizer's stay."""
        self.value[...] = value

    def part(self, part: int = 0) -> dict[str, np.ndarray]:
        """All of it, as arrays: it is one part."""
        return {"values": self._row.copy()}

    def put(self, part: dict[str, np.ndarray]) -> None:
        """Take in what `part` gave."""
        self._row[...] = part["values"]

    def stats(self) -> dict[str, int]:
        """Its size, for who watches."""
        return {"numbers": self._size, "bytes": self._row.nbytes}
