"""The two tiers of a function of arrays: NumPy where all of them are small, XLA elsewhere.

Which one it is follows from the function, the shapes and the dtypes.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import small
from ..core.cache import BoundedCache
from ..core.config import compiler_options
from . import loops  # noqa: F401  (their rules)
from .generate import Generator, elements, returning
from .rules import cost
from .steps import Step, Steps, UnknownStepError

MAX_KINDS = 1024  # of one function: shapes may change for ever
# A function of more steps is faster compiled, and so is one whose elements take longer: in nanoseconds, for all of it and
# for each step.
MAX_STEPS, _MOST, _MORE = 1000, 100_000, 2000
_JAX_ARRAY = type(jnp.zeros(()))
_NUMBERS = frozenset((float, int, bool))
_ndarray = np.ndarray


def xla_jit(fn: Callable[..., Any], library: bool = True, **options: Any) -> Any:
    """jax.jit with the framework's compiler options; `library`: XLA's library does reductions."""
    return jax.jit(fn, compiler_options=compiler_options(library), **options)


def tiered(fn: Callable[..., Any], n: int, library: bool = True, **options: Any) -> Callable[..., Any]:
    """A function of n arrays or Python numbers on its two tiers. What it gives may be nested.

    Arguments:
        library: see xla_jit, which has the options too.
    """
    return Tiers(fn, xla_jit(fn, library, **options)).entry(n)


class Tiers:
    """A function, and by shapes and dtypes what runs it."""

    def __init__(self, fn: Callable[..., Any], xla: Any) -> None:
        self.xla = xla
        self.on_xla = self._on_xla  # one object, to be told by
        self.known: BoundedCache[Any, Callable[..., Any]] = BoundedCache(
            f"tiers of {getattr(fn, '__name__', 'a function')}", MAX_KINDS
        )
        _all.add(self)

    def entry(self, n: int) -> Callable[..., Any]:
        """What is called: it finds what runs small arrays at once, and knows a large one when it comes first."""
        small.most()  # known from here on
        return _entry(n)(self.known, self.other, self.xla, small.limit)

    def other(self, *args: Any) -> Any:
        """A call that is new, or with other things than arrays of the host."""
        given: tuple[Any, ...] = args
        key: list[Any] = []
        for i, a in enumerate(args):
            kind = a.__class__
            if kind is _ndarray:
                key.append(a.shape)
                key.append(a.dtype)
            elif kind in _NUMBERS:
                key.append(kind)
            elif kind is _JAX_ARRAY and _is_host(a):
                a = np.asarray(a)
                key += (a.shape, a.dtype)
                given = (*given[:i], a, *given[i + 1 :])
            else:
                return self._on_xla(*args)
        found = tuple(key)
        run = self.known.get(found)
        if run is None:
            run = self.known.put(found, self._new(given))
        return run(*(args if run is self.on_xla else given))

    def _on_xla(self, *args: Any) -> Any:
        """XLA takes an array in half the time that it takes for a number."""
        return self.xla(*[_as_array(a) if a.__class__ in _NUMBERS else a for a in args])

    def _new(self, args: tuple[Any, ...]) -> Callable[..., Any]:
        """What runs arrays and numbers like these."""
        most = small.most()
        if any(np.size(a) > most for a in args):
            return self.on_xla
        traced = self.xla.trace(*args)
        try:
            steps = Steps(traced.jaxpr)
            if elements(steps) <= most and is_cheap(steps.list):
                return generated(
                    steps, traced.out_info, frozenset(i for i, a in enumerate(args) if a.__class__ in _NUMBERS)
                )
        except UnknownStepError:
            pass
        return self.on_xla


def _is_host(array: Any) -> bool:
    """Whether an array of JAX's is small, and where the host's are."""
    return (
        math.prod(array.shape) <= small.most()
        and not (array.committed or array.weak_type)
        and array.dtype in small.DTYPES
    )


_numbers: BoundedCache[Any, Any] = BoundedCache("numbers as arrays", 1024)


def _as_array(value: Any) -> Any:
    """A number as JAX takes it: when it comes again, as a weak array."""
    kind = value.__class__
    # The dictionary takes -0.0 for 0.0.
    key = (kind, value if value or kind is not float else repr(value))
    found = _numbers.get(key)
    if found is None:
        return _numbers.put(key, value)
    if found.__class__ is kind:
        with jax.ensure_compile_time_eval():  # JAX may be tracing
            found = _numbers[key] = jnp.asarray(value)
    return found


def is_cheap(steps: list[Step]) -> bool:
    """Whether NumPy takes about as long for some steps as XLA would, compiled."""
    return len(steps) <= MAX_STEPS and sum(map(cost, steps)) <= _MOST + _MORE * len(steps)


def generated(steps: Steps, info: Any, numbers: frozenset[int] = frozenset()) -> Callable[..., Any]:
    """The NumPy function of some steps, which gives results structured like `info`.

    Arguments:
        numbers: which of its arguments are Python numbers.
    """
    text, names = returning(jax.tree.structure(info))
    generator = Generator(steps, text, numbers)
    generator.env |= names
    return generator.function()


@functools.cache
def _entry(n: int) -> Callable[..., Callable[..., Any]]:
    """Makes the entry of functions of n arrays, written out because each step of it shows in the time of an op."""
    names = [f"a{i}" for i in range(n)]
    given = ", ".join(names)
    arrays = " and ".join([f"{a}.__class__ is _ndarray" for a in names]) or "True"
    key = "".join([f"{a}.shape, {a}.dtype, " for a in names])
    # Many arguments are those of a gradient or an update, where a number more or less does not show.
    no_numbers = "".join([f" and {a}.__class__ not in _NUMBERS" for a in names[1:4]])
    is_large = f"a0.__class__ is _jax_array and _prod(a0.shape) > _limit.most{no_numbers}" if names else "False"
    text = f"""def make(_known, _other, _xla, _limit):
    def call({given}):
        if {arrays}:
            try:
                _run = _known[({key})]
            except KeyError:
                return _other({given})
            return _run({given})
        if {is_large}:
            return _xla({given})
        return _other({given})
    return call
"""
    env: dict[str, Any] = {"_ndarray": np.ndarray, "_jax_array": _JAX_ARRAY, "_prod": math.prod, "_NUMBERS": _NUMBERS}
    exec(compile(text, "<entry of tiers>", "exec"), env)
    return env["make"]


_all: weakref.WeakSet[Tiers] = weakref.WeakSet()


def _forget() -> None:
    for tiers in list(_all):
        tiers.known.clear()


small.on_change(_forget)
