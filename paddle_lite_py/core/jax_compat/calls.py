"""A jaxpr made part of the trace under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import primitives

from ..memo import once
from .jaxprs import closed
from .versions import warn_unknown

convolution_p, product_p = jax.lax.conv_general_dilated_p, jax.lax.dot_general_p
# Of a call, what there is one of for each argument, and for each result.
_EACH_ARGUMENT, _EACH_RESULT = ("in_shardings", "in_layouts", "donated_invars"), ("out_shardings", "out_layouts")


def inlined(jaxpr: Any, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """Return the results of a jaxpr in the trace under way; its equations are taken over as they are."""
    try:
        params = _of_a_call(len(args), len(jaxpr.outvars))
        return primitives.jit_p.bind(*args, **params | {"jaxpr": closed(jaxpr, consts)})
    except Exception as e:
        warn_unknown("a call of a compiled function", e)
        return jax.core.eval_jaxpr(jaxpr, consts, *args)  # one by one, which takes longer


def _of_a_call(n_args: int, n_results: int) -> dict[str, Any]:
    """Return the settings of an equation that calls a compiled function whose equations replace it."""
    params = dict(_with_one())
    for name in _EACH_ARGUMENT:
        params[name] *= n_args
    for name in _EACH_RESULT:
        params[name] *= n_results
    is_flag = isinstance(params["inline"], bool)
    return params | {"inline": True if is_flag else getattr(jax, "Inline").JAX_EARLY}  # noqa: B009  (since JAX 0.11)


@once
def _with_one() -> dict[str, Any]:
    """The same of one argument and one result."""
    return jax.make_jaxpr(jax.jit(lambda x: x + 1))(0).jaxpr.eqns[0].params
