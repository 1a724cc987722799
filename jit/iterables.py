"""The iterables of a staged `for`: a range with a traced bound, a tensor, and enumerate or zip of those."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import length_hint
from typing import Any

from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.symbolic import is_symbolic
from paddle_lite_py.core.unknown_size import extreme_size
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.tracing.sizes import size_of

from . import grown
from .errors import StagingError
from .staged import Staged


@dataclasses.dataclass(init=False, eq=False)
class StagedRange(Staged):
    """range() with a tensor among its arguments."""

    start: Any
    stop: Any
    step: Any

    def __init__(self, *args: Any) -> None:
        self.start, self.stop, self.step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]

    def length(self) -> Any:
        """Number of items: a tensor."""
        step = self.step
        if isinstance(step, Tensor):
            span = (self.stop - self.start + step - step.sign()) // step
        else:
            span = (self.stop - self.start + (step - 1 if step > 0 else step + 1)) // step
        return span.reshape([]).astype("int64").maximum(0)

    def item(self, i: Tensor) -> Any:
        """Return the i-th item, a whole number."""
        found = i * self.step + self.start
        if not isinstance(found, Tensor):
            return found
        found = found.item()
        found._payload.limit = self._limit()
        return found

    def _limit(self) -> Any:
        """Return a size that all items are below; None where it is not known, or an item may be below 0."""
        bounds = (self.start, self.stop, self.step)
        start, stop, step = (size_of(n._payload) if isinstance(n, Tensor) else n for n in bounds)
        if type(step) is not int or (type(start) is not int and type(stop) is not int):
            return None
        if step > 0 and type(start) is int and start >= 0:
            return stop
        return start + 1 if step < 0 and start is not None and type(stop) is int and stop >= -1 else None

    def settled(self) -> Any:
        """The range itself, once its numbers are known; see structure.unflatten."""
        return self if mode.interpreter.is_tracing else range(self.start, self.stop, self.step)


class StagedEnumerate(Staged):
    """enumerate() of something staged."""

    def __init__(self, iterable: Any, start: Any = 0) -> None:
        self.iterable, self.start = iterable, start

    def length(self) -> Any:
        """Number of items."""
        return length_of(self.iterable)

    def item(self, i: Tensor) -> Any:
        """Return the i-th pair."""
        number = i + self.start
        return number.item() if isinstance(number, Tensor) else number, item_of(self.iterable, i)


class StagedZip(Staged):
    """zip() with something staged among its arguments."""

    def __init__(self, *iterables: Any, strict: bool = False) -> None:
        # An iterator over something finite, such as reversed(), gives its items now.
        self.iterables = [x if hasattr(x, "__getitem__") or length_hint(x, -1) < 0 else list(x) for x in iterables]
        lengths = [length_of(x) for x in self.iterables] if strict else []
        if len({n for n in lengths if isinstance(n, int)}) > 1:
            raise ValueError(f"zip(strict=True): the arguments have different lengths: {', '.join(map(str, lengths))}")
        if not all(isinstance(n, int) for n in lengths):
            raise StagingError(
                "zip(strict=True) compares lengths that are known only when the program runs; leave it out"
            )

    def length(self) -> Any:
        """Number of items: that of the shortest."""
        lengths = [length_of(x) for x in self.iterables]
        out = lengths[0]
        for n in lengths[1:]:
            out = min(out, n) if isinstance(out, int) and isinstance(n, int) else _minimum(out, n)
        return out

    def item(self, i: Tensor) -> Any:
        """Return the i-th tuple."""
        return tuple([item_of(x, i) for x in self.iterables])


class StagedReversed(Staged):
    """reversed() of something staged."""

    def __init__(self, iterable: Any) -> None:
        self.iterable = iterable

    def length(self) -> Any:
        """Number of items."""
        return length_of(self.iterable)

    def item(self, i: Tensor) -> Any:
        """Return the i-th item from the end."""
        return item_of(self.iterable, (i * -1) + self.length() + -1)


class StagedMap(Staged):
    """map() over something staged."""

    def __init__(self, f: Callable[..., Any], *iterables: Any) -> None:
        self.f, self.zip = f, StagedZip(*iterables)

    def length(self) -> Any:
        """Number of items."""
        return self.zip.length()

    def item(self, i: Tensor) -> Any:
        """Return the i-th result."""
        return self.f(*self.zip.item(i))


class Rest(Staged):
    """Something staged without its first items."""

    def __init__(self, iterable: Any, start: int) -> None:
        self.iterable, self.start = iterable, start

    def length(self) -> Any:
        """Number of items that are left."""
        length = length_of(self.iterable)
        if is_symbolic(length):
            return length - self.start
        return max(length - self.start, 0) if isinstance(length, int) else (length - self.start).maximum(0)

    def item(self, i: Any) -> Any:
        """Return the i-th of them."""
        return item_of(self.iterable, i + self.start)


def is_staged(x: Any) -> bool:
    """True for a tensor with a first dimension, the staged iterables, and a list that has grown in a staged loop."""
    return isinstance(x, Staged | Tensor) or grown.holds(x)


def length_of(x: Any) -> Any:
    """Number of items: an int where it is known."""
    if isinstance(x, Staged):
        return x.length()
    if grown.holds(x):
        return grown.length(x)
    if isinstance(x, Tensor):
        if not x.ndim:
            raise TypeError("a 0-D tensor cannot be iterated over; to loop that many times, use range(n)")
        return x.shape[0]
    if hasattr(x, "__len__") and hasattr(x, "__getitem__"):
        return len(x)
    raise StagingError(
        f"zip() of a tensor with a {type(x).__name__}: its items have no numbers to be looked up by when the program "
        "runs; make it a list or a tensor"
    )


LONGEST = 1024  # longer ones are loops at run time


def elements(x: Any) -> Any:
    """Return the items of a comprehension's iterable as a list, if their number is known and not too large."""
    if not is_staged(x):
        return x
    x = grown.GrownList(x) if grown.holds(x) else x
    length = length_of(x)
    return [item_of(x, i) for i in range(length)] if isinstance(length, int) and length <= LONGEST else x


def item_of(x: Any, i: Any) -> Any:
    """Return the i-th item; i may be traced."""
    if isinstance(x, Staged):
        return x.item(i)
    if grown.holds(x):
        return grown.item(x, i)
    if isinstance(x, Tensor):
        return x[i]
    if isinstance(i, int):
        return x[i]
    if isinstance(x, range):
        return i * x.step + x.start
    return _stack(x)[i]


def _stack(items: Any) -> Tensor:
    from paddle_lite_py.ops.joining import stack

    if not all(isinstance(v, Tensor) for v in items):
        raise StagingError(
            f"a list that is looped over together with a tensor must hold tensors of one shape, not "
            f"{', '.join(sorted({type(v).__name__ for v in items}))}: make them tensors with paddle.to_tensor"
        )
    return stack(list(items))


def _minimum(a: Any, b: Any) -> Any:
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return extreme_size("min", a, b)
    return a.minimum(b) if isinstance(a, Tensor) else b.minimum(a)
