"""Jaxprs, open or closed: since JAX 0.11 there is one class for both, which has its constants itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend import core

Literal, Var, DropVar, Primitive = core.Literal, core.Var, core.DropVar, core.Primitive
ShapedArray = jax.core.ShapedArray
as_function, check = core.jaxpr_as_fun, core.check_jaxpr


_JAXPRS = (core.Jaxpr, core.ClosedJaxpr)  # a union would be made anew in each of a hundred thousand calls


def is_jaxpr(value: Any) -> bool:
    """Whether something is a jaxpr, with constants or without."""
    return isinstance(value, _JAXPRS)


def body_of(jaxpr: Any) -> Any:
    """Return the equations of a jaxpr, without its constants where these stand apart."""
    return jaxpr.jaxpr if isinstance(jaxpr, core.ClosedJaxpr) else jaxpr


def constants_of(jaxpr: Any) -> Sequence[Any]:
    """Return the values of its constants; none of an open one."""
    return jaxpr.consts if isinstance(jaxpr, core.ClosedJaxpr) else ()


def with_body(jaxpr: Any, body: Any) -> Any:
    """Return a jaxpr with other equations and the same constants."""
    return jaxpr.replace(jaxpr=body) if isinstance(jaxpr, core.ClosedJaxpr) else body


def closed(body: Any, constants: Sequence[Any]) -> Any:
    """Return a jaxpr with values of its constants."""
    return core.ClosedJaxpr(body, list(constants))


def reads_arguments(jaxpr: Any) -> bool:
    """Whether anything of a jaxpr depends on its arguments, and not on their shapes alone."""
    body = body_of(jaxpr)
    read = {v for e in body.eqns for v in e.invars if not isinstance(v, Literal)}
    return not read.union(v for v in body.outvars if not isinstance(v, Literal)).isdisjoint(body.invars)


def is_unspecified(value: Any) -> bool:
    """Whether a sharding is none in particular; JAX has no public name for what says so."""
    return type(value).__name__ == "UnspecifiedValue"


def is_empty_mesh(value: Any) -> bool:
    """Whether something is a mesh without devices."""
    return isinstance(value, jax.sharding.Mesh) and value.empty
