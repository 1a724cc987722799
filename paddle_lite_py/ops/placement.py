"""Tensors made in the shape of another one lie over its mesh as it does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from ..core.arrays import laid_over, meshes
from ..core.interpreter import no_grad, state
from ..core.jax_compat.xla import sharded_alike
from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.pending import payload_of
from ..eager.sharding import with_sharding_of
from ..eager.tensor import Tensor

Function = Callable[..., Any]


@op(name="_with_sharding_of")
def _with_sharding_of(made: Any, like: Any, /) -> Any:
    return sharded_alike(made, like)


@op(name="_laid")
def constrain(x: Any, /, where: Any) -> Any:
    """Return a tensor that lies in a given way, in a program."""
    return jax.lax.with_sharding_constraint(x, where)


def lay(tensor: Tensor, where: jax.sharding.NamedSharding) -> None:
    """Lay a parameter or a state in a given way, such as that from before an update."""
    if not state.interpreter.at_once:
        with no_grad():
            tensor._set_payload(payload_of(constrain(tensor, where)))
    elif getattr(tensor._payload, "sharding", None) != where:  # NumPy may have computed it
        tensor._set_payload(laid_over(tensor._payload, where))


def placed_like(name: str, is_cached: bool = False) -> Callable[[Function], Function]:
    """Let the results of a function lie over a mesh as its first argument does.

    Arguments:
        name: the name of that argument.
        is_cached: whether the ops of its calls are cached, which do not know how tensors lie.
    """

    def placing(function: Function) -> Function:
        inner = call_cached(name)(function) if is_cached else function

        @functools.wraps(inner)
        def call(*args: Any, **kwargs: Any) -> Any:
            made = inner(*args, **kwargs)
            like = (args[0] if args else kwargs.get(name, made)) if meshes else made
            return with_sharding_of(made, like) if isinstance(like, Tensor) else made

        return call

    return placing
