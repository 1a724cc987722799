"""What a run of a program must be asked afterwards: did a check fail, did a loop have room to record its gradient?"""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from . import control
from .program import Value
from .tensor import wrap


def told(entry: dict[str, str]) -> BaseException:
    """The error that Checks.texts() wrote of."""
    kind = getattr(builtins, entry["type"], RuntimeError)
    usable = inspect.isclass(kind) and issubclass(kind, Exception)
    return (kind if usable else RuntimeError)(entry["text"])


class Checks:
    """The asserts and raises of a program, by number; the code is 0 while none has failed."""

    def __init__(self) -> None:
        self.code = wrap(jax.numpy.zeros((), jax.numpy.int32))
        self._errors: list[tuple[Callable[[], BaseException], Any]] = []

    @classmethod
    def of(cls, texts: Sequence[dict[str, str]], where: Any) -> Checks:
        """Those that texts() wrote of, for a program called `where`."""
        out = cls()
        for entry in texts:
            out.add(functools.partial(told, entry), where)
        return out

    def add(self, error: Callable[[], BaseException], where: Any) -> int:
        """Number of a new check."""
        self._errors.append((error, where))
        return len(self._errors)

    def texts(self) -> list[dict[str, str]]:
        """Type and text of each error, for a file."""
        return [{"type": type(e).__name__, "text": str(e)} for e in (make() for make, _ in self._errors)]

    def failure(self, number: int) -> BaseException:
        """The error of the check that failed."""
        make, where = self._errors[number - 1]
        error = make()
        error.add_note(f"raised by the static program for {where}: {getattr(where, 'source', '')}".rstrip(": "))
        return error


class Presence(NamedTuple):
    """When a variable that only some path defines is there: a flag, and the error of reading it where it is not."""

    flag: Value
    error: Callable[[], BaseException]
    where: Any


class Room:
    """The capacity that the loops of a program share, and the largest number of iterations that a run needed."""

    def __init__(self) -> None:
        self.capacity = control.Capacity()
        self.needed = wrap(jax.numpy.zeros((), jax.numpy.int32))


class Cleared(NamedTuple):
    """A gradient that clear_grad() cleared while a program was traced; `held` is what was there before."""

    held: Any
