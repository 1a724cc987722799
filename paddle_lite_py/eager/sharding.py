"""How a new tensor lies over a mesh: as the one that it takes its shape from, or whose place it takes."""

from __future__ import annotations

from typing import Any

from ..core.arrays import is_array, is_spread, laid_over, meshes
from ..core.interpreter import state
from ..registry.op import REGISTRY
from .pending import payload_of


def with_sharding_of(made: Any, like: Any) -> Any:
    """Return a new tensor, laid over the mesh of another tensor of its shape; as it is where that lies over none.

    Where the other waits, or belongs to a program, XLA lays both alike.
    """
    if not (meshes and state.interpreter.has_placements):
        return made
    data, other = (made._payload, like._payload) if state.interpreter.at_once else (payload_of(made), payload_of(like))
    if tuple(data.shape) != tuple(other.shape) or (is_array(other) and not is_spread(other)):
        return made
    if is_array(data) and is_array(other):
        if is_spread(data) and data.sharding == other.sharding:
            return made
        out = made._twin()  # `made` may be a tensor of the user's
        out._payload = laid_over(data, other.sharding)
        return out
    if not all(isinstance(n, int) for n in data.shape):
        return made
    if is_spread(other):
        return state.interpreter.run(REGISTRY["_laid"].bind((other.sharding,)), (made,))
    return state.interpreter.run(REGISTRY["_with_sharding_of"].bind(()), (made, like.detach()))
