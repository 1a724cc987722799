"""Where in its data a DataLoader is, so that training can go on there in another process."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..eager.random import default_generator

Drawn = tuple[int, Iterator[Any] | None]


class Position:
    """How many batches a pass has given, and the random state that it began with, which decides the order."""

    def __init__(self) -> None:
        self.given, self.skipped = 0, 0
        self._began: dict[str, Any] | None = None  # the random state, of a pass under way
        self._next: dict[str, Any] | None = None  # where the next pass is to begin

    def begin(self, draw: Callable[[], Drawn]) -> Drawn:
        """Return what an epoch draws; one that resumes another draws the same."""
        self.given = self.skipped = 0
        if self._next is None:
            self._began = random_state()
            return draw()
        begun, self._next = self._next, None
        now = random_state()
        set_random_state(begun["random"])
        self._began, self.given = begun["random"], begun["batches"]
        seed, indices = draw()
        if indices is not None:
            self.skipped = sum(1 for _ in itertools.islice(indices, self.given))
        set_random_state(now)
        return seed, indices

    def counted(self, batches: Iterator[Any], reread: bool) -> Iterator[Any]:
        """Yield the batches, counted; of a stream those that were given before are read again."""
        if reread:
            for _ in itertools.islice(batches, self.given):
                pass
        for batch in batches:
            self.given += 1
            yield batch
        self._began, self.given = None, 0

    def state_dict(self) -> dict[str, Any]:
        """Return the position, of arrays and numbers; empty between two passes."""
        if self._next is not None:
            return self._next
        return {} if self._began is None else {"batches": self.given, "random": self._began}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Begin the next pass there."""
        if state and not {"batches", "random"} <= state.keys():
            raise ValueError(f"DataLoader.load_state_dict: found {sorted(state)}; expected batches and random")
        self._next = {"batches": int(state["batches"]), "random": state["random"]} if state else None


def random_state() -> dict[str, Any]:
    """Return the state of the random streams that samplers draw from: paddle's, if it was seeded, and NumPy's."""
    kind, keys, *rest = np.random.get_state()
    own = np.asarray(default_generator.state._payload) if default_generator.seeded else np.zeros(0, np.uint32)
    return {"paddle": own, "numpy": [kind, np.asarray(keys), *map(float, rest)]}


def set_random_state(state: dict[str, Any]) -> None:
    """Draw on from a state that random_state() gave."""
    kind, keys, position, has, cached = state["numpy"]
    np.random.set_state((str(kind), np.asarray(keys, np.uint32), int(position), int(has), float(cached)))
    own = np.asarray(state["paddle"])
    default_generator.seeded = bool(own.size)
    if own.size:
        default_generator.set_state(own.astype(np.uint32))
