"""Which parameters have the same scalar accumulators, because they were always updated together.

Then one number serves all of them, and XLA has one kernel for all parameters of a shape: with numbers of their own it
compiles a kernel for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.interpreter import layer_version


class SharedNumbers:
    """For each of n parameters a class: within one all have the same numbers."""

    def __init__(self, n: int) -> None:
        self.classes, self.single = [0] * n, True

    def updated(self, indices: Sequence[int]) -> None:
        """Called before these parameters are updated: they split from others of their class."""
        if self.single and len(indices) == len(self.classes):
            return
        chosen = set(indices)
        left = {c for i, c in enumerate(self.classes) if i not in chosen}
        first = max(self.classes) + 1
        self._take([first + c if i in chosen and c in left else c for i, c in enumerate(self.classes)])

    def compare(self, numbers: Sequence[Any]) -> None:
        """Called with all numbers, by accumulator, after some were set."""
        first = dict[tuple[float, ...], int]()
        rows = zip(*[v.tolist() for v in numbers], strict=True)
        self._take([first.setdefault(row, i) for i, row in enumerate(rows)])

    def _take(self, classes: list[int]) -> None:
        if classes != self.classes:
            self.classes, self.single = classes, len(set(classes)) == 1
            layer_version.number += 1  # so that programs look whether they still hold

    def same(self, indices: Sequence[int]) -> bool:
        """Whether these parameters have the same numbers."""
        return self.single or len({self.classes[i] for i in indices}) == 1


class Alike(NamedTuple):
    """A guard: some parameters have equal numbers."""

    shared: SharedNumbers
    indices: tuple[int, ...]
    name: str

    def holds(self) -> bool:
        """Whether it is so."""
        return self.shared.same(self.indices)

    def change(self) -> str:
        """Describe what changed."""
        return f"the parameters of {self.name} were updated together, and no longer are"
