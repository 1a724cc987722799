"""Exchanges as operators: at once in eager mode, and part of the one program in a static function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax

from ..core.interpreter import state
from ..dispatch.define import op
from ..eager.tensor import Tensor, wrap
from ..registry.op import REGISTRY
from . import axis, kernels
from .exchange import exchanges
from .group import Group


@op(name="_exchange", grad=False, effect=True)
def _exchange(xs: Sequence[Any], /, kind: str, group: int, size: int, how: Any = ()) -> Any:
    kernel = kernels.KERNELS[kind]
    try:
        axis.size()
    except NameError:  # one process traces: only shapes are needed
        return _shapes_of(kernel, kind, size, xs, how)
    with axis.within(axis.groups_of(group)):
        return axis.in_turn(kernel, [*map(lax.stop_gradient, xs)], how)  # gradients: those of the PyLayer around it


def _shapes_of(kernel: Callable[..., Any], kind: str, size: int, xs: Sequence[Any], how: Any) -> Any:
    def all_of_them(*parts: Any) -> Any:
        out = kernel(*parts, *how)
        return out if isinstance(out, tuple) else (out,)

    alone = jax.vmap(all_of_them, in_axes=0, axis_name=axis.AXIS)
    found = jax.eval_shape(alone, *[jax.ShapeDtypeStruct((size, *x.shape), x.dtype) for x in xs])

    def refuse(*_: Any) -> Any:
        raise RuntimeError(
            f"a program that exchanges values among {size} processes ({kind}) was run by one alone: save the "
            "model without the exchange, and, where gradients are asked for, make the whole step static: forward, "
            "backward() and the optimizer's step"
        )

    return jax.pure_callback(
        refuse, tuple([jax.ShapeDtypeStruct(o.shape[1:], o.dtype) for o in found]), *map(lax.stop_gradient, xs)
    )


def exchanged(kind: str, tensors: Sequence[Tensor], group: Group, *how: Any) -> tuple[Tensor, ...]:
    """Return the result of an exchange (kernels.KERNELS) of tensors in a group, in any mode."""
    if state.interpreter.at_once:
        out = exchanges().run(group, kind, kernels.KERNELS[kind], how, *[t._payload for t in tensors])
        return tuple(map(wrap, out)) if isinstance(out, tuple) else (wrap(out),)
    return REGISTRY["_exchange"].apply((list(tensors),), (kind, group.id, group.nranks, how))
