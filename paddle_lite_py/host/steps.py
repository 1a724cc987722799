"""A jaxpr as a flat list of steps: calls of functions are put in their place, and what nobody reads is gone.

Choices that count an index from the end where it is negative, which is what JAX makes of all indices, are one step.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core.jax_compat.equations import UnknownFormError, called_jaxpr, check_form, settings
from ..core.jax_compat.jaxprs import Literal, body_of, constants_of
from ..core.jax_compat.versions import is_tested, warn_unknown
from ..core.small import DTYPES

# Functions that have a rule as a whole.
_OF_THE_HOST = frozenset(("random_words",))
# The dtype of threefry keys, JAX's own generator: two words each.
_KEY = "key<fry>"
# Steps that give elements another shape.
_SHAPING = ("reshape", "broadcast_in_dim")
_OF_KEYS = frozenset(("random_seed", "random_fold_in", "random_bits", "random_split", "random_wrap", "random_unwrap"))
_OF_KEYS |= {"slice", "squeeze", "reshape", "unstack"}  # which leave the last axis alone


# The step for an index that counts from the end where it is negative: the index, and the size of the axis.
WRAPPED = "wrapped_index"
# The parameter of a slice for its axes of one element that are removed.
PICKED = "picked"
# The parameter of a gather for negative indices, which count from the end.
WRAPS = "wraps"


def _is_one(constant: Any, value: int | None = None) -> bool:
    """Whether something is a constant integer; `value`: this one."""
    return constant is not None and constant.ndim == 0 and constant.dtype.kind == "i" and value in (None, constant)


def _is_key(dtype: Any) -> bool:
    return not isinstance(dtype, np.dtype) and str(dtype) == _KEY  # writing down those of NumPy takes its time


def _axes_to_drop(shape: tuple[int, ...], left: tuple[int, ...]) -> tuple[int, ...]:
    """Which axes of one element a shape has to lose to become another; none where that is not how it becomes it."""
    rest, gone = list(left), []
    for axis, n in enumerate(shape):
        if rest and rest[0] == n:
            rest.pop(0)
        elif n == 1:
            gone.append(axis)
        else:
            return ()
    return () if rest else tuple(gone)


def _is_matrix(step: HostStep | None) -> bool:
    """Whether a step broadcasts a matrix of floats along a third axis."""
    return (
        step is not None and step.name == "broadcast_in_dim" and len(step.given[0].shape) == 2
        and len(step.made[0].shape) == 3 and step.given[0].dtype.kind == "f"
    )  # fmt: skip


def _product(sum_: HostStep, shape: tuple[int, ...], spread: list[Any]) -> HostStep | None:
    """Return the product of two matrices that are broadcast to a shape and then multiplied and summed, if it is one."""
    axes = tuple(sum_.params["axes"])
    found = [(tuple(map(int, s.params["broadcast_dimensions"])), s) for s in spread]
    if (
        len(found) != 2
        or len(axes) != 1
        or not all(s.given[0].shape == tuple([shape[a] for a in at]) for at, s in found)
    ):
        return None
    (x_at, x), (y_at, y) = sorted(found, key=lambda f: [a for a in f[0] if a not in axes])
    if {*x_at, *y_at} != {0, 1, 2} or {*x_at} & {*y_at} != {*axes}:
        return None
    numbers = ((x_at.index(axes[0]),), (y_at.index(axes[0]),)), ((), ())
    reads, given = (x.reads[0], y.reads[0]), (x.given[0], y.given[0])
    return sum_._replace(name="dot_general", params={"dimension_numbers": numbers}, reads=reads, given=given)


class UnknownStepError(Exception):
    """The host tier has no rule for this; XLA compiles it."""


# The errors of reading an equation of an unknown form.
_OF_FORMS = (UnknownFormError, AttributeError, IndexError, KeyError, TypeError)


@contextmanager
def reading() -> Iterator[None]:
    """While a jaxpr is read: what goes wrong there is in a form that is not known, and XLA compiles it.

    Raises:
        UnknownStepError: in the place of any other error, after a warning.
        Exception: of another kind, which arguments may be to blame for (a negative size), if the version is tested.
    """
    try:
        yield
    except UnknownStepError:
        raise
    except Exception as e:
        if is_tested() and not isinstance(e, _OF_FORMS):
            raise
        warn_unknown("a step of the host tier", e)
        raise UnknownStepError(str(e)) from e


class HostStep(NamedTuple):
    """One primitive: what it reads and makes, by number, with the shapes and dtypes of both.

    What is known of its arguments beforehand are arrays in `known`, and None in the place of others.
    """

    name: str
    params: dict[str, Any]
    reads: tuple[int, ...]
    makes: tuple[int, ...]
    given: tuple[Any, ...]
    made: tuple[Any, ...]
    known: tuple[Any, ...] = ()


class Steps:
    """The steps of a jaxpr.

    Arguments:
        closed: the jaxpr, with its constants.
        dtypes: which its values may have.

    Raises:
        UnknownStepError: it acts on the world, or has values of a dtype that is XLA's alone.
    """

    def __init__(self, closed: Any, dtypes: Container[np.dtype] = DTYPES) -> None:
        if closed.effects:
            raise UnknownStepError("what acts on the world")
        self.types: dict[int, Any] = {}
        self.constants: dict[int, np.ndarray] = {}
        self.list: list[HostStep] = []
        self._numbers, self._keys = itertools.count(), set[int]()
        body = body_of(closed)
        self.eqns: Sized = body.eqns
        self.inputs = tuple([self._new(v.aval) for v in body.invars])
        self.outputs = self._inline(body, [self._constant(c) for c in constants_of(closed)], self.inputs)
        self._join_wraps()
        self._join_slices()
        self._join_gathers()
        self._join_products()
        self._drop_unread(dtypes)

    def _new(self, aval: Any) -> int:
        number = next(self._numbers)
        if _is_key(aval.dtype):
            aval = jax.ShapeDtypeStruct((*aval.shape, 2), np.uint32)
            self._keys.add(number)
        self.types[number] = aval
        return number

    def _constant(self, value: Any) -> int:
        array = np.asarray(value)
        number = self._new(array)
        self.constants[number] = array
        return number

    def _inline(self, jaxpr: Any, constants: Iterable[int], inputs: Iterable[int]) -> tuple[int, ...]:
        """Append the steps of a jaxpr; the numbers of its results."""
        known = dict(zip(jaxpr.constvars, constants, strict=True)) | dict(zip(jaxpr.invars, inputs, strict=True))

        def read(atom: Any) -> int:
            if isinstance(atom, Literal):
                return self._constant(np.asarray(atom.val, getattr(atom.aval, "dtype", None)))
            return known[atom]

        for eqn in jaxpr.eqns:
            check_form(eqn)
            reads, name, params = tuple(map(read, eqn.invars)), eqn.primitive.name, settings(eqn)
            function = called_jaxpr(eqn)
            if params.get("name") in _OF_THE_HOST and len(eqn.outvars) == 2:  # JAX drops unread results
                name, params = params["name"], {"shape": eqn.outvars[0].aval.shape}
            elif function is not None:
                body, inner = function
                known |= zip(eqn.outvars, self._inline(body, map(self._constant, inner), reads), strict=True)
                continue
            if eqn.outvars and all(0 in v.aval.shape and not _is_key(v.aval.dtype) for v in eqn.outvars):
                known |= {v: self._constant(np.empty(v.aval.shape, v.aval.dtype)) for v in eqn.outvars}
                continue
            makes = tuple([self._new(v.aval) for v in eqn.outvars])
            known |= zip(eqn.outvars, makes, strict=True)
            given, made = tuple([self.types[n] for n in reads]), tuple([self.types[n] for n in makes])
            if not (name in _OF_KEYS or self._keys.isdisjoint((*reads, *makes))):
                raise UnknownStepError(f"{name} of keys")
            self.list.append(HostStep(name, params, reads, makes, given, made))
        return tuple(map(read, jaxpr.outvars))

    def _join_wraps(self) -> None:
        """Where an index below 0 counts from the end: a comparison, a sum and a choice become one step."""
        of = {n: step for step in self.list for n in step.makes}
        for i, step in enumerate(self.list):
            if step.name == "select_n" and len(step.reads) == 3:
                which, index, sum_ = step.reads
                below, added = of.get(which), of.get(sum_)
                if below is None or added is None or (below.name, added.name) != ("lt", "add"):
                    continue
                zero, size = [self.constants.get(s.reads[1]) for s in (below, added)]
                if below.reads[0] == added.reads[0] == index and _is_one(zero, 0) and _is_one(size):
                    reads = (index, added.reads[1])
                    given = tuple([self.types[n] for n in reads])
                    self.list[i] = HostStep(WRAPPED, {}, reads, step.makes, given, step.made)

    def _join_slices(self) -> None:
        """A slice whose axes of one element are then dropped is one step."""
        of = {n: step for step in self.list for n in step.makes}
        for i, step in enumerate(self.list):
            part = of.get(step.reads[0]) if step.name in ("reshape", "squeeze") else None
            if part is None or part.name != "slice" or (step.name == "reshape" and step.params["dimensions"]):
                continue
            gone = _axes_to_drop(part.made[0].shape, step.made[0].shape)
            if gone:
                self.list[i] = part._replace(params={**part.params, PICKED: gone}, makes=step.makes, made=step.made)

    def _join_gathers(self) -> None:
        """Rows or elements along one axis are taken at indices that count from the end, which is looked at once."""
        of = {n: step for step in self.list for n in step.makes}
        found = []
        for step in self.list:
            shaped = of.get(step.reads[1]) if step.name == "gather" else None
            wrapped = of.get(shaped.reads[0]) if shaped and shaped.name in _SHAPING else None
            if shaped and wrapped and wrapped.name == WRAPPED and self._is_along(step, wrapped):
                index = wrapped.reads[0]
                number = self._new(jax.ShapeDtypeStruct(shaped.made[0].shape, wrapped.given[0].dtype))
                made = (self.types[number],)
                found.append(shaped._replace(reads=(index,), makes=(number,), made=made))
                step = step._replace(reads=(step.reads[0], number), params={**step.params, WRAPS: True})
            found.append(step)
        self.list = found

    def _is_along(self, step: HostStep, wrapped: HostStep) -> bool:
        """Whether a gather takes elements along one axis, whose size is what negative indices are counted from."""
        axes, size = step.params["dimension_numbers"].start_index_map, self.constants.get(wrapped.reads[1])
        return (
            len(axes) == 1 and _is_one(size, step.given[0].shape[axes[0]]) and step.params["slice_sizes"][axes[0]] == 1
        )

    def _join_products(self) -> None:
        """A sum of products by element that is a product of two matrices, as small ones are written, becomes one."""
        of = {n: step for step in self.list for n in step.makes}
        for i, step in enumerate(self.list):
            times = of.get(step.reads[0]) if step.name == "reduce_sum" else None
            if times is not None and times.name == "mul":
                spread = [of.get(n) for n in times.reads]
                self.list[i] = _product(step, times.made[0].shape, [s for s in spread if _is_matrix(s)]) or step

    def _drop_unread(self, dtypes: Container[np.dtype]) -> None:
        read, kept = set(self.outputs), []
        for step in reversed(self.list):
            if not read.isdisjoint(step.makes):
                read.update(step.reads)
                kept.append(step)
        self.list = kept[::-1]
        for n in {n for step in kept for n in (*step.reads, *step.makes)}.union(self.inputs, self.outputs):
            if self.types[n].dtype not in dtypes:
                raise UnknownStepError(f"values of {self.types[n]}")
        if not self._keys.isdisjoint((*self.inputs, *self.outputs)):
            raise UnknownStepError("keys from outside")
