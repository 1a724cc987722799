"""Random numbers of Python and NumPy that are drawn while a function is traced: a program draws them only once."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from paddle_lite_py.core.errors import user_frame, warn_user
from paddle_lite_py.core.interpreter import state as mode

from .at_run import is_repeated
from .errors import drawn_once
from .mutations import method_of_container

_KINDS = (np.random.Generator, np.random.RandomState, random.Random)
_DRAWS = {f: kind.__name__ for kind in _KINDS for f in vars(kind).values() if callable(f)}
_STILL = ("seed", "get_state", "set_state", "spawn", "getstate", "setstate")


class Drawn:
    """The random numbers that a function draws while it is traced.

    Attributes:
        lines: by line of the user's, what was drawn from.
    """

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}
        self._before = [(random, random.getstate()), (np.random, np.random.get_state())]

    def note(self, owner: Any, what: str) -> None:
        """Called before a number is drawn from a generator."""
        self.lines[str(user_frame())] = what
        if all(owner is not known for known, _ in self._before):
            self._before.append((owner, _state(owner)))

    def look(self) -> None:
        """Notes what was drawn past note(): by functions of the modules themselves."""
        if not self.lines and any(_differ(_state(owner), state) for owner, state in self._before):
            self.lines["a function that it calls"] = "the numbers of Python or NumPy"

    def put_back(self) -> None:
        """Leave all generators as they were."""
        for owner, state in self._before:
            if isinstance(owner, np.random.Generator):
                owner.bit_generator.state = state  # type: ignore[assignment]
            else:
                (owner.setstate if hasattr(owner, "setstate") else owner.set_state)(state)


_found: list[Drawn] = []  # of the traces under way


def drawing(f: Any) -> Callable[..., Any] | None:
    """Return the form of a method of a generator that tells what is drawn in a trace; None for any other function."""
    owner = getattr(f, "__self__", None)
    kind = type(owner).__name__ if isinstance(owner, _KINDS) else _DRAWS.get(f)
    if kind is None or f.__name__.startswith("_") or f.__name__ in _STILL:
        return None

    @functools.wraps(f)
    def draw(*args: Any, **kwargs: Any) -> Any:
        if _found and mode.interpreter.is_tracing:
            if is_repeated():
                raise drawn_once(f"{kind}.{f.__name__}()", user_frame())
            _found[-1].note(args[0] if owner is None else owner, f"{kind}.{f.__name__}()")
        return (_shuffle if f is random.Random.shuffle else f)(*args, **kwargs)

    return draw


def _shuffle(generator: random.Random, x: Any) -> None:
    """Shuffle as Random.shuffle() does; a list by a method of its own, which is noted as a change of it."""
    if not isinstance(x, list):
        return generator.shuffle(x)
    order = list(range(len(x)))
    generator.shuffle(order)
    places = iter(sorted(order, key=order.__getitem__))
    return method_of_container(x.sort)(key=lambda _: next(places))  # type: ignore[misc]


@contextmanager
def note_draws() -> Iterator[Drawn]:
    """Note the random numbers drawn in the block while a function is traced."""
    _found.append(Drawn())
    try:
        yield _found[-1]
        _found[-1].look()
    finally:
        _found.pop()


@contextmanager
def told(name: str) -> Iterator[None]:
    """Warns of what a traced function draws in the block.

    Arguments:
        name: of the function.
    """
    with note_draws() as found:
        yield
    for line, what in found.lines.items():
        warn_user(
            f"`{name}` draws from {what} at {line} while it is traced, and its program has the same numbers in each "
            "call. Draw with paddle (paddle.rand, paddle.randn, paddle.randint), or hand the numbers in as an argument"
        )


def _state(owner: Any) -> Any:
    if isinstance(owner, np.random.Generator):
        return owner.bit_generator.state
    return owner.getstate() if hasattr(owner, "getstate") else owner.get_state()


def _differ(a: Any, b: Any) -> bool:
    return any(not np.array_equal(x, y) for x, y in zip(a, b, strict=True))
