"""Arrays that are compared with their own maximum or minimum are materialized, so that both read the same values.

The gradient of a maximum goes to the elements that are equal to it. XLA may compute these once for the maximum and once
more for the comparison, in kernels that round differently; then none is equal, and the gradient is 0 / 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..core.jax_compat.jaxprs import Literal
from .flattening import VIEWS, variables, with_bodies, with_eqns
from .fusion import in_memory, put_into_memory

_EXTREMA = {"reduce_max", "reduce_min"}
_VIEWS = VIEWS | {"stop_gradient"}  # of which bodies may have some
_SPREADS = _VIEWS | {"broadcast_in_dim"}


def materialize_before_extremum(jaxpr: Any) -> Any:
    """Return a jaxpr, and its bodies, in which no such array is computed twice."""
    jaxpr = with_eqns(jaxpr, [with_bodies(eqn, materialize_before_extremum) for eqn in jaxpr.eqns])
    return put_into_memory(jaxpr, compared(jaxpr))


def compared(jaxpr: Any) -> set[Any]:
    """Return the arrays that are compared with their own extremum, and are no arrays in memory by themselves."""
    if not any(e.primitive.name in _EXTREMA for e in jaxpr.eqns):
        return set()
    made = {v: e for e in jaxpr.eqns for v in e.outvars}
    kept = set()
    for eqn in jaxpr.eqns:
        if eqn.primitive.name != "eq":
            continue
        roots = [_origin(v, made, _VIEWS) for v in variables(eqn.invars)]
        for v in variables(eqn.invars):
            extremum = made.get(_origin(v, made, _SPREADS))
            if extremum is not None and extremum.primitive.name in _EXTREMA:
                root = _origin(extremum.invars[0], made, _VIEWS)
                if root in roots and root in made and not in_memory(made[root]):
                    kept.add(root)
    return kept


def _origin(v: Any, made: Mapping[Any, Any], through: Collection[str]) -> Any:
    while (eqn := made.get(v)) is not None and eqn.primitive.name in through:
        if isinstance(eqn.invars[0], Literal):
            break
        v = eqn.invars[0]
    return v
