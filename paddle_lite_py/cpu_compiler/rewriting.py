"""The rewriting of a program before XLA compiles it for CPUs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax

from ..core.jax_compat import jaxprs
from ..core.jax_compat.calls import inlined
from ..core.jax_compat.equations import check_forms
from ..core.jax_compat.versions import is_tested, warn_unknown
from .flattening import flat
from .layouts import sink_transposes
from .passes import CHOSEN


class prepare:  # noqa: N801  (a decorator)
    """A function of arrays in a form that XLA's compiler does better with; nobody may differentiate it.

    Arguments:
        donated: which of its arguments' memory the results may take; then each argument is one array.
    """

    def __init__(self, fn: Callable[..., Any], donated: Sequence[int] = ()) -> None:
        functools.update_wrapper(self, fn)
        self._fn, self._donated = fn, donated

    def __call__(self, *args: Any) -> Any:
        """Return the results, while JAX traces."""
        if jax.default_backend() != "cpu" or jax.local_device_count() > 1:
            return self._fn(*args)
        closed, shapes = self.traced(*args)
        found = inlined(*self.rewritten(closed), jax.tree.leaves(args))
        return jax.tree.unflatten(jax.tree.structure(shapes), found)

    def traced(self, *args: Any) -> tuple[Any, Any]:
        """Return the function as a closed jaxpr, and the shapes and dtypes of the results, nested as it gives them."""
        with sink_transposes():
            return jax.make_jaxpr(self._fn, return_shape=True)(*args)

    def rewritten(self, closed: Any) -> tuple[Any, Sequence[Any]]:
        """Return the rewritten equations, and the values of their constants."""
        return optimized(closed.jaxpr, self._donated), closed.consts


def optimized(jaxpr: Any, donated: Sequence[int] = ()) -> Any:
    """Apply the passes to a jaxpr; if it has an unknown form, warn and return it unchanged."""
    try:
        check_forms(jaxpr)
        made = flat(jaxpr)
        for each in CHOSEN:
            made = each.run(made, donated)
        if not is_tested():
            jaxprs.check(made)
        return made
    except Exception as e:
        warn_unknown("an equation of a program", e)
        return jaxpr
