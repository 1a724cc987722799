"""The two tiers of a function of arrays: NumPy where all of them are small and the host's, XLA elsewhere.

What NumPy has made is the host's as well, as long as it is small; what XLA has made, or what is made with an array of
XLA's, is XLA's. So nobody waits for what XLA still computes, and which tier it is follows from the program, the shapes
and the dtypes, not from what has run before.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import memory, small
from ..core import place as places
from ..core.arrays import array_class
from ..core.config import compiler_options
from ..core.jax_compat.sizes import is_at_most
from ..core.mappings import make_room, room
from ..core.memo import IdentityMemo, Memo, once
from ..core.nan_checks import CheckedJit, unchecked
from ..core.processes import has_joined
from ..core.switches import baseline_tier
from ..cpu_compiler import OutOfProcessJit, may_be_large, prepare
from . import loops  # noqa: F401  (their rules)
from .across import AcrossProcesses
from .baseline import Baseline
from .beside import OnOneDevice
from .entries import written_entry, written_handing
from .generate import FunctionWriter, write_function
from .kept_steps import FoundSteps, KeptSteps, WrittenResults
from .open_sizes import OpenFunctions
from .rules import AS_THEY_ARE, ELEMENTWISE, cost
from .steps import HostStep, Steps, UnknownStepError, reading
from .varying import VaryingShapes, Watch, are_sizes_varying, may_vary, only_moves

MAX_KINDS = 1024  # of one function: shapes may keep changing
# A function of more steps is faster compiled, and so is one whose elements take longer: in picoseconds, for all of it
# and for each step.
MAX_STEPS, _MOST, _MORE = 1000, 100_000_000, 2_000_000
# An op that takes NumPy more steps, counting each turn of its loops, is compiled: it would take three times as long,
# call after call. Not so gradients and updates: a session has many of them, each to be compiled once.
OP_STEPS = 32
# Of these XLA's plain emitters make kernels as fast as the others do.
_POINTWISE = ELEMENTWISE | AS_THEY_ARE
_POINTWISE |= {"broadcast_in_dim", "reshape", "squeeze", "reduce_sum", "reduce_max", "reduce_min"}
_NUMBERS = frozenset((float, int, bool))
_ndarray = np.ndarray
_HOSTED = _NUMBERS | {_ndarray}


def xla_jit(fn: Callable[..., Any], windows: bool = False, plain: bool = False, **options: Any) -> Any:
    """jax.jit with the framework's compiler options; see config.compiler_options."""
    if room.due:
        make_room()
    made: Any = jax.jit(fn, compiler_options=compiler_options(windows, plain), **options)
    if places.is_accelerator(jax.local_devices()[0]):
        made = OnOneDevice(made)
    if has_joined():
        made = AcrossProcesses(made)
    return CheckedJit(made, fn, options.get("donate_argnums", ()))


def program_jit(
    fn: Callable[..., Any],
    operators: int,
    windows: bool = False,
    plain: bool = False,
    text: Callable[[], str | None] | None = None,
    results: Callable[[Sequence[Any]], Any] | None = None,
    device: Any = None,
    **options: Any,
) -> Any:
    """The same for what is made of so many operators: where that is a large program, another process compiles it.

    Arguments:
        device: that it runs on, where its arrays lie; None: the default one.
        text: what the function computes, if that has a text of its own: it leads to what was compiled before.
        results: gives something nested as its results for arguments, where these are more than lists and tuples.
    """
    if not may_be_large(operators):
        return xla_jit(fn, windows, plain, **options)
    # In a large program plain emitters do not share kernels of equal computations.
    return OutOfProcessJit(
        fn,
        options.get("donate_argnums", ()),
        lambda fn, is_large: xla_jit(fn, windows, plain and not is_large, **options),
        lambda is_large: compiler_options(windows, plain and not is_large),
        operators,
        Baseline(text),
        text,
        results,
        device,
    )


