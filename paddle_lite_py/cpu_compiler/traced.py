"""A function of arrays as JAX has traced it, and as XLA gets it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from ..core.jax_compat.calls import inlined
from ..core.jax_compat.jaxprs import body_of, closed, constants_of, is_jaxpr
from .rewriting import prepare


class TracedFunction:
    """A function traced for arrays of given shapes and dtypes.

    Arguments:
        fn: the function, which may have been prepared. args: the arrays.
    """

    def __init__(self, fn: Callable[..., Any], args: Sequence[Any]) -> None:
        self._fn = fn
        self.specs = specs_of(args)
        if isinstance(fn, prepare):
            self.closed, self.shapes = fn.traced(*self.specs)
        else:
            self.closed, self.shapes = jax.make_jaxpr(fn, return_shape=True)(*self.specs)
        self.size = size(self.closed.jaxpr)

    # Key: the object itself, whose jaxpr stays.
    @functools.cached_property
    def _rewritten(self) -> tuple[Any, Sequence[Any]]:
        if isinstance(self._fn, prepare):
            return self._fn.rewritten(self.closed)
        return body_of(self.closed), constants_of(self.closed)

    def rewritten(self) -> Any:
        """Return the closed jaxpr that XLA gets."""
        return closed(*self._rewritten)

    def foreign_calls(self) -> list[tuple[str, int]]:
        """Return the names of the functions that XLA calls, and the key of the plan for each call; 0 without one."""
        return list(_foreign_calls(self._rewritten[0]))

    def inlined(self, args: Sequence[Any]) -> Any:
        """Return the results of that, nested as the function gives them, while JAX traces."""
        return jax.tree.unflatten(jax.tree.structure(self.shapes), inlined(*self._rewritten, args))

    def function(self) -> Callable[..., Any]:
        """Return the same as a function, under the name of what was traced."""

        def call(*args: Any) -> Any:
            return self.inlined(args)

        return functools.update_wrapper(call, self._fn)


def specs_of(args: Sequence[Any]) -> list[jax.ShapeDtypeStruct]:
    """Return shapes and dtypes of arrays, and which of them promote like numbers."""
    weak = [not a.shape and getattr(a, "weak_type", False) for a in args]
    return [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=w) for a, w in zip(args, weak, strict=True)]


def size(jaxpr: Any) -> int:
    """Return the number of equations, with those of the functions that they call."""
    inner = [body_of(p) for e in jaxpr.eqns for p in e.params.values() if is_jaxpr(p)]
    return len(jaxpr.eqns) + sum(map(size, inner))


def _foreign_calls(jaxpr: Any) -> Iterator[tuple[str, int]]:
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "ffi_call":
            yield eqn.params["target_name"], int(dict(eqn.params["attributes"]).get("key", 0))
        for parameter in eqn.params.values():
            for value in parameter if isinstance(parameter, tuple) else (parameter,):
                if is_jaxpr(value):
                    yield from _foreign_calls(body_of(value))
