"""Ops whose attributes keep changing: `reshape(x, [n, -1])`, `arange(n)` and the like for ever-changing n.

Each value of an attribute is a bound op of its own, which would be traced and written down for NumPy for one call.
After a few of them the op is traced with the integers among its attributes left open; see host.open_sizes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

from ..core import small
from ..core.processes import divided_ops
from ..core.traced_number import kind
from ..host.open_sizes import OpenFunctions
from ..host.tier import OP_STEPS, write_open

Op: TypeAlias = Any
BoundOp: TypeAlias = Any
# A bound op that is called so often gets tiers of its own, which find what runs a call at once.
MAX_CALLS = 8
_NUMBERS = frozenset((float, int, bool))


class OpenAttributes:
    """The functions of an op for open attributes.

    Arguments:
        op: the op.
    """

    def __init__(self, op: Op) -> None:
        self._op = op
        self._open: OpenFunctions | None = None  # most ops never need it

    def find(
        self, bound: BoundOp, args: Sequence[Any], function: Callable[..., Any], *of: Any
    ) -> Callable[..., Any] | None:
        """Return what runs a function of a bound op for arrays like these; None where it is to have tiers of its own.

        Arguments:
            function: from a bound op, and `of`, to the function.
        """
        op = self._op
        if bound.calls >= MAX_CALLS or divided_ops or op.across is not None:
            return None
        form, numbers = opened(bound)
        if not numbers or not all(map(_is_small, args)):
            return None
        bound.calls += 1
        opened_dtypes = list[Any]()

        def make(given: Sequence[Any], numbers: Sequence[Any], sizes: Any) -> Callable[..., Any] | None:
            traced = jax.jit(function(with_sizes_open(bound, iter(numbers)), *of)).trace(*given)
            opened_dtypes.extend(_dtypes(traced.out_info))
            return write_open(traced, given, sizes, OP_STEPS)

        def trace(*args: Any) -> None:
            if _dtypes(jax.eval_shape(function(bound, *of), *args)) != opened_dtypes:
                raise TypeError(f"{op.name} asks whether an attribute is an integer")

        self._open = self._open or OpenFunctions(op.name)
        found = self._open.find(args, make, trace, numbers, (form, function.__name__, of))
        return None if found is None else functools.partial(found, numbers=numbers)


def opened(bound: BoundOp) -> tuple[Any, tuple[int, ...]]:
    """Return what distinguishes a bound op from those with other integers among the attributes, and these."""
    attrs = _with_sizes(bound.attrs, itertools.repeat(0))
    return (bound.op, attrs, tuple(map(kind, attrs)), bound.layout, bound.default), tuple(_sizes(bound.attrs))


def with_sizes_open(bound: BoundOp, sizes: Iterator[Any]) -> BoundOp:
    """Return a bound op with the next sizes in the place of its integers."""
    op, layout, default = bound.op, bound.layout, bound.default
    attrs = _with_sizes(bound.attrs, sizes)
    return bound.__class__(op, op.pure(attrs, layout, default), attrs, layout, default)


def _dtypes(results: Any) -> list[Any]:
    return [a.dtype for a in jax.tree.leaves(results)]


def _is_small(arg: Any) -> bool:
    return arg.__class__ in _NUMBERS or (arg.__class__ is np.ndarray and arg.size <= small.most())


def _sizes(value: Any) -> Iterator[int]:
    """Give the integers in an attribute, in order."""
    if value.__class__ is tuple:
        for v in value:
            yield from _sizes(v)
    elif value.__class__ is int:
        yield value


def _with_sizes(value: Any, sizes: Iterator[Any]) -> Any:
    """Return an attribute with other integers."""
    if value.__class__ is tuple:
        return tuple([_with_sizes(v, sizes) for v in value])
    return next(sizes) if value.__class__ is int else value