def tiered(
    fn: Callable[..., Any],
    n: int | None,
    windows: bool = False,
    plain: bool = False,
    most: int = MAX_STEPS,
    like: Sequence[Any] = (),
    deep: bool = False,
    broadcasts: bool = False,
    operators: int = 0,
    written: WrittenResults | None = None,
    **options: Any,
) -> Callable[..., Any]:
    """Return a function of arrays or Python numbers on its two tiers. What it gives may be nested.

    Arguments:
        n: how many arguments it takes; None for a function that is XLA's whatever they are.
        like: what it is called with first, which tells whether plain emitters serve it.
        deep: it is made of many ops, so that its chains may be long: see cpu_compiler.prepare.
        broadcasts: it is elementwise, with NumPy's broadcasting: what NumPy runs for some shapes serves for all.
        operators: of how many it is made. written: how its results stand in a file.
        windows, plain: see config.compiler_options. most: how many steps NumPy takes. options: of jax.jit, and `text`:
            see program_jit().
    """
    donated = options.get("donate_argnums", ())
    watch = Watch(fn) if n and not deep and not donated else None
    plain = plain or (bool(like) and _is_pointwise(fn, like))
    xla = program_jit(prepare(fn, donated) if deep else watch or fn, operators, windows, plain, **options)
    if n is None:
        return xla
    trace = jax.jit(fn).trace if deep or watch else xla.trace
    kept = KeptSteps(options.get("text"), written)
    return Tiers(fn, xla, trace, donated, most, watch, kept, broadcasts).entry(n)


def _is_pointwise(fn: Callable[..., Any], like: Sequence[Any]) -> bool:
    """Whether each element of the results is made of those in its place, or is a sum of such ones."""
    hosted = all(a.__class__ in _HOSTED for a in like)
    if hosted or jax.default_backend() != "cpu" or any(isinstance(a, jax.core.Tracer) for a in like):
        return False
    traced = jax.jit(fn).trace(*like)  # jax.jit caches the trace of the function, however it is compiled
    try:
        with reading():
            return all(step.name in _POINTWISE for step in Steps(traced.jaxpr).list)
    except UnknownStepError:
        return False


# All that have an entry.
_all: weakref.WeakSet[Tiers] = weakref.WeakSet()


def _choose_again() -> None:
    for each in list(_all):
        each.choose()


small.on_change(_choose_again)


@once
def _sum() -> Callable[[Any, Any], Any]:
    return tiered(lambda a, b: a + b, 2)  # not at import: XLA's options need a device


def added(a: Any, b: Any) -> Any:
    """Return the sum of two arrays."""
    return _sum()(a, b)


