"""Collective kernels along the axis of the processes: among all of them, or within each group."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

AXIS = "ranks"
Groups = Sequence[Sequence[int]]  # by their places along the axis; each place is in one of them, all are of one size


class _Surroundings(threading.local):
    groups: Groups | None = None
    by_number: Mapping[int, Groups] = MappingProxyType({})
    last: Any = None  # of what the last exchange of a program gave


_current = _Surroundings()


@contextmanager
def within(groups: Groups | None) -> Iterator[None]:
    """Kernels that are traced meanwhile exchange in these groups; among all where it is None."""
    before, _current.groups = _current.groups, groups
    try:
        yield
    finally:
        _current.groups = before


@contextmanager
def program(groups: Mapping[int, Groups]) -> Iterator[None]:
    """Meanwhile one program is traced. groups_of() finds these groups, by the numbers of this process's own ones."""
    before = _current.by_number, _current.last
    _current.by_number, _current.last = groups, None
    try:
        yield
    finally:
        _current.by_number, _current.last = before


def in_turn(kernel: Callable[..., Any], xs: Sequence[Any], how: Sequence[Any]) -> tuple[Any, ...]:
    """Return the result of a kernel, ordered after the previous exchange of the program.

    XLA is free to begin what does not depend on each other in any order. Where processes do not run the very same
    program (one of them has constants to give), they would wait for one another in different exchanges.
    """
    try:
        xs = xs if _current.last is None else [_after(_current.last, x) for x in xs]
    except jax.errors.UnexpectedTracerError:  # that one was in a branch or loop, which is over
        pass
    out = kernel(*xs, *how)
    outs = out if isinstance(out, tuple) else (out,)
    if sized := [o for o in outs if o.size]:
        _current.last = _never(sized[0])
    return outs


def _after(never: Any, x: Any) -> Any:
    """The array, which XLA has to wait for; what would stand in its place differs from it, be it constant or not."""
    return jnp.where(never, (x == 0).astype(x.dtype), x)


def _never(x: Any) -> Any:
    """Return a False that XLA has to wait for an array for."""
    first = lax.slice(x.reshape(-1), (0,), (1,)).reshape(())
    held = first.real if jnp.iscomplexobj(first) else first
    bits = held.astype(jnp.uint8) if held.dtype == bool else lax.bitcast_convert_type(held, jnp.uint8).reshape(-1)[0]
    return (bits & 1) > 1


def groups_of(number: int) -> Groups | None:
    """The groups that exchange side by side where this process does so in that group of its own; None: all are one."""
    return _current.by_number.get(number)


def size() -> int:
    """Return the number of processes that take part.

    Raises:
        NameError: where no program of several processes is traced.
    """
    everyone = lax.axis_size(AXIS)
    return everyone if _current.groups is None else len(_current.groups[0])


def index() -> Any:
    """Return the place of this process among those that take part."""
    place, groups = lax.axis_index(AXIS), _current.groups
    if groups is None:
        return place
    places = {p: i for group in groups for i, p in enumerate(group)}
    return jnp.array([places[p] for p in range(len(places))], place.dtype)[place]


def psum(x: Any) -> Any:
    """Return the sum over all, for each."""
    return lax.psum(x, AXIS, axis_index_groups=_current.groups)


def pmax(x: Any) -> Any:
    """Return the largest of all, for each."""
    return lax.pmax(x, AXIS, axis_index_groups=_current.groups)


def pmin(x: Any) -> Any:
    """Return the smallest of all, for each."""
    return lax.pmin(x, AXIS, axis_index_groups=_current.groups)


def all_gather(x: Any) -> Any:
    """Return the arrays of all, along a new first axis."""
    return lax.all_gather(x, AXIS, axis_index_groups=_current.groups)


def all_to_all(x: Any) -> Any:
    """Row i of the result is row j of what process i has, where this is process j."""
    return lax.all_to_all(x, AXIS, 0, 0, axis_index_groups=_current.groups)


def psum_scatter(x: Any) -> Any:
    """Row j of the sum over all, where this is process j."""
    return lax.psum_scatter(x, AXIS, axis_index_groups=_current.groups)


def shifted(x: Any) -> Any:
    """Return the value of the previous process; the first receives from the last."""
    groups = _current.groups or [range(lax.axis_size(AXIS))]
    around = [(group[i - 1], group[i]) for group in groups for i in range(len(group))]
    return lax.ppermute(x, AXIS, around)
