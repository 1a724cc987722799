"""Functions of XLA arrays that are new, or whose shapes keep changing: NumPy computes what is not worth a compilation.

XLA takes 20 to 100 ms to compile one op, a net has fifty of them, and an evaluation may be all that it is needed for. A
decode loop whose cache grows by `concat` has new shapes at each token. So NumPy runs a function for a new kind of
arguments, until that has taken about as long as a compilation. At worst that is twice the time of whichever is better.
A function that comes to be compiled for its only kind is XLA's from then on, until there are more.

Where shapes keep changing, small results that NumPy makes are the host's, so that what follows is NumPy's as well. So
are large ones in memory that XLA takes over without a copy: those of concat, such as a cache.

Times are estimates, so that a process that is started again and runs the same gives the same bits.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import small, symbolic
from ..core.arrays import array_class
from ..core.jax_compat.sizes import is_at_most
from ..core.memo import Memo, once
from ..core.switches import baseline_tier
from .blas import one_thread
from .generate import write_function
from .movement import is_aligned
from .open_sizes import OpenFunctions, read_sizes
from .rules import BASELINE_RULES, MOVES, RULES, cost
from .steps import Steps, UnknownStepError, reading

# A function that XLA has compiled for so many kinds of arguments varies; the results of as many first ones are XLA's.
COMPILED_FIRST = 2
# Picoseconds: a compilation and what each step adds to it; a call, each NumPy step besides what depends on the number
# of elements, and each element of a result that is given to XLA. For concat, which XLA copies as well: what NumPy takes
# longer for each element. Whole numbers, for sizes may be open.
COMPILATION, COMPILED_STEP, CALL, STEP, COPY, MOVE = 20_000_000_000, 5_000_000_000, 20_000_000, 1_000_000, 2000, 150
# A kind that comes so often between other ones is none of the lengths of a loop, and is compiled then.
RECURRENCES = 48
MAX_KINDS = 1024
_NUMBERS = frozenset((float, int, bool, complex))
_PRODUCTS = frozenset(("dot_general", "conv_general_dilated"))


class Watch:
    """A function that counts for how many kinds of arguments XLA compiles it: JAX traces it for each.

    Arguments:
        fn: the function.

    Attributes:
        when_varying: called once, when there are so many that its shapes seem to vary.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fn)
        self.fn, self.kinds = fn, 0
        self.when_varying: Callable[[], None] | None = None

    def __call__(self, *args: Any) -> Any:
        """Return the function itself, which JAX traces."""
        self.kinds += 1
        if self.kinds >= COMPILED_FIRST and self.when_varying is not None and may_vary():
            self.when_varying()
        return self.fn(*args)


def may_vary() -> bool:
    """Whether NumPy may run what shapes keep changing of."""
    return small.most() > 0 and jax.local_device_count() == 1 == jax.process_count()


_sizes_vary: ContextVar[bool] = ContextVar("sizes_vary", default=False)


@contextmanager
def sizes_vary() -> Iterator[None]:
    """While it is known that sizes change: what is called for the first time is not compiled either."""
    token = _sizes_vary.set(True)
    try:
        yield
    finally:
        _sizes_vary.reset(token)


def are_sizes_varying() -> bool:
    """Whether it is known that sizes change."""
    return _sizes_vary.get() and may_vary()


