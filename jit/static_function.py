"""Static functions: traced once for each kind of call, and then run compiled."""

from __future__ import annotations

import functools
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import dy2static
from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.context import context
from paddle_lite_py.core.errors import NoGradientError, TracedValueError
from paddle_lite_py.core.interpreter import layer_version
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.memo import Memo
from paddle_lite_py.core.no_effect import RefusedArgumentError
from paddle_lite_py.core.traced_number import ScalarGuard, ScalarInputs, of_call
from paddle_lite_py.eager import views
from paddle_lite_py.eager.execute import EAGER, Eager
from paddle_lite_py.eager.pending import held
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.host.tier import for_xla
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.aliases import Undecided
from paddle_lite_py.tracing.checks import refused_by_op
from paddle_lite_py.tracing.dimensions import Dimensions
from paddle_lite_py.tracing.effects import Argument
from paddle_lite_py.tracing.executor import Executable, SharedWithState
from paddle_lite_py.tracing.speculation import SpeculationFailed
from paddle_lite_py.tracing.trace import LOCK, Traced, trace
from paddle_lite_py.tracing.traced_scalars import TRUTHS, NumberTruthError

from . import at_run, guards, reads, spec, watched
from .breaks import Parts
from .buckets import Buckets
from .cache import Cache, CacheKey, Declared, Sharing
from .check import checked
from .containers import Changed, note, restore
from .declared import DeclaredSpecs
from .entry import Entry, Other
from .errors import GraphBreak, HeldGradientError, InnerGradientError, StagingError, raise_for_user
from .implicit import Implicit
from .inspection import Inspection, passed
from .lone_kinds import LoneKinds
from .net import noticed
from .options import DEFAULTS, CompileOptions, settings
from .raising import raised_by_user
from .runtime import convert
from .settling import settled
from .spec import SpecifiedCall
from .ties import Tie, Ties, tied
from .varying_scalars import ScalarLocations, VaryingScalars, with_numbers

_new = Tensor.__new__
_EAGER: Any = object()  # in the place of results: the function itself is to run


