"""Streams of random numbers by name, which processes share or keep for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ....core.no_effect import Immaterial, no_effect
from ....eager import random
from ..current import hybrid_group

__all__ = ["RNGStatesTracker", "get_rng_state_tracker", "model_parallel_random_seed"]


class RNGStatesTracker:
    """Streams of random numbers by name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> tracker = paddle.distributed.fleet.meta_parallel.RNGStatesTracker()
        >>> tracker.add("own", 7)
        >>> with tracker.rng_state("own"):
        ...     x = paddle.rand([2])
    """

    def __init__(self) -> None:
        self.states_: dict[str, list[Any]] = {}
        self.seeds_: set[int] = set()

    def reset(self) -> None:
        """Forget all streams."""
        self.states_, self.seeds_ = {}, set()

    def add(self, name: str, seed: int) -> None:
        """Start a stream at a seed.

        Raises:
            ValueError: if there is one of that name, or at that seed, which would draw the same numbers.
        """
        if name in self.states_:
            raise ValueError(f"RNGStatesTracker.add: there is a stream {name!r} already; reset() forgets all")
        if seed in self.seeds_:
            raise ValueError(
                f"RNGStatesTracker.add: a stream has been started at seed {seed} already; give another one"
            )
        self.seeds_.add(seed)
        before = random.get_rng_state()
        random.seed(seed)
        self.states_[name] = random.get_rng_state()
        random.set_rng_state(before)

    @contextmanager
    def rng_state(self, name: str = "model_parallel_rng") -> Iterator[None]:
        """Draw from the stream in the block; from that of the process where there is none of the name."""
        if name not in self.states_:
            yield
            return
        before = random.get_rng_state()
        random.set_rng_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = random.get_rng_state()
            random.set_rng_state(before)


_tracker = RNGStatesTracker()


@contextmanager
@no_effect(more=Immaterial("there is one state of a process's own"))
def switch_rng_state_tracker(rng_state: Any, tracker: Any, *more: Any) -> Iterator[None]:
    """Draw from other streams in the block: this state of the process's own, and those of a tracker by name."""
    before, held = random.get_rng_state(), _tracker.states_
    random.set_rng_state(rng_state)
    _tracker.states_ = tracker
    try:
        yield
    finally:
        random.set_rng_state(before)
        _tracker.states_ = held


def get_rng_state_tracker() -> RNGStatesTracker:
    """Return the streams of this process."""
    return _tracker


def model_parallel_random_seed(seed: int = 0) -> None:
    """Start the streams of this process at a seed: one that all processes have, and one of each part of a layer.

    Arguments:
        seed: the same in all processes.
    """
    random.seed(seed)
    _tracker.reset()
    _tracker.add("model_parallel_rng", seed + 1024 * hybrid_group().get_model_parallel_rank())
