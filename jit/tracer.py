"""Traces a function, and again with what an attempt has shown of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import dy2static
from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.errors import TracedValueError
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.nn import unique_name
from paddle_lite_py.tracing.aliases import Undecided
from paddle_lite_py.tracing.dimensions import Dimensions
from paddle_lite_py.tracing.owned import owned_by
from paddle_lite_py.tracing.trace import Traced, trace
from paddle_lite_py.tracing.traced_scalars import TRUTHS, NumberTruthError

from . import at_run, watched
from .argument_aliases import ALONE, Shared, with_aliases
from .code_facts import Codebase
from .containers import note
from .implicit import Implicit
from .net import trace_watching_containers
from .runtime import convert


class FunctionTracer:
    """Traces one function for the arguments of a call.

    Arguments:
        function: the function as the user wrote it.
        name: its name in messages.
        passes: passes that rewrite each program, or None.
    """

    def __init__(self, function: Callable[..., Any], name: str, passes: Any) -> None:
        self.function, self.name, self._passes = function, name, passes
        self._implicit, self.code = Implicit(), Codebase()
        self._decided: frozenset[Any] = frozenset()  # statements that have turned out to need the data of a call

    def trace(
        self,
        structure: Any,
        shapes: list[Any],
        grads: list[bool],
        names: list[str],
        sizes: Dimensions | None = None,
        shared: Shared = ALONE,
        callers: Sequence[Tensor] = (),
        is_of_calls: bool = False,
    ) -> Traced:
        """Trace the function.

        Arguments:
            structure: of the arguments, with the Python values among them.
            shapes: an array or its spec for each tensor.
            grads: whether each of them requires gradients.
            names: a name for each of them.
            sizes: the unknown dimensions among them.
            shared: which of them share elements.
            callers: the tensors of the call, if it is one.
            is_of_calls: whether calls run the program, each of which makes anew what the function makes.
        """
        missing: dy2static.ConversionError | None = None
        try:
            converted = convert(self.function)
        except dy2static.ConversionError as e:  # no source: it may still be traced as it is, if no tensor steers it
            converted, missing = watched.form_of(self.function), e

        def call(*given: Tensor) -> Any:
            tensors = with_aliases(given, shared.aliases) if shared.aliases else given
            a, k = nested.unflatten(structure, iter(tensors))
            return note(converted(*a, **k), structure, (a, k), tensors, is_of_calls)

        names = names if len(names) == len(shapes) else [f"arg{i}" for i in range(len(shapes))]
        once: frozenset[Any] = frozenset()
        while True:
            try:
                more: Any = {"shared": shared.among, "sizes": sizes, "decided": self._decided | once}
                run = functools.partial(
                    trace, call, shapes, grads, names, _convert, callers=callers, is_of_calls=is_of_calls, **more
                )
                with at_run.record_effects(), unique_name.undone_if_it_fails():
                    values = [*nested.statics(structure), *[v for t in callers for v in owned_by(t).values()]]
                    found = trace_watching_containers(self.function, values, self._implicit, self.code, self.name, run)
                return run_passes(found, self._passes)
            except Undecided as e:
                self._decided, once = self._decided | e.places, once | e.once
            except TracedValueError as e:
                if missing is not None:
                    raise missing from None
                if not self._implicit.learn(e):
                    if not isinstance(e, NumberTruthError) or TRUTHS in self._decided:
                        raise
                    self._decided |= {TRUTHS}


def _convert(function: Any) -> Any:
    """Return a function that the framework calls while it traces; as it is where there is no source."""
    try:
        return convert(function)
    except dy2static.ConversionError:
        return function


def run_passes(traced: Traced, passes: Any) -> Traced:
    """Return a trace with its program as passes make it."""
    if not passes:
        return traced
    # Only here: most static functions do without.
    from paddle_lite_py.passes import PassManager, transformed

    return transformed(traced, PassManager(passes).apply)