class StaticFunction(DeclaredSpecs, Inspection):
    """Function that is traced once for each kind of call and then runs as a compiled program; made by to_static().

    Arguments:
        function: the function, method or callable object.
        input_spec: InputSpecs of the tensor arguments; None: taken from each call.
        options: compile options, those of to_static().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: x + 1)
        >>> isinstance(f, paddle.jit.StaticFunction), f(paddle.ones([1])).item()
        (True, 2.0)
    """

    def __init__(
        self, function: Callable[..., Any], input_spec: Any = None, options: CompileOptions = DEFAULTS
    ) -> None:
        self._function, self._input_spec, self.options = function, input_spec, options
        self._buckets = None if options.buckets is None else Buckets(options.buckets)
        self._last: Entry | None = None
        self.last_call: SpecifiedCall | None = None  # the arguments of the last trace, as specs
        self._bound_by_id: dict[int, StaticFunction] = {}
        self.__name__ = type(function).__name__  # a callable object; functions have a name of their own
        functools.update_wrapper(self, function, updated=())
        self.cache = Cache(self.__name__, options.cache_size)
        self._scalars, self._locations = VaryingScalars(), ScalarLocations()
        self._implicit, self._ties = Implicit(), Ties()
        self._lone = LoneKinds(self.cache)
        # Key: the context, structure and Python values of the arguments, and their specs.
        self._declared = Memo(f"declared programs of {self.__name__}", options.cache_size)
        self._decided: frozenset[Any] = frozenset()  # statements that have turned out to need the data of a call
        self._parts: Parts | None = None  # once it has turned out that it cannot be staged as a whole

    # -- calling ---------------------------------------------------------------------------------------------------
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        entry = self._last
        # The hot path: the same kind of tensors as the last call. Comparing is cheaper than making a key.
        if entry is not None and not kwargs and len(args) == len(entry.expected) and mode.interpreter is EAGER:
            arrays = []
            for a, (shape, dtype, stopped) in zip(args, entry.expected):  # noqa: B905  (lengths are equal)
                if a.__class__ is not Tensor or a.stop_gradient is not stopped:
                    break
                data = a._data
                if data.shape != shape or data.dtype is not dtype:
                    break
                arrays.append(data if data.__class__ is not np.ndarray else for_xla(data))
            else:
                if mode.grad_enabled is entry.grad_enabled and settings.enabled:
                    plain = entry.plain and entry.coded.__code__ is entry.code
                    if (plain and entry.layer_version == layer_version.number) or entry.stale() is None:
                        if entry.call is not None:
                            out = _new(Tensor)
                            out._data = entry.call(*arrays)
                            return out
                        try:
                            return entry.run(args)
                        except SharedWithState:
                            return self._call(args, kwargs)
                        except Exception as e:
                            if not raised_by_user(e):
                                raise
                            return self._as_it_is(args, kwargs)
        return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not settings.enabled:
            return self._function(*args, **kwargs)
        if not isinstance(mode.interpreter, Eager):  # inside another trace: part of that program
            if self.options.passes:
                raise StagingError(
                    f"`{self.__name__}` has passes of its own, and is called inside of another program, which takes in "
                    "its code without them: give passes= to the outer static function, or call it from eager code"
                )
            return convert(self._function)(*args, **kwargs)
        try:
            if self._parts is not None:
                return self._parts.run(args, kwargs)
            out = _EAGER
            try:
                out = self._run(args, kwargs)
            except Exception as e:
                if not (raised_by_user(e) or refused_by_op(e) or isinstance(e, HeldGradientError | NoGradientError)):
                    raise
            if out is not _EAGER:
                return out
            return self._function(*map(spec.as_tensor, args), **{k: spec.as_tensor(v) for k, v in kwargs.items()})
        except GraphBreak as e:
            return self._break(e.cause, args, kwargs)
        except InnerGradientError as e:
            if self.options.full_graph:
                raise
            return self._break(e, args, kwargs)
        except RecursionError:
            raise StagingError(
                f"`{self.__name__}` is recursive without an end that is known while it is traced: a recursion whose "
                "depth depends on a tensor has no static program; write it as a `while` loop"
            ) from None
        except Exception as e:
            raise_for_user(e)

    def _as_it_is(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function itself, which raises what its program has found, after what it does before it raises."""
        try:
            return self._function(*args, **kwargs)
        except Exception as e:
            raise_for_user(e)

    def _break(self, cause: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run in parts from now on; if that fails as well, the function itself is to blame."""
        self._parts = Parts(self._function, cause, lambda f: StaticFunction(f, None, self.options))
        self._last = None
        try:
            return self._parts.run_first(args, kwargs)
        except Exception as e:
            self._parts = None
            raise_for_user(e)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        names = spec.in_order(self._function, kwargs)
        args, kwargs = tuple(map(spec.as_tensor, args)), {k: spec.as_tensor(kwargs[k]) for k in names}
        structure, tensors = spec.flatten(args, kwargs)
        checks = self.options.check or settings.check
        entry, numbers = self.entry(structure, tensors, args, kwargs, may_wait=not (self._input_spec or checks))
        if entry is None:
            return _EAGER

        def run(entry: Entry, numbers: ScalarInputs) -> Any:
            if checks:
                return checked(entry, lambda: self._function(*args, **kwargs), tensors, numbers, self.__name__)
            return entry.run_with(tensors, numbers)

        if self._buckets is not None and (specs := self._specs(args, kwargs, tensors)):
            return self._buckets.run(entry, tensors, specs, numbers, self.__name__)
        simple = mode.interpreter is EAGER and not (numbers or kwargs or self._input_spec or entry.from_leaves)
        simple = simple and not (entry.traced.speculated or checks or entry.lone or self._ties.of(tensors))
        simple = simple and not entry.changes_arguments and entry.executable.repeatable  # ties; errors of Python
        self._last = entry if simple and all(a.__class__ is Tensor for a in args) else None
        out = self._right(run, entry, numbers, lambda other: self.entry(structure, tensors, args, kwargs, other))
        return restore(out, (args, kwargs)) if out.__class__ is Changed else out

    def _right(
        self, run: Any, entry: Entry, numbers: ScalarInputs, find: Callable[[Other], tuple[Entry, ScalarInputs]]
    ) -> Any:
        """The results of the program that takes the right values for granted, looked for from a first one on."""
        tried: list[Entry] = []
        while True:
            try:
                return run(entry, numbers)
            except SpeculationFailed as e:
                tried.append(entry)
                entry, numbers = find(Other(str(e), functools.partial(_serves, tried, e.found)))

    def entry(
        self, structure: Any, tensors: list[Any], args: Any, kwargs: Any, other: Any = None, may_wait: bool = False
    ) -> tuple[Any, ScalarInputs]:
        """The program for a call, traced if there is none, and the numbers of the call that it takes as inputs.

        Arguments:
            other: an Other, where the program that was found cannot serve.
            may_wait: None in the place of a program where the function itself is to run; see LoneKinds.
        """
        specs = self._specs(args, kwargs, tensors)
        shapes = [held(t).shape for t in tensors]
        serves = other.serves if other else (lambda entry: True)
        kinds: Any = tuple([(held(t).shape, held(t).dtype, t.stop_gradient) for t in tensors])
        if specs is not None:
            kinds = tuple([Declared(s, t.stop_gradient) for s, t in zip(specs, tensors, strict=True)])
        ties = self._ties.of(tensors)
        if (among_them := views.shared(tensors)) or ties:
            kinds = (*kinds, Sharing((among_them, *[t.key for t in ties])))
        with LOCK:
            now = context()
            common, among = self._scalars.split(structure, (now, kinds))
            numbers = among + self._locations.values()
            key, names = CacheKey(now, common, kinds), spec.names_of(self._function, args, kwargs)
            entry, cause = self.cache.find(key, numbers, names, lambda e: e.takes(shapes) and serves(e))
            cause = other.cause if other else cause
            if entry is not None:
                entry.lone = False
            elif may_wait and mode.interpreter is EAGER and self._lone.waits(key, tensors):
                return None, ()
            else:
                self._locations.learn(e.failed for e in self.cache.entries.get(key, ()))
                numbers = among + self._locations.values()
                since = time.perf_counter()
                self.last_call = spec.call_of(self._function, args, kwargs)
                try:
                    with self._sharing(among_them, ties):
                        entry = self._make(common, structure, numbers, tensors, specs, names.tensors)
                except Exception as e:
                    raise (GraphBreak(e) if self._may_break(e) else e) from None
                self.cache.add(key, entry, spec.described(tensors), cause, since)
                self._show(settings)
                self._ties.learn(entry.executable)
                if len(self._ties.of(tensors)) > len(ties):
                    return self.entry(structure, tensors, args, kwargs, other)
        return entry, numbers

    def _may_break(self, error: Exception) -> bool:
        lasting = isinstance(error, Warning | RefusedArgumentError)  # in parts, it would be no better or go unseen
        return getattr(error, "undone", True) and not (self.options.full_graph or raised_by_user(error) or lasting)

    # -- tracing ---------------------------------------------------------------------------------------------------
    _shared: tuple[Any, ...] = ()  # which tensors of the call being traced are views of which
    _tied: tuple[Tie, ...] = ()  # and which are views of what the program reads from outside

    @contextmanager
    def _sharing(self, among: tuple[Any, ...], ties: tuple[Tie, ...]) -> Iterator[None]:
        self._shared, self._tied = among, ties
        try:
            yield
        finally:
            self._shared, self._tied = (), ()

    def _make(
        self, common: Any, exact: Any, numbers: ScalarInputs, tensors: list[Any], specs: Any, names: list[str]
    ) -> Entry:
        """Trace; with numbers as inputs where that can be, else with their values."""
        seen: list[ScalarGuard] = []
        shapes = [t._data for t in tensors]
        sizes = None if specs is None else Dimensions(specs, names, [a.shape for a in shapes])
        grads = [not t.stop_gradient for t in tensors]
        of_places = len(self._locations.values())

        def attempt(shapes: list[Any]) -> Traced:
            seen.clear()
            with self._locations.replaced(len(numbers) - of_places, seen), of_call(numbers):
                return self.trace(with_numbers(common, numbers, seen), shapes, grads, names, sizes)

        try:
            traced = settled(sizes, attempt, shapes)
        except Exception:
            if not numbers:
                raise
            traced = settled(sizes, lambda shapes: self.trace(exact, shapes, grads, names, sizes), shapes)
            seen = [ScalarGuard(lambda given: given[: len(numbers)], numbers)]
        if sizes is not None and (fixed := sizes.fixed()):
            self._warn_once(f"`{self.__name__}` is compiled for each size of {fixed}")
        return self._entry_of(traced, exact, tensors, seen, sizes)

    def _entry_of(
        self, traced: Traced, structure: Any, tensors: list[Any], seen: list[ScalarGuard], sizes: Dimensions | None
    ) -> Entry:
        owner = getattr(self._function, "__self__", None)
        layers = [owner, *traced.layers] if isinstance(owner, Layer) else traced.layers
        changed = [w for w, *_ in traced.paths] + [e.write for e in traced.effects]
        written = [(id(w.owner), w.key) for w in changed if not isinstance(w.owner, Argument | Tensor)]
        values = [*nested.statics(structure), *[o for fact in traced.assumed for o in getattr(fact, "reads", ())]]
        found, settings = reads.guards_of(self._function, values, layers, written)
        found += guards.of_shared_paths(traced.paths, found)
        settings += guards.of_layers(layers)
        found, settings = ([g for g in gs if not self._locations.covers(g)] for gs in (found, settings))
        found += [guards.Payload(*looked) for looked in traced.looked]
        expected = [(t._data.shape, t._data.dtype, t.stop_gradient) for t in tensors]
        executable = Executable(traced, self.__name__, repeats=True)
        executable.watched = set() if self._tied else executable.watched
        return Entry(executable, expected, found, settings, [*seen, *traced.seen], sizes)

    def trace(
        self, structure: Any, shapes: list[Any], grads: list[bool], names: list[str], sizes: Dimensions | None = None
    ) -> Traced:
        """Trace the function for given arguments."""
        missing: dy2static.ConversionError | None = None
        try:
            converted = convert(self._function)
        except dy2static.ConversionError as e:  # no source: it may still be traced as it is, if no tensor steers it
            converted, missing = watched.form_of(self._function), e

        def call(*given: Tensor) -> Any:
            tensors = tied(given, self._tied) if self._tied else given
            a, k = nested.unflatten(structure, iter(tensors))
            return note(converted(*a, **k), structure, (a, k), tensors)

        names = names if len(names) == len(shapes) else [f"arg{i}" for i in range(len(shapes))]
        once: frozenset[Any] = frozenset()
        while True:
            try:
                more: Any = {"shared": self._shared, "sizes": sizes, "decided": self._decided | once}
                run = functools.partial(trace, call, shapes, grads, names, _converted, **more)
                with at_run.followed():
                    found = noticed(self._function, [*nested.statics(structure)], self._implicit, self.__name__, run)
                return passed(found, self.options.passes)
            except Undecided as e:
                self._decided, once = self._decided | e.places, once | e.once
            except TracedValueError as e:
                if missing is not None:
                    raise missing from None
                if not self._implicit.learn(e):
                    if not isinstance(e, NumberTruthError) or TRUTHS in self._decided:
                        raise
                    self._decided |= {TRUTHS}

    # -- as a method -----------------------------------------------------------------------------------------------
    def __get__(self, obj: Any, owner: Any = None) -> Any:
        if obj is None:
            return self
        key, bound = id(obj), self._bound_by_id
        made = bound.get(key)
        if made is None or made._owner() is not obj:
            made = bound[key] = self.like(self._function.__get__(obj, owner))
            made._owner = weakref.ref(obj, lambda _: bound.pop(key, None))
        return made

    _owner: Any = None

    def like(self, function: Callable[..., Any]) -> StaticFunction:
        """A static function of another function, with the same settings."""
        return StaticFunction(function, self._input_spec, self.options)

    def rollback(self) -> Callable[..., Any]:
        """The function as the user wrote it, in the place of this one where it is a layer's forward."""
        if isinstance(owner := getattr(self._function, "__self__", None), Layer):
            owner.__dict__.pop("forward", None)
        return self._function

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        owner = getattr(self._function, "__self__", None)
        if owner is not None and id(owner) in memo:
            method: Any = self._function
            return self.like(method.__func__.__get__(memo[id(owner)]))
        return self.like(self._function)

    def __reduce__(self) -> Any:
        return StaticFunction, (self._function, self._input_spec, self.options)

    def __repr__(self) -> str:
        return f"<StaticFunction {self.__name__}, {len(self.cache)} programs>"


def _converted(function: Any) -> Any:
    """A function that the framework calls while it traces; as it is where there is no source."""
    try:
        return convert(function)
    except dy2static.ConversionError:
        return function


def _serves(tried: list[Entry], found: list[Any], entry: Entry) -> bool:
    return entry not in tried and entry.agrees(found)
