"""Which program serves a call of a static function: one that is kept, a new one, or none."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.context import context
from paddle_lite_py.core.errors import MadeInTraceError, warn_user
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.traced_number import ScalarGuard, ScalarInputs, of_call
from paddle_lite_py.eager import views
from paddle_lite_py.eager.execute import EAGER
from paddle_lite_py.eager.pending import payload_of
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.dimensions import Dimensions
from paddle_lite_py.tracing.effects import Argument
from paddle_lite_py.tracing.executor import Executable
from paddle_lite_py.tracing.owned import Owned
from paddle_lite_py.tracing.places import MISSING
from paddle_lite_py.tracing.speculation import SpeculationFailed
from paddle_lite_py.tracing.trace import LOCK, Traced

from . import guards, reads, spec
from .argument_aliases import ArgumentAliases, Shared
from .breaks import may_break
from .cache import Cache, CacheKey, Declared, Sharing
from .call import FunctionCall
from .compile_policy import CompilePolicy
from .entry import Entry, Other
from .errors import GraphBreak
from .options import CompileOptions
from .retracing import retrace_until_sizes_hold
from .spec import SpecifiedCall
from .tracer import FunctionTracer
from .varying_scalars import DynamicAttributes, VaryingScalars, with_numbers

MAX_MAKERS = 16  # kinds of calls of which the first one may run as Python, since it makes parameters


class Specializer:
    """Finds the program for each call of a function, and learns from the calls which programs to make.

    - Numbers that change from call to call, among the arguments or in objects, become inputs of programs.
    - Arguments that share elements with tensors that a program reads from outside are views of those in it.
    - Where kinds of calls keep coming that do not come again, they are not compiled.

    Arguments:
        tracer: of the function.
        options: compile options of the function.
        traced: called after each trace.
    """

    def __init__(self, tracer: FunctionTracer, options: CompileOptions, traced: Callable[[], None]) -> None:
        self.tracer, self.cache, self._after_trace = tracer, Cache(tracer.name, options.cache_size), traced
        self._full_graph = options.full_graph
        # The kinds of calls that have made what is another one in each, perhaps to keep it for later ones.
        self._makers: list[Any] = []
        self.last_call: SpecifiedCall | None = None  # the arguments of the last trace, as specs
        self._scalars, self._attributes = VaryingScalars(), DynamicAttributes()
        self._aliases, self._policy = ArgumentAliases(), CompilePolicy(self.cache)

    def find(
        self, call: FunctionCall, other: Other | None = None, may_wait: bool = False, runs: bool = True
    ) -> tuple[Any, ScalarInputs]:
        """Return the program for a call, traced if there is none, and the numbers of the call that it takes as inputs.

        None in the place of a program: the function itself is to run, as the first call does that makes parameters,
        which later ones find.

        Arguments:
            other: why the program that was found cannot serve, and which may.
            may_wait: None in the place of a program where the function itself is to run; see CompilePolicy.
            runs: whether the call is made, or its program looked at.
        """
        shapes, tensors = call.shapes, call.tensors
        serves = other.serves if other else (lambda entry: True)
        shared = Shared(views.find_sharing(tensors), self._aliases.of(tensors))
        kinds = _kinds(call, shared)
        with LOCK:
            now = context()
            common, among = self._scalars.split(call.structure, (now, kinds))
            numbers = among + self._attributes.values()
            key = CacheKey(now, common, kinds)
            entry, stale = self.cache.find(key, numbers, lambda e: e.takes(shapes) and serves(e), tensors)
            if entry is not None:
                entry.called_once = False
            elif may_wait and mode.interpreter is EAGER and self._policy.should_run_eagerly(key, tensors):
                return None, ()
            else:
                cause = other.cause if other else stale or self.cache.news(key, call.names)
                self._attributes.learn(e.failed for e in self.cache.entries.get(key, ()))
                numbers = among + self._attributes.values()
                since = time.perf_counter()
                self.last_call = spec.call_of(call.function, call.args, call.kwargs)
                try:
                    entry = self._make(call, common, numbers, shared)
                except Exception as e:
                    if isinstance(e, MadeInTraceError) and runs and other is None and self._is_first((key, numbers)):
                        return None, ()
                    raise (GraphBreak(e) if not self._full_graph and may_break(e) else e) from None
                self.cache.add(key, entry, spec.describe_tensors(tensors), cause, since)
                self._after_trace()
                self._aliases.learn(entry.executable)
                if len(self._aliases.of(tensors)) > len(shared.aliases):
                    return self.find(call, other)
        return entry, numbers

    def _is_first(self, kind: Any) -> bool:
        """Whether no call of this kind has made anything before, and not too many of others."""
        if kind in self._makers or len(self._makers) == MAX_MAKERS:
            return False
        self._makers.append(kind)
        return True

    def has_aliases(self, call: FunctionCall) -> bool:
        """True if some arguments share elements with tensors that a program reads from outside."""
        return bool(self._aliases.of(call.tensors))

    def run(
        self, call: FunctionCall, entry: Entry, numbers: ScalarInputs, run: Callable[[Entry, ScalarInputs], Any]
    ) -> Any:
        """Run a program; where it has taken a wrong value for granted, the one that takes the right one."""
        tried: list[Entry] = []
        while True:
            try:
                return run(entry, numbers)
            except SpeculationFailed as e:
                tried.append(entry)
                entry, numbers = self.find(call, Other(str(e), partial(_is_match, tried, e.found)))

    def _make(self, call: FunctionCall, common: Any, numbers: ScalarInputs, shared: Shared) -> Entry:
        """Trace; with numbers as inputs where that can be, else with their values."""
        seen: list[ScalarGuard] = []
        names = call.names.tensors
        shapes = [t._payload for t in call.tensors]
        sizes = None if call.specs is None else Dimensions(call.specs, names, [a.shape for a in shapes])
        grads = [not t.stop_gradient for t in call.tensors]
        of_places = len(self._attributes.values())

        def attempt(shapes: list[Any]) -> Traced:
            seen.clear()
            with self._attributes.replaced(len(numbers) - of_places, seen), of_call(numbers):
                structure = with_numbers(common, numbers, seen)
                return self.tracer.trace(structure, shapes, grads, names, sizes, shared, call.tensors, True)

        def with_values(shapes: list[Any]) -> Traced:
            return self.tracer.trace(call.structure, shapes, grads, names, sizes, shared, call.tensors, True)

        try:
            traced = retrace_until_sizes_hold(sizes, attempt, shapes)
        except Exception:
            if not numbers:
                raise
            traced = retrace_until_sizes_hold(sizes, with_values, shapes)
            seen = [ScalarGuard(lambda given: given[: len(numbers)], numbers)]
        if sizes is not None and (fixed := sizes.fixed()):
            warn_user(f"`{self.tracer.name}` is compiled for each size of {fixed}")
        return self._entry_of(traced, call, seen, sizes, shared)

    def _entry_of(
        self, traced: Traced, call: FunctionCall, seen: list[ScalarGuard], sizes: Dimensions | None, shared: Shared
    ) -> Entry:
        owner = getattr(call.function, "__self__", None)
        layers = [owner, *traced.layers] if isinstance(owner, Layer) else traced.layers
        changed = [w for w, *_ in traced.paths] + [e.write for e in traced.effects]
        written = [(id(w.owner), w.key) for w in changed if not isinstance(w.owner, Argument)]
        values = [*nested.statics(call.structure), *[o for fact in traced.assumed for o in getattr(fact, "reads", ())]]
        values += [own.value for own in traced.owned]
        found, settings, asked = reads.guards_of(call.function, values, layers, written, self.tracer.code)
        more = [Owned(i, n, vars(t).get(n, MISSING)) for n in sorted(asked) for i, t in enumerate(call.tensors)]
        traced = traced._replace(owned=(*traced.owned, *more))
        found += guards.of_shared_paths(traced.paths, found)
        settings += guards.of_layers(layers)
        found, settings = ([g for g in gs if not self._attributes.covers(g)] for gs in (found, settings))
        found += [guards.Payload(*looked) for looked in traced.looked]
        expected = [(t._payload.shape, t._payload.dtype, t.stop_gradient) for t in call.tensors]
        executable = Executable(traced, self.tracer.name, repeats=True)
        executable.watched = set() if shared.aliases else executable.watched
        return Entry(executable, expected, found, settings, [*seen, *traced.seen], sizes)


def _kinds(call: FunctionCall, shared: Shared) -> tuple[Any, ...]:
    """Return the kinds of a call's tensors that a program depends on, and those of shared elements."""
    if call.specs is None:
        kinds: Any = tuple([((data := payload_of(t)).shape, data.dtype, t.stop_gradient) for t in call.tensors])
    else:
        kinds = tuple([Declared(s, t.stop_gradient) for s, t in zip(call.specs, call.tensors, strict=True)])
    return (*kinds, Sharing(shared.key)) if shared.key else kinds


def _is_match(tried: list[Entry], found: list[Any], entry: Entry) -> bool:
    return entry not in tried and entry.agrees(found)
