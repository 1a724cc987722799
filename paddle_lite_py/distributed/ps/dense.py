"""A dense table: one array, and the optimizer's state next to it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .config import DenseConfig
from .updates import first_state, numbers_of, update_of


class DenseTable:
    """An array of which the optimizer sees one long row. Servers that it does not lie on never fill it."""

    def __init__(self, config: DenseConfig) -> None:
        self.config = config
        self._size = int(np.prod(config.shape, dtype=np.int64))
        self._update = update_of(config.rule)

    @cached_property
    def _row(self) -> np.ndarray:
        return np.concatenate([np.zeros(self._size, np.float32), first_state(self.config.rule, self._size)])[None]

    @property
    def _filled(self) -> bool:
        return "_row" in self.__dict__

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
        """Return all of it, as arrays: it is one part, the first."""
        return {"values": self._row.copy()} if self._filled and part == 0 else {}

    def put(self, part: dict[str, np.ndarray]) -> None:
        """Take in what `part` gave."""
        if part:
            self._row[...] = part["values"]

    def stats(self) -> dict[str, int]:
        """Return its size, for who watches."""
        return {"numbers": self._size, "bytes": self._row.nbytes} if self._filled else {"numbers": 0, "bytes": 0}
