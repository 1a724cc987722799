"""A jaxpr with symbolic sizes, evaluated with others in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import symbolic
from .equations import called_jaxpr
from .jaxprs import Literal, body_of, constants_of, is_jaxpr


class UnsizedError(Exception):
    """A jaxpr has functions within, whose sizes are not replaced."""


def evaluate(jaxpr: Any, dims: symbolic.Dims, args: Sequence[Any]) -> list[Any]:
    """Return the results of a jaxpr; calls of functions are put in their place.

    Arguments:
        dims: sizes by symbols, known or symbolic ones of another trace.

    Raises:
        UnsizedError: it has loops or branches.
    """
    return _evaluate(body_of(jaxpr), constants_of(jaxpr), dims, args)


def _evaluate(body: Any, constants: Sequence[Any], dims: symbolic.Dims, args: Sequence[Any]) -> list[Any]:
    known: dict[Any, Any] = dict(zip(body.constvars, constants, strict=True))
    known |= zip(body.invars, args, strict=True)

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else known[atom]

    for eqn in body.eqns:
        given, called = [*map(read, eqn.invars)], called_jaxpr(eqn)
        if called is not None:
            made: Any = _evaluate(*called, dims, given)
        elif eqn.primitive.name == "dim_as_value":
            made = [_size(symbolic.evaluate(eqn.params["dim"], dims), eqn.outvars[0].aval.dtype)]
        else:
            made = eqn.primitive.bind(*given, **_sized(eqn, dims))
            made = made if eqn.primitive.multiple_results else [made]
        known |= zip(eqn.outvars, made, strict=True)
    return [*map(read, body.outvars)]


def _size(size: Any, dtype: np.dtype) -> Any:
    return jnp.asarray(size).astype(dtype) if symbolic.is_symbolic(size) else np.asarray(size, dtype)


def _sized(eqn: Any, dims: symbolic.Dims) -> dict[str, Any]:
    """Return the parameters of an equation with other sizes."""
    within = _functions_of(eqn)
    if within and eqn.primitive.name not in _COMBINING and not all(map(is_sized, within)):
        raise UnsizedError(eqn.primitive.name)
    return {k: symbolic.substitute(v, dims) for k, v in eqn.params.items()}


def _functions_of(eqn: Any) -> list[Any]:
    values = [v for value in eqn.params.values() for v in (value if value.__class__ is tuple else (value,))]
    return [v for v in values if is_jaxpr(v)]


def is_sized(jaxpr: Any) -> bool:
    """Whether all sizes in a jaxpr are known."""
    body = body_of(jaxpr)
    made = [v for eqn in body.eqns for v in eqn.outvars]
    if any(symbolic.has_symbolic(tuple(getattr(v.aval, "shape", ()))) for v in (*body.invars, *body.constvars, *made)):
        return False
    return all(e.primitive.name != "dim_as_value" and all(map(is_sized, _functions_of(e))) for e in body.eqns)


# Primitives whose function is one of two elements.
_COMBINING = frozenset(("scatter", "scatter-add", "scatter_add", "scatter-mul", "scatter-min", "scatter-max", "reduce"))
