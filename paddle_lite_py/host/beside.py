"""Arrays on the host beside those of an accelerator, which JAX refuses to compute with, or would compute with there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..core import place as places
from ..core.arrays import array_class


class OnOneDevice:
    """A function of jax.jit that may be called with arrays on the host and on an accelerator: those on the host move,
    as in the reference, so that a batch that was left there does not take the weights there.

    Arguments:
        jitted: the function.
    """

    def __init__(self, jitted: Callable[..., Any]) -> None:
        self._jitted = jitted

    def __call__(self, *args: Any) -> Any:
        """Return the results."""
        return self._jitted(*(on_one_device(args) if places.pinned else args))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jitted, name)


def on_one_device(args: Any) -> Any:
    """Return nested arguments; if any lies on an accelerator, those that were put on the host lie there too."""
    kind: Any = array_class()
    leaves, tree = jax.tree.flatten(args)
    pinned = {id(a) for a in leaves if a.__class__ is kind and a.committed and _is_on_host(a)}
    there = [a for a in leaves if a.__class__ is kind and _draws(a)] if pinned else None
    if not there:
        return args
    target = max(there, key=lambda a: a.committed).sharding
    if not isinstance(target, jax.sharding.SingleDeviceSharding):
        return args
    return jax.tree.unflatten(tree, [jax.device_put(a, target) if id(a) in pinned else a for a in leaves])


def _draws(array: jax.Array) -> bool:
    """Whether arrays on the host move to where this one is: not to a number, or to the state of random numbers."""
    return not _is_on_host(array) and (array.committed or (array.ndim > 0 and array.dtype != np.uint32))


def _is_on_host(array: jax.Array) -> bool:
    return not any(map(places.is_accelerator, array.devices()))
