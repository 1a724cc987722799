"""Products that XLA's library for CPUs would make again and again stand apart.

It takes a reduction with all that stands around it for one kernel, products included (config.py says which kinds it may
take). Where these are several, one after the other, it may make the first again for each part of the second: pooling
and two linear layers, the end of a VGG, take 560 ms so, and 20 if the second product is a kernel of its own.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp

from ..core.jax_compat.calls import product_p
from ..core.memo import memo
from .flattening import specs_of, spliced, variables
from .fusion import ELEMENTWISE, never

# Multiplications of a product above which the savings are worth a branch, which takes some microseconds.
WORTH = 1 << 18
_REDUCTIONS = frozenset("reduce_sum reduce_max reduce_min".split())
_TAKEN = ELEMENTWISE | _REDUCTIONS | frozenset("broadcast_in_dim dot_general expand_dims reshape squeeze".split())


def unfuse_dot_chains(jaxpr: Any) -> Any:
    """Return a flat jaxpr whose products are separate kernels, except for the first one next to a reduction."""
    chosen = {id(e) for e in repeated(jaxpr)}
    found = never(jaxpr) if chosen else None
    if found is None:
        return jaxpr
    eqns, condition = found
    for eqn in jaxpr.eqns:
        if id(eqn) in chosen:
            small = _in_a_branch(*specs_of(eqn.invars), tuple(eqn.params.items()))
            eqns += spliced(small, [condition, *eqn.invars], eqn.outvars, eqn.source_info)
        else:
            eqns.append(eqn)
    return jaxpr.replace(eqns=eqns)


def repeated(jaxpr: Any) -> list[Any]:
    """Return the products that stand in one kernel with a reduction and an earlier product."""
    kernels: dict[int, list[Any]] = {}
    for eqn, kernel in zip(jaxpr.eqns, _kernels(jaxpr), strict=True):
        if eqn.primitive.name in _REDUCTIONS or _is_large_product(eqn):
            kernels.setdefault(kernel, []).append(eqn)
    later = []
    for found in kernels.values():
        products = [e for e in found if e.primitive.name == "dot_general"]
        if len(products) < len(found):
            later += products[1:]
    return later


def _is_large_product(eqn: Any) -> bool:
    if eqn.primitive.name != "dot_general":
        return False
    (summed, _), _ = eqn.params["dimension_numbers"]
    return eqn.outvars[0].aval.size * math.prod(eqn.invars[0].aval.shape[a] for a in summed) >= WORTH


def _kernels(jaxpr: Any) -> list[int]:
    """For each equation the number of the kernel that may hold it: that of all who read it, if it is the same."""
    readers: dict[Any, set[int]] = {v: {-1} for v in variables(jaxpr.outvars)}
    kernels = []
    for i, eqn in reversed(list(enumerate(jaxpr.eqns))):
        ways = set().union(*(readers.get(v, set()) for v in eqn.outvars))
        taken = eqn.primitive.name in _TAKEN
        kernel = ways.pop() if taken and len(ways) == 1 else -1
        kernel = i if kernel == -1 else kernel
        kernels.append(kernel)
        for v in variables(eqn.invars):
            readers.setdefault(v, set()).add(kernel if taken else -1)
    return kernels[::-1]


# Key: shapes, dtypes and settings of the product; pure.
@memo(512, context=False)
def _in_a_branch(x: Any, y: Any, params: Any) -> Any:
    def product(never: Any, a: Any, b: Any) -> Any:
        made = functools.partial(product_p.bind, **dict(params))
        out = jax.eval_shape(made, a, b)
        return jax.lax.cond(never, lambda a, b: jnp.zeros(out.shape, out.dtype), made, a, b)

    return jax.make_jaxpr(product)(jax.ShapeDtypeStruct((), bool), x, y)
