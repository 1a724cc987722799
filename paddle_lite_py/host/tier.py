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
from .generate import Generator, elements, returning
from .steps import Steps, UnknownStepError

MAX_KINDS = 1024  # of one function: shapes may change for ever
# A function of more steps is faster compiled.
MAX_STEPS = 1000
_JAX_ARRAY = type(jnp.zeros(()))
_NUMBERS = {float: np.dtype(np.float64), int: np.dtype(np.int64), bool: np.dtype(np.bool_)}


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
        self.known: BoundedCache[Any, Callable[..., Any]] = BoundedCache(
            f"tiers of {getattr(fn, '__name__', 'a function')}", MAX_KINDS
        )
        _all.add(self)

    def entry(self, n: int) -> Callable[..., Any]:
        """What is called: it finds what runs small arrays at once, and knows a large one when it comes first."""
        return _entry(n)(self.known, self.other, self.xla, small.limit)

    def other(self, *args: Any) -> Any:
        """A call that is new, or with other things than arrays of the host."""
        given = []
        key: list[Any] = []
        most = small.most()
        for a in args:
            kind = a.__class__
            if kind is _JAX_ARRAY:
                if math.prod(a.shape) > most or a.committed or a.dtype not in small.DTYPES:
                    return self.xla(*args)
                key += (a.shape, (a.dtype, True) if a.weak_type else a.dtype)
                a = np.asarray(a)
            elif kind is np.ndarray:
                key += (a.shape, a.dtype)
            elif kind in _NUMBERS:
                key += ((), (_NUMBERS[kind], True))
                a = np.asarray(a, _NUMBERS[kind])
            else:
                return self.xla(*args)
            given.append(a)
        run = self.known.get(tuple(key))
        if run is None:
            run = self.known.put(tuple(key), self._new(args, given))
        return run(*(args if run is self.xla else given))

    def _new(self, args: tuple[Any, ...], given: list[Any]) -> Callable[..., Any]:
        """What runs arrays like these."""
        most = small.most()
        if any(a.size > most for a in given):
            return self.xla
        try:
            traced = self.xla.trace(*args)
            steps = Steps(traced.jaxpr)
            if elements(steps) > most or len(steps.list) > MAX_STEPS:
                return self.xla
            return generated(steps, traced.out_info)
        except UnknownStepError:
            return self.xla


def generated(steps: Steps, info: Any) -> Callable[..., Any]:
    """The NumPy function of some steps, which gives results structured like `info`."""
    text, names = returning(jax.tree.structure(info))
    generator = Generator(steps, text)
    generator.env |= names
    return generator.function()


@functools.cache
def _entry(n: int) -> Callable[..., Callable[..., Any]]:
    """Makes the entry of functions of n arrays, written out because each step of it shows in the time of an op."""
    names = [f"a{i}" for i in range(n)]
    given = ", ".join(names)
    arrays = " and ".join([f"{a}.__class__ is _ndarray" for a in names]) or "True"
    key = "".join([f"{a}.shape, {a}.dtype, " for a in names])
    large = "".join(
        [
            f"        if {a}.__class__ is _jax_array and _prod({a}.shape) > (_limit.most or 0):\n            return _xla({given})\n"
            for a in names[:1]
        ]
    )
    text = f"""def make(_known, _other, _xla, _limit):
    def call({given}):
        if {arrays}:
            try:
                _run = _known[({key})]
            except KeyError:
                return _other({given})
            return _run({given})
{large}        return _other({given})
    return call
"""
    env: dict[str, Any] = {"_ndarray": np.ndarray, "_jax_array": _JAX_ARRAY, "_prod": math.prod}
    exec(compile(text, "<entry of tiers>", "exec"), env)
    return env["make"]


_all: weakref.WeakSet[Tiers] = weakref.WeakSet()


def _forget() -> None:
    for tiers in list(_all):
        tiers.known.clear()


small.on_change(_forget)
