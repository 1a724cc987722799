"""Programs of eager ops that differ in sizes alone: after a few of them NumPy runs one whose sizes are open.

A training loop over sentences has a new program for each length: arrays have other shapes, and ops such as `reshape`
other attributes. To trace a program and write it down for NumPy takes ten times as long as to run it once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from ..core.jax_compat.versions import warn_unknown
from ..cpu_compiler import may_warm, size, warm_seconds
from ..host.baseline import baseline
from ..host.open_sizes import OpenFunctions
from ..registry.bound import BoundOp
from ..registry.open_attributes import opened, with_sizes_open
from . import tape
from .execute import NUMBERS
from .recorded_ops import Arrays, BackwardStep, CallStep, Steps, TracedSteps

# Fewer than of an op: the second one may be an epoch's last batch, but to leave its sizes open takes little longer than
# to trace it.
TRACED_FIRST = 1
_open = OpenFunctions("programs of eager ops", TRACED_FIRST)
# The other way to run these, with what a backward keeps, takes four times as long as to leave their sizes open.
_looks = OpenFunctions("eager ops that go on waiting", 1)


def find_open(
    steps: Steps, outside: Arrays, results: tuple[int, ...], dtypes: Sequence[Any], is_look: bool
) -> Callable[[], tuple[dict[int, Any], dict[int, Any]] | None] | None:
    """Return what runs steps on arrays like these as LazyProgram.run() does, if programs like it keep changing sizes.

    Arguments:
        results: by number. dtypes: theirs. is_look: whether the steps go on waiting.
    """
    if not may_warm():
        return None
    numbers = list[int]()
    try:
        form = tuple([_with(s, functools.partial(_form, numbers), functools.partial(_leaf, numbers)) for s in steps])
    except _UnopenedError:
        return None

    def make(given: Sequence[Any], sizes: Sequence[Any], places: Any) -> Callable[..., Any] | None:
        return _make(steps, results, dtypes, given, iter(sizes), places)

    # Not the arrays: who is about to overwrite some asks whether anything else holds them, as frames of an error would.
    specs = [a if a.__class__ in NUMBERS else jax.ShapeDtypeStruct(a.shape, a.dtype) for a in outside]
    made = (_looks if is_look else _open).find(specs, make, lambda *_: None, tuple(numbers), (form, results))
    if made is None:
        return None

    def run() -> tuple[dict[int, Any], dict[int, Any]] | None:
        try:
            return dict(zip(results, made(*outside, numbers=numbers), strict=True)), {}
        except Exception as e:  # no error of an op, which has looked at its arguments before
            warn_unknown("a program of open sizes", e)
            return None

    return run


def forget_open_with(bound: BoundOp) -> None:
    """Drop the programs with an op that comes no more."""
    for kept in (_open, _looks):
        kept.forget(lambda of: any(isinstance(s, CallStep) and s.bound is bound for s in of[0]))


class _UnopenedError(Exception):
    pass


def _with(
    step: CallStep | BackwardStep, bound_as: Callable[[BoundOp], Any], leaf_as: Callable[[Any], Any]
) -> CallStep | BackwardStep:
    """Return a step with others in the place of its bound ops, and of the shapes of leaves."""
    if isinstance(step, CallStep):
        return step._replace(bound=bound_as(step.bound))
    bounds = tape.Structure.of(step.key).bounds
    if any(at < 0 and type(b) is not BoundOp for at, b in zip(step.calls, bounds, strict=True)):
        raise _UnopenedError  # an op that did not wait has saved what fits its sizes alone
    key = tuple([bound_as(k) if isinstance(k, BoundOp) else k for k in step.key])
    return step._replace(key=key, leaves=tuple(map(leaf_as, step.leaves)))


def _form(numbers: list[int], bound: BoundOp) -> Any:
    """Return what distinguishes a bound op from those with other sizes, and add these to the numbers."""
    if type(bound) is not BoundOp:
        if bound.said() is None:  # it may go, and nothing should keep it
            raise _UnopenedError
        return bound
    form, sizes = opened(bound)
    numbers += sizes
    return form


def _leaf(numbers: list[int], leaf: tuple[tuple[int, ...], Any]) -> Any:
    numbers += leaf[0]
    return len(leaf[0]), leaf[1]


def _make(
    steps: Steps,
    results: tuple[int, ...],
    dtypes: Sequence[Any],
    given: Sequence[Any],
    sizes: Iterator[Any],
    places: Any,
) -> Callable[..., Any] | None:
    """Return the NumPy function; None where there is none, or where the first call would take too long."""
    anew = dict[BoundOp, BoundOp]()

    def bound_as(bound: BoundOp) -> BoundOp:
        made = with_sizes_open(bound, sizes) if type(bound) is BoundOp else bound
        return anew.setdefault(bound, made)

    made = [_with(s, bound_as, lambda leaf: (tuple([next(sizes) for _ in leaf[0]]), leaf[1])) for s in steps]

    def eager_ops(*arrays: Any) -> Any:
        done = TracedSteps(arrays, made).run()
        return [done.values[i] for i in results]

    closed, found = jax.make_jaxpr(eager_ops, return_shape=True)(*given)
    if [a.dtype for a in found] != list(dtypes):
        return None  # an op asks whether an attribute is an integer
    hosted = frozenset([i for i, a in enumerate(given) if a.__class__ in NUMBERS])
    return baseline(closed, found, warm_seconds(size(closed.jaxpr)), hosted, places)
