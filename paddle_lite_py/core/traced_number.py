"""A Python number that a program takes as an input: it changes from call to call, and no program is traced for it.

While a program is traced, a `Number` stands for such an argument. Arithmetic on it is done in Python again before each
run, so it is exact; where it meets a tensor, it becomes an input of the program. Whatever else Python asks of it (a
comparison, an index, its text) is answered with its value now, and noted as seen: the program then serves only calls
for which the answer is the same.
"""

from __future__ import annotations

import functools
import math
import operator
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

ScalarInputs = tuple[Any, ...]

# In a tuple, what equals one of these is the same.
_TOLD = frozenset((int, str, type(None), tuple))


def kind(value: Any) -> Any:
    """Return what distinguishes a value from its equals: its class, the sign of a zero, the same for a tuple's items.

    Example:
        >>> kind(1) == kind(True), kind(0.0) == kind(-0.0), kind((1, 2)) == kind((1.0, 2.0))
        (False, False, False)
    """
    of = value.__class__
    if of is float:
        return of if value else value.hex()
    if of is complex:
        return repr(value)
    if of is not tuple and not isinstance(value, tuple):
        return of
    kinds = tuple(map(kind, value))
    return of if _TOLD.issuperset(kinds) else (of, *kinds)


def same(a: Any, b: Any) -> bool:
    """Equal and of one kind.

    Example:
        >>> same(0.0, 0.0), same(0.0, -0.0), same(1, 1.0)
        (True, False, False)
    """
    return type(a) is type(b) and bool(a == b) and (bool(a) or kind(a) == kind(b))


class ScalarGuard(NamedTuple):
    """A guard on a number that a trace read: a function of the call's numbers, and its value at that time."""

    of: Callable[[ScalarInputs], Any]
    value: Any

    @property
    def cause(self) -> str:
        """Why the program does not serve, where it does not hold."""
        return f"a number among the arguments, which decides what the program is, was {self.value!r} when traced"

    def holds(self, given: ScalarInputs) -> bool:
        """True if these numbers show the same."""
        try:
            now = self.of(given)
        except ArithmeticError:
            return False
        return same(now, self.value)


class _Call(threading.local):
    numbers: ScalarInputs = ()


# The numbers of the call under way, which the inputs of a program are computed from.
call = _Call()


@contextmanager
def of_call(numbers: ScalarInputs) -> Iterator[None]:
    """For the block these are the numbers of the call under way."""
    before, call.numbers = call.numbers, numbers
    try:
        yield
    finally:
        call.numbers = before


