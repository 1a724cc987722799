"""Random numbers: a generator whose state is a tensor, so that eager code and Programs draw the same stream."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from ..core.arrays import as_array, is_array
from ..core.interpreter import state
from ..core.no_effect import ONE_STREAM, no_effect
from .tensor import Tensor, wrap


class Generator:
    """A stream of random numbers: a seed and a counter that each draw advances.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> g = paddle.Generator(seed=3)
        >>> g.initial_seed()
        3
    """

    @no_effect(device=ONE_STREAM)
    def __init__(self, device: Any = None, *, seed: int | None = None) -> None:
        self._seed = secrets.randbits(32) if seed is None else seed
        self.seeded = seed is not None
        self.drawn_in_traces = 0
        self.state = wrap(_word(self._seed))
        self.state.name = "random_state"
        self.state.persistable = True

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream at a seed."""
        self._seed = int(seed)
        self.seeded = True
        self.drawn_in_traces = 0
        self.state._set_payload(_word(self._seed))
        return self

    def initial_seed(self) -> int:
        """The seed it was started with."""
        return self._seed

    def get_state(self) -> Tensor:
        """Return a copy of the state."""
        return self.state.clone()  # in a program, the state that a run finds

    def set_state(self, value: Any) -> None:
        """Continue from a state that get_state() gave."""
        self.state.set_value(value)


def _word(seed: int) -> Any:
    return as_array(np.array([seed & 0xFFFFFFFF, 0], np.uint32))


default_generator = Generator()


def host_draw(generator: Generator | None = None) -> np.random.Generator:
    """NumPy's generator for one draw on the host (initial weights, shuffling), keyed by the next word of the stream."""
    state.interpreter.begins("a draw of random numbers by Python")
    stream = generator or default_generator
    word = stream.state._payload
    if not is_array(word):  # inside a trace that has drawn already
        stream.drawn_in_traces += 1
        return np.random.default_rng([stream.initial_seed(), 1 << 32, stream.drawn_in_traces])
    seed, counter = (int(n) for n in np.asarray(word))
    # Not _set_payload: the draw is made now, not in each run of a program under construction.
    stream.state._payload = as_array(np.array([seed, counter + 1], np.uint32))
    return np.random.default_rng([seed, counter])


def seed(seed: int) -> Generator:
    """Start the random stream of this process at a seed.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> _ = paddle.seed(1); a = paddle.rand([2])
        >>> _ = paddle.seed(1); bool((paddle.rand([2]) == a).all())
        True
    """
    return default_generator.manual_seed(seed)


@no_effect(device=ONE_STREAM)
def get_rng_state(device: Any = None) -> list[Tensor]:
    """State of the random stream, for set_rng_state.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> state = paddle.get_rng_state(); a = paddle.rand([2])
        >>> paddle.set_rng_state(state); bool((paddle.rand([2]) == a).all())
        True
    """
    return [default_generator.get_state()]


@no_effect(device=ONE_STREAM)
def set_rng_state(state_list: list[Tensor], device: Any = None) -> None:
    """Continue the random stream from a saved state.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> state = paddle.get_rng_state(); a = paddle.rand([2])
        >>> paddle.set_rng_state(state); bool((paddle.rand([2]) == a).all())
        True
    """
    default_generator.set_state(state_list[0])
