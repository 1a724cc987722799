"""Random numbers of a generator that is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..eager import random

__all__ = ["drawn", "initial_seed"]


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


def initial_seed() -> int:
    """Return the seed with which the random stream began.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> _ = paddle.seed(7)
        >>> paddle.compat.initial_seed()
        7
    """
    return random.default_generator.initial_seed()