class Tiers:
    """A function, and by shapes and dtypes what runs it.

    Arguments:
        fn: the function. xla: the same, compiled. trace: tells what it is made of, as that of jax.jit does.
        donated: whose memory XLA may reuse, by position. most: how many steps NumPy takes.
        watch: counts for how many kinds of arguments XLA compiles it; None where it compiles it for each.
        kept: what earlier processes found. broadcasts: see tiered().
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        xla: Callable[..., Any],
        trace: Callable[..., Any],
        donated: tuple[int, ...] = (),
        most: int = MAX_STEPS,
        watch: Watch | None = None,
        kept: KeptSteps | None = None,
        broadcasts: bool = False,
    ) -> None:
        self._compiled, self.trace, self.most, self.watch = xla, trace, most, watch
        self.xla = xla if watch is None else self._first
        self.broadcasts = broadcasts
        self._kept = kept or KeptSteps(None)
        self.donated = frozenset(donated)
        self.name = getattr(fn, "__name__", "a function")
        # Key: shapes, dtypes and classes of numbers; the function is pure.
        self.known: Memo[Any, Callable[..., Any]] = Memo(f"tiers of {self.name}", MAX_KINDS, tiered=True)
        self._open = OpenFunctions(self.name)

    def entry(self, n: int) -> Callable[..., Any]:
        """Return the entry point: it finds at once what runs host arrays, and XLA arrays."""
        make = written_entry(n, self.donated, self.broadcasts)
        call, self._become, self._apply = make(self.known, self.xla, self.other, for_xla)
        self._handed, self._hand_to = written_handing(n)(self.xla, _handed.get, for_xla)
        _all.add(self)
        self._run_by(self.xla)
        if self.watch is not None:
            self.watch.when_varying = self._vary
        return call

    def _run_by(self, xla: Callable[..., Any], given: Callable[[Any], Any] | None = None) -> None:
        """Let what XLA runs be run by a function that takes what `given` makes of arrays of the host."""
        self.xla, self._given = xla, given or for_xla
        self.choose()

    def choose(self) -> None:
        """Call that as the flags in force want it."""
        run = unchecked(self.xla)
        self._become(run, self._given)
        self._hand_to(run)

    def _first(self, *args: Any) -> Any:
        """Return the first call that is XLA's."""
        if are_sizes_varying() or only_moves(self.trace, args):
            self._vary()
        elif baseline_tier.on and may_vary():
            self._vary(self._settle)
        else:
            self._settle()
        return self.xla(*args)

    def _vary(self, when_compiled: Callable[[], None] | None = None) -> None:
        """From now on NumPy computes what XLA would have to compile for few calls."""
        assert self.watch is not None
        xla, self.watch.when_varying = self._compiled, None
        varying = VaryingShapes(lambda *args: xla(*map(for_xla, args)), self.trace, self.name, when_compiled)
        self._run_by(varying, _unchanged)  # NumPy may run it: only a compiled function is given JAX arrays

    def _settle(self) -> None:
        """From now on XLA runs it, until there are more kinds of arguments."""
        assert self.watch is not None
        self.watch.when_varying = self._vary
        self._run_by(self._compiled)

    def other(self, *args: Any) -> Any:
        """Return a call that is new, or with other things than arrays of the host and numbers."""
        kinds = {a.__class__ for a in args}
        if not kinds <= _HOSTED:
            return self.on_xla(*args)
        if kinds <= _NUMBERS:
            key: Any = tuple([a.__class__ for a in args])
        elif kinds == {_ndarray}:
            key = tuple([part for a in args for part in (a.shape, a.dtype)])
        else:
            key = tuple([(a.shape, a.dtype) if a.__class__ is _ndarray else a.__class__ for a in args])
        return self.known.put(key, self._new(args))(*args)

    def on_xla(self, *args: Any) -> Any:
        """Run it compiled."""
        if self.donated:
            # Not the array kept for the next time, nor for another tensor of the same payload: JAX copies NumPy's.
            return self.xla(*[a if i in self.donated else for_xla(a) for i, a in enumerate(args)])
        return self.xla(*[for_xla(a) for a in args])

    def handed(self) -> Callable[..., Any]:
        """Return the compiled call, like on_xla(), with the steps that lead there inlined."""
        return self.on_xla if self.donated else self._handed

    def _new(self, args: tuple[Any, ...]) -> Callable[..., Any]:
        """Return what runs arrays and numbers like these."""
        if any(np.size(a) > small.most() for a in args):
            return self.handed()
        opened = self._open.find(args, self._make_open, self.trace)
        if opened is not None:
            return opened
        found = self._kept.find(args, self.most)
        writer: FunctionWriter | None = None
        if found is None:
            with memory.paused_collection():
                traced = self.trace(*args)
                writer, hosted = choose_tier(traced, args, self.most)
            found = FoundSteps(None if writer is None else writer.steps, hosted, traced.out_info)
            self._kept.keep(found, args, self.most)
        elif found.steps is not None:
            writer = write_function(found.steps, found.results, _numbers_in(args))
        if writer is not None:
            if self.broadcasts and (ufunc := writer.ufunc()) is not None:
                self._apply(ufunc, args[0].dtype)
            return writer.function()
        run = self.handed()
        return _to_host(run, found.results) if found.hosted else run

    def _make_open(self, args: Sequence[Any], _numbers: Any, sizes: Mapping[str, str]) -> Callable[..., Any] | None:
        traced = self.trace(*args)
        try:
            writer = _write(traced, args, self.most, sizes)
        except UnknownStepError:  # there may be one for known sizes
            return None
        if writer is not None:
            return writer.function()
        if self.watch is not None and self.watch.when_varying is not None and may_vary():
            self._vary()
        return _to_host(self.handed(), traced.out_info) if _are_hosted(traced.out_info) else self.handed()


def _to_host(run: Callable[..., Any], info: Any) -> Callable[..., Any]:
    """Run arrays of the host compiled; the results, structured like `info`, are on the host too."""
    array = np.asarray
    if info.__class__ is tuple and all(map(_is_leaf, info)):
        return lambda *args: tuple([array(x) for x in run(*args)])
    if _is_leaf(info):
        return lambda *args: array(run(*args))
    return lambda *args: jax.tree.map(array, run(*args))


