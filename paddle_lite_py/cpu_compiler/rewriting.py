"""What a program is made into before XLA compiles it for CPUs."""

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
from .layouts import put_off
from .passes import CHOSEN


def prepare(fn: Callable[..., Any], donated: Sequence[int] = ()) -> Callable[..., Any]:
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
        jaxpr = optimized(closed.jaxpr, donated)
        return jax.tree.unflatten(jax.tree.structure(shapes), inlined(jaxpr, closed.consts, jax.tree.leaves(args)))

    return call


def optimized(jaxpr: Any, donated: Sequence[int] = ()) -> Any:
    """What the passes make of a jaxpr; itself where a form in it is not known, with a warning."""
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