def only_moves(trace: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Whether a function only moves elements: then NumPy gives the same bits, and may run it from the first call on."""
    if not may_vary() or not all(a.__class__ in _kinds() for a in args):
        return False
    traced = trace(*args)  # an error of this is the caller's
    try:
        with reading():
            return all(step.name in MOVES or step.name == "broadcast_in_dim" for step in Steps(traced.jaxpr).list)
    except UnknownStepError:
        return False


class _ByNumPy(NamedTuple):
    function: Callable[..., Any]
    calls: Callable[..., float]  # of arrays of some sizes, until they have taken as long as a compilation


class VaryingShapes:
    """A function by kinds of arguments: compiled, or run by NumPy until that has cost as much.

    Arguments:
        xla: the compiled function. trace: tells what it is made of. name: of the function.
        when_compiled: called once the only kind that there has been is worth a compilation; None where kinds are known
            to vary.
    """

    def __init__(
        self,
        xla: Callable[..., Any],
        trace: Callable[..., Any],
        name: str,
        when_compiled: Callable[[], None] | None = None,
    ) -> None:
        self._xla, self._trace, self._when_compiled = xla, trace, when_compiled
        self._first = 0 if when_compiled is None else COMPILED_FIRST  # kinds whose results are XLA's in any case
        # Key: shapes, dtypes and classes of numbers; the function is pure.
        self._known: Memo[Any, Callable[..., Any]] = Memo(f"kinds of {name}", MAX_KINDS, tiered=True)
        self._open = OpenFunctions(name)
        self._last: Callable[..., Any] | None = None  # what ran the previous call

    def __call__(self, *args: Any) -> Any:
        """Return the results for arrays and numbers."""
        key = tuple([a.__class__ if a.__class__ in _NUMBERS else (a.shape, a.dtype) for a in args])
        run = self._known.get(key)
        if run is None:
            if not all(a.__class__ in _kinds() for a in args):  # JAX is tracing
                return self._xla(*args)
            run = self._known.put(key, self._new(key, args))
        try:
            return run(*args)
        finally:
            self._last = run

    def _new(self, key: Any, args: tuple[Any, ...]) -> Callable[..., Any]:
        if not may_vary():
            return self._xla
        found: _ByNumPy | None = self._open.find(args, self._make, self._trace) or self._make(args)
        return self._compile() if found is None else self._by_numpy(key, found.function, int(found.calls(*args)))

    def _compile(self) -> Callable[..., Any]:
        """Return the compiled function for one more kind."""
        if self._when_compiled is not None and len(self._known) <= 1:
            self._when_compiled()
        self._when_compiled = None
        return self._xla

    def _make(self, args: Sequence[Any], _numbers: Any = (), sizes: Any = MappingProxyType({})) -> _ByNumPy | None:
        """Return the NumPy function of arrays like these, and how often it is run; None where it is slower once."""
        traced = self._trace(*args)  # an error of this is the caller's
        try:
            with reading():
                steps = Steps(traced.jaxpr)
                numbers = frozenset([i for i, a in enumerate(args) if not hasattr(a, "shape")])
                writer = write_function(steps, traced.out_info, numbers, sizes, RULES | BASELINE_RULES)
        except UnknownStepError:
            return None
        made = [math.prod(steps.types[n].shape) for n in steps.outputs]
        if [step.name for step in steps.list] == ["concatenate"]:
            each = [STEP, MOVE * made[0]]
        else:
            large = [n for n in made if n > small.most()]
            each = [CALL + STEP * writer.turns, *map(cost, steps.list), *[COPY * n for n in large]]
        compilation = COMPILATION + COMPILED_STEP * len(steps.list)
        if not is_at_most(each, compilation):
            return None
        known = sum(n for n in each if not symbolic.is_symbolic(n))
        others = [symbolic.python_text(n) for n in each if symbolic.is_symbolic(n)]  # in a tuple, which may be long
        calls = read_sizes(len(args), sizes, f"{compilation} / sum(({', '.join([str(known), *others])},))")
        function = writer.function()
        return _ByNumPy(_in_one_thread(function) if _PRODUCTS & {s.name for s in steps.list} else function, calls)

    def _by_numpy(self, key: Any, function: Callable[..., Any], calls: int) -> Callable[..., Any]:
        """Return a function that runs that many calls by NumPy, fewer of a kind that recurs, and compiles then."""
        left, is_new = float(calls), len(self._known) < self._first
        payload = jax.device_put if is_new else _payload

        def run(*args: Any) -> Any:
            nonlocal left
            left -= 1 if self._last is run else 1 + calls / RECURRENCES
            if left < 0 or (is_new and not baseline_tier.on):
                return self._known.put(key, self._compile())(*args)
            return jax.tree.map(payload, function(*[np.asarray(a) if hasattr(a, "shape") else a for a in args]))

        return run


def _in_one_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        with one_thread():
            return function(*args)

    return call


# Key: once a process: classes.
@once
def _kinds() -> frozenset[type]:
    return _NUMBERS - {complex} | {np.ndarray, array_class()}


def _payload(array: np.ndarray) -> Any:
    """Return a result as an independent payload: sharing memory with an XLA argument would keep that alive."""
    if not small.is_small(array.shape, array.dtype):
        return array if is_aligned(array) else jax.device_put(array)
    return array if array.flags.owndata else array.copy()
