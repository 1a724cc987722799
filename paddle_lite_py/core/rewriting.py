"""What a program is made into before XLA compiles it for CPUs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend import core
from jax.extend.core import primitives

from .chained import separated
from .compared import steady
from .convolutions import served
from .flattening import flat
from .fusion import cut
from .kernel_gradients import eased
from .layouts import laid_out, put_off
from .products import merged
from .updates import updated


def rewritten(fn: Callable[..., Any], donated: Sequence[int] = ()) -> Callable[..., Any]:
    """A function of arrays in a form that XLA's compiler does better with; nobody may differentiate it.

    Arguments:
        donated: which of its arguments' memory the results may take; then each argument is one array.
    """

    @functools.wraps(fn)
    def call(*args: Any) -> Any:
        if jax.default_backend() != "cpu" or jax.local_device_count() > 1:
            return fn(*args)
        with put_off():
            closed, shapes = jax.make_jaxpr(fn, return_shape=True)(*args)
        jaxpr = flat(closed.jaxpr)
        jaxpr = cut(steady(separated(updated(merged(eased(served(laid_out(jaxpr)))), donated))))
        return jax.tree.unflatten(jax.tree.structure(shapes), inlined(jaxpr, closed.consts, jax.tree.leaves(args)))

    return call


def inlined(jaxpr: Any, consts: Any, args: Sequence[Any]) -> list[Any]:
    """The results of a jaxpr in the trace under way; its equations are taken over as they are."""
    params: dict[str, Any] = {**_settings(), "jaxpr": core.ClosedJaxpr(jaxpr, consts), "inline": True}
    for name in ("in_shardings", "in_layouts", "donated_invars"):
        params[name] *= len(args)
    for name in ("out_shardings", "out_layouts"):
        params[name] *= len(jaxpr.outvars)
    return primitives.jit_p.bind(*args, **params)


# Key: once a process: what this JAX takes.
@functools.cache
def _settings() -> dict[str, Any]:
    """What JAX says of a compiled function with one argument and one result."""
    return jax.make_jaxpr(jax.jit(lambda x: x + 1))(0).jaxpr.eqns[0].params