class TracedNumber:
    """An int or float argument under trace."""

    __slots__ = ("of", "seen", "value")

    def __init__(self, of: Callable[[ScalarInputs], Any], value: Any, seen: list[ScalarGuard]) -> None:
        self.of, self.value, self.seen = of, value, seen

    def get(self) -> Any:
        """Return its value in the call under way."""
        return self.of(call.numbers)

    def settle(self) -> Any:
        """Return its value while traced, on which the program depends from here on."""
        self.seen.append(ScalarGuard(self.of, self.value))
        return self.value

    def apply(self, f: Callable[..., Any], *others: Any) -> Any:
        """Return the number f(self, *others); its type is seen, since the program depends on it."""
        value, of = f(self.value, *others), self.of
        if type(value) not in (int, float):
            return f(self.settle(), *others)
        return _make_number(lambda given: f(of(given), *others), value, self.seen)

    def __hash__(self) -> int:
        return hash(self.settle())

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.settle(), dtype)

    def __getattr__(self, name: str) -> Any:
        has = hasattr(self.value, name)  # as all numbers of its type
        return getattr(self.settle() if has else self.value, name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """int or float, as isinstance() asks."""
        return type(self.value)


def applied(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """f(*args), where some of the arguments are Numbers: one too, or an answer that is seen."""

    def of(given: ScalarInputs) -> Any:
        return f(*[a.of(given) if type(a) is TracedNumber else a for a in args])

    value = f(*[a.value if type(a) is TracedNumber else a for a in args])
    seen: list[ScalarGuard] = next(a.seen for a in args if type(a) is TracedNumber)
    if type(value) in (int, float):
        return _make_number(of, value, seen)
    seen.append(ScalarGuard(of, value))
    return value


def plain(value: Any) -> Any:
    """Return the value itself, where it is a Number: for what must be known while a program is traced."""
    return value.settle() if type(value) is TracedNumber else value


def current(value: Any) -> Any:
    """Return the value, of a Number that of the call under way."""
    return value.get() if type(value) is TracedNumber else value


def _binary(f: Callable[..., Any], reverse: bool) -> Callable[[TracedNumber, Any], Any]:
    """Arithmetic: lazy between numbers."""

    def method(self: TracedNumber, other: Any) -> Any:
        if type(other) is TracedNumber:
            return _combine(f, other, self) if reverse else _combine(f, self, other)
        if type(other) not in (int, float, bool):
            return NotImplemented
        return self.apply((lambda a, b: f(b, a)) if reverse else f, other)

    return method


def _combine(f: Callable[..., Any], a: TracedNumber, b: TracedNumber) -> Any:
    value, of_a, of_b = f(a.value, b.value), a.of, b.of
    if type(value) not in (int, float):
        return f(a.settle(), b.settle())
    return _make_number(lambda given: f(of_a(given), of_b(given)), value, a.seen)


def _make_number(of: Callable[[ScalarInputs], Any], value: Any, seen: list[ScalarGuard]) -> TracedNumber:
    seen.append(ScalarGuard(lambda given: type(of(given)), type(value)))  # int or float: the program depends on that
    return TracedNumber(of, value, seen)


def _settling(f: Callable[..., Any], reverse: bool) -> Callable[[TracedNumber, Any], Any]:
    """Return an operation on the value as it is now."""

    def method(self: TracedNumber, other: Any) -> Any:
        a, b = self.settle(), plain(other)
        return f(b, a) if reverse else f(a, b)

    return method


def _compared(f: Callable[..., Any]) -> Callable[[TracedNumber, Any], Any]:
    """Return a comparison, of which only the answer is seen."""

    def method(self: TracedNumber, other: Any) -> Any:
        if type(other) is not TracedNumber and not isinstance(other, int | float | complex | str | bytes | None):
            return NotImplemented
        return applied(f, (self, other))

    return method


def _observing(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a question about the value, of which only the answer is seen."""

    def method(self: TracedNumber, *args: Any) -> Any:
        of, out = self.of, f(self.value, *args)
        self.seen.append(ScalarGuard(lambda given: f(of(given), *args), out))
        return out

    return method


_ARITHMETIC = "add sub mul truediv floordiv mod pow"
_BITS = "and_ or_ xor lshift rshift"
_QUESTIONS: dict[str, Callable[..., Any]] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "index": operator.index, "str": str, "repr": repr,
    "format": format, "round": round, "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil,
}  # fmt: skip


def _install() -> None:
    for name in _ARITHMETIC.split():
        setattr(TracedNumber, f"__{name}__", _binary(getattr(operator, name), False))
        setattr(TracedNumber, f"__r{name}__", _binary(getattr(operator, name), True))
    for name, f in [*((n.strip("_"), getattr(operator, n)) for n in _BITS.split()), ("divmod", divmod)]:
        setattr(TracedNumber, f"__{name}__", _settling(f, False))
        setattr(TracedNumber, f"__r{name}__", _settling(f, True))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(TracedNumber, f"__{name}__", _compared(getattr(operator, name)))
    for name in ("neg", "pos", "abs"):
        setattr(TracedNumber, f"__{name}__", functools.partialmethod(TracedNumber.apply, getattr(operator, name)))
    for name, f in _QUESTIONS.items():
        setattr(TracedNumber, f"__{name}__", _observing(f))


_install()