def _is_leaf(info: Any) -> bool:
    return jax.tree_util.treedef_is_leaf(jax.tree.structure(info))


def _numbers_in(args: Sequence[Any]) -> frozenset[int]:
    return frozenset([i for i, a in enumerate(args) if a.__class__ in _NUMBERS])


def write_open(traced: Any, args: Sequence[Any], sizes: Mapping[str, str], most: int) -> Callable[..., Any] | None:
    """Return the function of arrays whose sizes are open, if NumPy runs those of the sizes at hand."""
    writer, _ = choose_tier(traced, args, most, sizes)
    return None if writer is None else writer.function()


def choose_tier(
    traced: Any, args: Sequence[Any], most: int, sizes: Mapping[str, str] = MappingProxyType({})
) -> tuple[FunctionWriter | None, bool]:
    """Choose what computes a traced function of small arrays and numbers: at most so many NumPy steps, or XLA,
    and whether the results are the host's. `sizes`: that are open."""
    try:
        writer = _write(traced, args, most, sizes)
    except UnknownStepError:
        return None, False
    return writer, writer is not None or _are_hosted(traced.out_info)


def _write(
    traced: Any, args: Sequence[Any], most: int, sizes: Mapping[str, str] = MappingProxyType({})
) -> FunctionWriter | None:
    """Return the NumPy function of a traced function; None where XLA is faster. `sizes`: that are open.

    Raises:
        UnknownStepError: there is none.
    """
    with reading():
        steps = Steps(traced.jaxpr)
        if not are_small(steps) or not is_cheap(steps.list):
            return None
        writer = write_function(steps, traced.out_info, _numbers_in(args), sizes)
        return writer if writer.turns <= most else None


def _are_hosted(results: Any) -> bool:
    """Whether results of XLA are small enough to be the host's."""
    return all(small.is_small(o.shape, o.dtype) for o in jax.tree.leaves(results))


# -- what XLA is given -----------------------------------------------------------------------------------------------
# Key: the array, whose content stays: it is no array of the user's (arrays.as_array copies those), and payloads are
# never written.
_handed: IdentityMemo = IdentityMemo("arrays of the host as JAX has them")
# Key: the number, of a zero with its sign.
_numbers: dict[type, Memo[Any, Any]] = {kind: Memo(f"{kind.__name__}s as arrays", 1024) for kind in _NUMBERS}


def for_xla(value: Any) -> Any:
    """Return a host array or a number as XLA takes it: when it recurs, as a JAX array.

    XLA takes that in half the time.
    """
    kind = value.__class__
    if kind is _ndarray:
        if value.size > small.MOST:  # NumPy's, in memory that XLA takes over without a copy
            return value
        held = _handed.get(id(value))
        if held is None:
            _handed.put(value, None)
            return value
        return _handed.put(value, jax.device_put(value)) if held[1] is None else held[1]
    numbers = _numbers.get(kind)
    if numbers is None:
        return value
    key = value or repr(value)  # a dictionary takes -0.0 for 0.0
    found = numbers.get(key)
    if found is None:
        return numbers.put(key, value)
    if found.__class__ is kind:
        with jax.ensure_compile_time_eval():  # JAX may be tracing
            found = numbers[key] = jnp.asarray(value)
    return found


def _unchanged(value: Any) -> Any:
    return value


def on_host(value: Any) -> Any:
    """Return a small XLA array, or a NumPy scalar, as a host array; anything else unchanged."""
    others = value.__class__ is array_class() or isinstance(value, np.generic)
    return np.asarray(value) if others and small.is_small(value.shape, value.dtype) else value


def are_small(steps: Steps) -> bool:
    """Whether the host may have each array of a function."""
    most = small.most()
    return all(is_at_most([n], most) for n in {math.prod(aval.shape) for aval in steps.types.values()})


def is_cheap(steps: list[HostStep]) -> bool:
    """Whether NumPy takes about as long for some steps as XLA would, compiled."""
    return len(steps) <= MAX_STEPS and is_at_most([*map(cost, steps)], _MOST + _MORE * len(steps))
