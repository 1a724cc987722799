"""Symbolic sizes that stand for known ones: what a program asks of them is answered for these, and noted.

JAX takes two symbolic sizes for unequal where it cannot tell, and raises an error where it cannot tell which is larger.
So a program with `n % 2 == 0` would be traced for odd sizes alone, in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from jax import export

from .. import symbolic
from ..memo import once


class SizeConditions:
    """What was found to hold of symbolic sizes.

    Arguments:
        sizes: what the symbols stand for. scope: theirs.

    Attributes:
        texts: conditions, in Python.
    """

    def __init__(self, sizes: Mapping[str, int], scope: Any) -> None:
        self.sizes, self.scope, self.texts = dict(sizes), scope, dict[str, None]()
        self._known: dict[Any, tuple[int, str]] = {}  # by size, since its text takes long to make and to read

    def serve(self, *sizes: Any) -> bool:
        """Whether sizes are of these symbols: JAX's caches also compare those of earlier traces, of the same names."""
        return all(not symbolic.is_symbolic(size) or size.scope is self.scope for size in sizes)

    def known(self, size: Any) -> tuple[int, str]:
        """Return what a size stands for, and its text."""
        found = self._known.get(size)
        if found is None:
            found = self._known[size] = symbolic.evaluate(size, self.sizes), symbolic.python_text(size)
        return found

    def is_zero(self, dim: Any) -> bool:
        """Whether a size is 0."""
        value, text = self.known(dim)
        self.texts[f"{text} != 0" if value else f"{text} == 0"] = None
        return value == 0

    def is_at_most(self, sizes: Sequence[Any], limit: Any) -> bool:
        """Whether the sum of some sizes is no more than another one."""
        open_ = [self.known(size) for size in sizes if symbolic.is_symbolic(size)]
        rest = sum([size for size in sizes if not symbolic.is_symbolic(size)])
        most, text = self.known(limit)
        found = rest + sum([n for n, _ in open_]) <= most
        total = f"sum(({', '.join([*[t for _, t in open_], str(rest)])},))"  # Python compiles no thousand additions
        self.texts[f"{total} {'<=' if found else '>'} {text}"] = None
        return found

    def hold(self, sizes: symbolic.Dims) -> bool:
        """Whether the same is found of other sizes, which may be symbols of a trace under way."""
        return all(eval(text, dict(symbolic.NAMES), sizes) for text in self.texts)


_conditions: ContextVar[SizeConditions | None] = ContextVar("size_conditions", default=None)


@contextmanager
def standing_for(sizes: Mapping[str, int], scope: Any) -> Iterator[SizeConditions]:
    """While a program is traced: its symbolic sizes, of one scope, stand for these."""
    _answer()
    conditions = SizeConditions(sizes, scope)
    token = _conditions.set(conditions)
    try:
        yield conditions
    finally:
        _conditions.reset(token)


def are_standing() -> bool:
    """Whether symbolic sizes stand for known ones."""
    return _conditions.get() is not None


def is_known(size: Any) -> bool:
    """Whether a size can be compared: a number, or a symbol that stands for one."""
    return isinstance(size, int) or (are_standing() and symbolic.is_symbolic(size))


def is_at_most(sizes: Sequence[Any], limit: int) -> bool:
    """Whether the sum of some sizes, which may be symbolic ones of the trace under way, is no more than a number.

    JAX would take long to add up many.
    """
    conditions = _conditions.get()
    return sum(sizes) <= limit if conditions is None else conditions.is_at_most(sizes, limit)


def stood_for(size: Any) -> int:
    """Return the known size that a size of the trace under way stands for; itself, if it is known."""
    conditions = _conditions.get()
    return size if conditions is None or isinstance(size, int) else conditions.known(size)[0]


# Key: once a process: it changes a class of JAX's.
@once
def _answer() -> bool:
    """Let comparisons of JAX's symbolic dimensions ask the conditions, where there are any."""
    dim: Any = type(export.symbolic_shape("n")[0])
    equal = dim.__eq__

    def is_equal(self: Any, other: Any) -> bool:
        found, conditions = equal(self, other), _conditions.get()
        if found or conditions is None or not isinstance(other, dim | int) or not conditions.serve(self, other):
            return found
        difference = self - other
        return symbolic.is_symbolic(difference) and conditions.is_zero(difference)

    def is_not_zero(self: Any) -> bool:
        conditions = _conditions.get()
        return conditions is None or not conditions.serve(self) or not conditions.is_zero(self)

    dim.__eq__, dim.__bool__ = is_equal, is_not_zero
    for name, (one, other, least) in _ORDER.items():
        setattr(dim, name, _ordering(getattr(dim, name), one, other, least))
    for name in ("max", "rmax", "min", "rmin"):
        setattr(dim, name, _choosing(getattr(dim, name), "max" in name))
    return True


# By the comparison x, y: of which x and y, as numbers 0 and 1, the first is at most the second one, after adding
# so much to the first one.
_ORDER = {"__le__": (0, 1, 0), "__ge__": (1, 0, 0), "__lt__": (0, 1, 1), "__gt__": (1, 0, 1)}


def _choosing(known: Callable[[Any, Any], Any], largest: bool) -> Callable[[Any, Any], Any]:
    """Return the choice of the larger or the smaller of two sizes: for JAX's own bounds it may take hours."""

    def choose(self: Any, other: Any) -> Any:
        conditions = _conditions.get()
        if conditions is None or not conditions.serve(self, other):
            return known(self, other)
        return self if (self >= other) == largest else other

    return choose


def _ordering(known: Callable[[Any, Any], bool], one: int, other: int, more: int) -> Callable[[Any, Any], bool]:
    def compare(*sizes: Any) -> bool:
        conditions = _conditions.get()
        if conditions is None or not conditions.serve(*sizes):
            return known(*sizes)
        return conditions.is_at_most([sizes[one], more], sizes[other])

    return compare
