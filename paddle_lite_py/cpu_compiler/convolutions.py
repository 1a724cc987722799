"""Convolutions by oneDNN where that is faster than what XLA's compiler makes of them on CPUs.

XLA's kernels for them take a tenth to twice longer than oneDNN's (`onednn.py`), and those in groups many times. JAX has
one equation for a convolution and both of its gradients; here each is told apart, and becomes a call. A program that is
saved or exported has its convolutions as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core.jax_compat.jaxprs import Literal
from ..core.memo import memo
from . import onednn
from .convolution_choice import chosen
from .convolution_kinds import Operand, described, is_of_weights
from .flattening import RESULT, readers, specs_of, spliced, with_bodies, with_eqns
from .machine_code import CONVOLUTION

Axes = tuple[int, ...]


def lower_convolutions(jaxpr: Any) -> Any:
    """Return a jaxpr whose convolutions oneDNN computes, where it serves and is faster."""
    any_here = any(map(_is_convolution, jaxpr.eqns)) and onednn.loaded() is not None
    made = {v: e for e in jaxpr.eqns for v in e.outvars} if any_here else {}
    read = readers(jaxpr) if any_here else {}
    eqns: list[Any] = []
    gone = set()  # transposes that a convolution does itself
    for eqn in jaxpr.eqns:
        call = _call(eqn, made, _transpose_behind(eqn, jaxpr.eqns, read)) if any_here and _is_convolution(eqn) else None
        if call is not None:
            eqns += spliced(call.small, call.inputs, [call.output], eqn.source_info)
            gone.add(id(call.transpose))
        elif id(eqn) not in gone:
            eqns.append(with_bodies(eqn, lower_convolutions))
    return with_eqns(jaxpr, eqns)


def _is_convolution(eqn: Any) -> bool:
    return eqn.primitive.name == "conv_general_dilated"


class _Replacement(NamedTuple):
    """A call in the place of a convolution, and of the transpose behind it, if there is one."""

    small: Any
    inputs: list[Any]
    output: Any
    transpose: Any


def _call(eqn: Any, made: dict[Any, Any], behind: Any) -> _Replacement | None:
    """Return the replacement of a convolution, and of the transpose behind it for a weight gradient."""
    (x, weight), (out,) = eqn.invars, eqn.outvars
    if isinstance(x, Literal) or isinstance(weight, Literal):
        return None
    view = _origin(weight, made, eqn.params["dimension_numbers"].rhs_spec[2:])
    then = behind if is_of_weights(eqn.params) else None
    result, output = Operand.of(out.aval), out
    if then is not None:
        (output,) = then.outvars
        result = result.from_transposed(output.aval, then.params["permutation"])
    weights = Operand.of(view.var.aval).permuted(view.axes)
    found = described(eqn.params, Operand.of(x.aval), weights, result, view.turned)
    plan = None if found is None else chosen(found.convolution)
    if found is None or plan is None:
        return None
    inputs = [x, view.var]
    turned = tuple([view.axes[i] for i in eqn.params["dimension_numbers"].rhs_spec[2:]]) if found.turn else ()
    return _Replacement(_small(plan, turned, *specs_of((*inputs, output))), inputs, output, then)


class _View(NamedTuple):
    """The array that a variable is a view of: its axis i is axis axes[i] of the variable; turned: space is mirrored."""

    var: Any
    axes: Axes
    turned: bool


def _origin(var: Any, made: dict[Any, Any], space: Axes) -> _View:
    """Return the array that a weight is made of by transposes, and by mirrors of its space."""
    view = found = _View(var, tuple(range(var.aval.ndim)), False)
    mirrored: frozenset[int] = frozenset()  # axes as the convolution sees them
    while (eqn := made.get(view.var)) is not None and not isinstance(eqn.invars[0], Literal):
        if eqn.primitive.name == "transpose":
            axes = tuple([eqn.params["permutation"][a] for a in view.axes])
        elif eqn.primitive.name == "rev":
            axes = view.axes
            mirrored ^= {i for i, a in enumerate(axes) if a in eqn.params["dimensions"]}
        else:
            break
        view = _View(eqn.invars[0], axes, bool(mirrored))
        if mirrored in (frozenset(), frozenset(space)):
            found = view
    return found


def _transpose_behind(eqn: Any, eqns: Sequence[Any], read: dict[Any, list[int]]) -> Any:
    """Return the transpose that alone reads a result, if one does."""
    match read.get(eqn.outvars[0]):
        case [place] if place != RESULT and eqns[place].primitive.name == "transpose":
            return eqns[place]
    return None


# Key: the plan and the shapes and dtypes; pure.
@memo(2048, context=False)
def _small(plan: onednn.CallPlan, turned: Axes, x: Any, weight: Any, out: Any) -> Any:
    """Return a call of oneDNN as a jaxpr."""
    results = [out, jax.ShapeDtypeStruct((plan.scratch,), np.uint8)] if plan.scratch else [out]

    def call(x: Any, weight: Any) -> Any:
        weight = jax.lax.rev(weight, turned) if turned else weight
        return jax.ffi.ffi_call(CONVOLUTION, results)(x, weight, key=np.int64(plan.key))[0]

    return jax.make_jaxpr(call)(x, weight)
