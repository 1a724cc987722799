"""Exchanges inside of static functions: part of the one program, which then runs over the devices of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax

from ..core.interpreter import state
from ..dispatch.define import op
from ..eager.execute import EAGER
from ..eager.tensor import Tensor, wrap
from ..registry.op import REGISTRY
from . import kernels
from .exchange import exchanges
from .group import Group, get_group


@op(name="_exchange", grad=False, effect=True)
def _exchange(xs: Sequence[Any], /, kind: str, group: int, size: int, how: Any = ()) -> Any:
    kernel = kernels.KERNELS[kind]
    try:
        lax.axis_size(kernels.AXIS)
    except NameError:  # one process traces: only shapes are asked for
        return _shapes_of(kernel, kind, size, xs, how)
    out = kernel(*map(lax.stop_gradient, xs), *how)  # gradients are those of the PyLayer around it
    return out if isinstance(out, tuple) else (out,)


def _shapes_of(kernel: Callable[..., Any], kind: str, size: int, xs: Sequence[Any], how: Any) -> Any:
    def all_of_them(*parts: Any) -> Any:
        out = kernel(*parts, *how)
        return out if isinstance(out, tuple) else (out,)

    alone = jax.vmap(all_of_them, in_axes=0, axis_name=kernels.AXIS)
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
    """What a process gets from an exchange (kernels.KERNELS) of some tensors among a group, in any mode."""
    if state.interpreter is EAGER:
        out = exchanges().run(group, kind, kernels.KERNELS[kind], how, *[t._data for t in tensors])
        return tuple(map(wrap, out)) if isinstance(out, tuple) else (wrap(out),)
    return REGISTRY["_exchange"].apply((list(tensors),), (kind, group.id, group.nranks, how))


class SpreadProgram:
    """A program that holds exchanges, run by all members of a group at once, each with arrays of its own.

    Arguments:
        fn: of arrays.
        operators: what it does.
        donate_argnums: arrays that it may write its results over.

    Raises:
        NotImplementedError: if it exchanges in more than one group.
    """

    def __init__(self, fn: Callable[..., Any], operators: Sequence[Any], donate_argnums: tuple[int, ...] = ()) -> None:
        groups = [get_group(o.bound.attrs[1]) for o in operators if o.bound.op.name == "_exchange"]
        self.group, self.fn, self.donated = groups[0], fn, donate_argnums
        if other := [g for g in groups if g.ranks != self.group.ranks]:
            raise NotImplementedError(
                f"{fn.__name__}: one program exchanges among the ranks {self.group.ranks} and {other[0].ranks}; keep "
                "it to one group, or the exchanges of others outside of the static function"
            )

    def __call__(self, *arrays: Any) -> Any:
        """The results of this process."""
        return exchanges().run(self.group, self.fn.__name__, self.fn, (), *arrays, donated=self.donated)

    def lower(self, *args: Any) -> Any:
        """What XLA would be given by one process alone, which is not this program."""
        raise NotImplementedError(
            f"{self.fn.__name__}: a program that exchanges values among {self.group.nranks} processes cannot be "
            "lowered or saved; save the model without the exchange"
        )


REGISTRY["_exchange"].across = SpreadProgram
