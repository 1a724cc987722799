"""Scaling of losses by processes that have different gradients."""

from __future__ import annotations

from typing import Any, TypeVar

from ..core.interpreter import no_grad
from .group import Group, ReduceOp
from .programs import exchanged

S = TypeVar("S")


def agreed(scaler: S, group: Group) -> S:
    """Return the scaler, which takes a step for infinite where any process of a group has found that."""
    inner: Any = scaler
    unscaled = inner._unscaled

    def of_all(optimizer: Any) -> Any:
        found = unscaled(optimizer)
        with no_grad():
            worst = exchanged("all_reduce", [found.astype("int32").reshape([1])], group, ReduceOp.MAX)[0]
            return worst.astype("bool").reshape(found.shape)

    if group.nranks > 1:
        inner._unscaled = of_all
    return scaler
