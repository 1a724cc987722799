"""Random numbers of a generator that is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.no_effect import Immaterial, no_effect
from ..eager import random

__all__ = ["drawn", "fork_rng", "initial_seed"]


def drawn(generator: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function that draws random numbers, with the stream of a generator, which advances.

    Arguments:
        generator: a paddle.Generator; None: the stream that paddle.seed() begins.
        function: what draws, such as paddle.rand, or a method such as x.normal_.
        args, kwargs: its arguments.

    Returns:
        What the function gives.

    Raises:
        TypeError: the generator is something else.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> a, b = (paddle.compat.drawn(paddle.Generator(seed=3), paddle.rand, [2]) for _ in range(2))
        >>> bool((a == b).all())
        True
    """
    if generator is None:
        return function(*args, **kwargs)
    if not isinstance(generator, random.Generator):
        raise TypeError(f"drawn: generator is a {type(generator).__name__}; expected a paddle.Generator, or None")
    own, given = vars(random.default_generator), vars(generator)
    kept = {**own}
    own.update(given)
    try:
        return function(*args, **kwargs)
    finally:
        given.update(own)
        own.update(kept)


@contextmanager
@no_effect(
    devices=Immaterial("all devices share one random stream"),
    device_type=Immaterial("all devices share one random stream"),
)
def fork_rng(devices: Any = None, enabled: bool = True, device_type: str = "cpu") -> Iterator[None]:
    """Restore the random stream at the end of a block, as if nothing had been drawn in it.

    Arguments:
        devices: no effect: all devices share one random stream.
        enabled: False: leave the stream alone. Default: True.
        device_type: no effect.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.compat.fork_rng():
        ...     a = paddle.rand([2])
        >>> bool((paddle.rand([2]) == a).all())
        True
    """
    kept = random.get_rng_state() if enabled else None
    try:
        yield
    finally:
        if kept is not None:
            random.set_rng_state(kept)


def initial_seed() -> int:
    """Return the seed with which the random stream began.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> _ = paddle.seed(7)
        >>> paddle.compat.initial_seed()
        7
    """
    return random.default_generator.initial_seed()
