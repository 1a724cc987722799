"""An unknown dimension as code sees it: `x.shape[0]` of a tensor whose size no trace may take for known.

A dimension of JAX answers `n == 4` with False where it cannot tell, refuses `n > 4`, and has no float. An `UnknownSize`
asks the trace, which knows the sizes of the call under way: what it answers is noted, and the program serves such calls
only.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import jax
from jax import export

from .interpreter import state
from .symbolic import is_symbolic

# JAX's class of dimensions, which all of JAX accepts: an UnknownSize is a subclass.
_DIMENSION: Any = type(export.symbolic_shape("n")[0])


class UnknownSize(_DIMENSION):
    """A dimension that asks the trace under way for what it cannot tell by itself."""

    __slots__ = ()
    __hash__ = _DIMENSION.__hash__

    @classmethod
    def of(cls, dim: Any) -> Any:
        """Return a dimension as a UnknownSize; a number as it is."""
        if dim.__class__ is not _DIMENSION or state.interpreter.size_answers is None:
            return dim
        made = copy.copy(dim)
        made.__class__ = cls
        return made

    def plain(self) -> Any:
        """JAX's own dimension."""
        made = copy.copy(self)
        made.__class__ = _DIMENSION
        return made

    def number(self) -> Any:
        """Return the size as a traced number."""
        return state.interpreter.size_answers.number(self.plain())

    def __index__(self) -> int:
        return int(state.interpreter.size_answers.wanted(self.plain()))

    __int__ = __index__

    def __float__(self) -> float:
        return float(state.interpreter.size_answers.wanted(self.plain()))


class Shape(tuple[Any, ...]):
    """A shape with unknown dimensions."""

    __slots__ = ()

    def listed(self) -> list[Any]:
        """Return the sizes as code sees them."""
        return [UnknownSize.of(n) for n in self]


def plain(value: Any) -> Any:
    """JAX's own dimension in the place of a UnknownSize."""
    return value.plain() if value.__class__ is UnknownSize else value


def extreme_size(name: str, a: Any, b: Any) -> Any:
    """Return the "min" or "max" of two sizes."""
    choose = jax.core.min_dim if name == "min" else jax.core.max_dim
    return UnknownSize.of(choose(plain(a), plain(b)))


def are_equal(sizes: list[Any], others: Any) -> Any:
    """Whether sizes are the same; in a program that serves any, that may be a condition."""
    if len(sizes) != len(others):
        return False
    conditions = []
    for a, b in zip(sizes, others, strict=True):
        same = a is b or a == b
        if not isinstance(same, bool):
            conditions.append(same)
        elif not same:
            return False
    return state.interpreter.size_answers.all_of(conditions) if conditions else True


def _compared(name: str) -> Callable[[UnknownSize, Any], Any]:
    compare = getattr(operator, name)

    def method(self: UnknownSize, other: Any) -> Any:
        if not isinstance(other, int) and not is_symbolic(other):
            return compare(self.number(), other) if isinstance(other, float) else NotImplemented
        sizes = state.interpreter.size_answers
        a, b = self.plain(), plain(other)
        return getattr(a, f"__{name}__")(b) if sizes is None else sizes.compare(name, a, b)

    return method


def _arithmetic(name: str) -> Callable[..., Any]:
    whole = getattr(_DIMENSION, name)
    of_numbers = getattr(operator, name.strip("_").removeprefix("r"))

    def method(self: UnknownSize, *others: Any) -> Any:
        if any(isinstance(o, float) for o in others):
            pair = (self.number(), *others)
            return of_numbers(*(pair[::-1] if name.startswith("__r") else pair))
        if others and not isinstance(others[0], int) and not is_symbolic(others[0]):
            return NotImplemented
        return UnknownSize.of(whole(self.plain(), *map(plain, others)))

    return method


def _division(reverse: bool) -> Callable[[UnknownSize, Any], Any]:
    def method(self: UnknownSize, other: Any) -> Any:
        if not isinstance(other, int | float) and not is_symbolic(other):
            return NotImplemented
        a, b = (x.number() if isinstance(x, UnknownSize) else x for x in ((other, self) if reverse else (self, other)))
        return a / b

    return method


def _install() -> None:
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(UnknownSize, f"__{name}__", _compared(name))
    for name in ("add", "sub", "mul", "floordiv", "mod"):
        setattr(UnknownSize, f"__{name}__", _arithmetic(f"__{name}__"))
        setattr(UnknownSize, f"__r{name}__", _arithmetic(f"__r{name}__"))
    UnknownSize.__divmod__ = lambda self, other: (self // other, self % other)
    UnknownSize.__rdivmod__ = lambda self, other: (other // self, other % self)
    UnknownSize.__neg__ = _arithmetic("__neg__")
    UnknownSize.__pow__ = _arithmetic("__pow__")
    UnknownSize.__truediv__ = _division(False)
    UnknownSize.__rtruediv__ = _division(True)


_install()
