"""Python functions of concrete arrays as operators of static programs, run on the host between compiled parts."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from ..core import structure
from ..core.interpreter import no_grad, state, use
from ..eager.execute import EAGER
from ..eager.tensor import Tensor, wrap
from ..registry.op import REGISTRY, Op, freeze

Arguments = dict[str, Any]


class HostResult(NamedTuple):
    """Shape and dtype of a result before it is computed; unknown sizes are named, equal ones by the same name."""

    shape: tuple[Any, ...]
    dtype: Any


def on_host(results: Callable[[Arguments], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function that needs the values of its tensors usable in static programs.

    Its arguments are tensors, and attributes that can be saved to a file.

    Arguments:
        results: function from the arguments, by name, to the nested HostResults.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        op = _HostOp(function)
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            run = state.interpreter.run_on_host
            if run is None:
                return function(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            tensors = {k: v for k, v in given.items() if isinstance(v, Tensor)}
            others = tuple([(k, freeze(v, k)) for k, v in given.items() if k not in tensors])
            found: list[HostResult] = []
            nest = structure.flatten(results(given), lambda v: isinstance(v, HostResult), found)
            made = run(op.bind((tuple(tensors), others), (len(tensors),)), tuple(tensors.values()), found)
            return structure.unflatten(nest, iter(made))

        return call

    return decorate


class _HostOp(Op):
    """An op whose function is Python on tensors."""

    on_host = True

    def __init__(self, function: Callable[..., Any]) -> None:
        def run(tensors: list[Any], /, names: Any, others: Any) -> Any:
            with use(EAGER), no_grad():
                out = function(**dict(zip(names, map(wrap, tensors), strict=True)), **dict(others))
            found: list[Tensor] = []
            structure.flatten(out, lambda v: isinstance(v, Tensor), found)
            return tuple([t._payload for t in found])

        super().__init__(run, f"{function.__name__}_on_host", grad=False)
        REGISTRY[self.name] = self
