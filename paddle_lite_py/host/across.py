"""Compiled functions where several processes train: of arrays that lie in other processes alone, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from ..core.arrays import array_class, laid_over
from ..core.processes import blamed_process, compared_program, other_meshes


class AcrossProcesses:
    """A function of jax.jit that may be called with arrays of which this process has no part.

    JAX then computes shapes only, but fails on an array of this process without a clear error: so that is laid
    over the same devices, where it needs no memory.

    Arguments:
        jitted: the function.
    """

    def __init__(self, jitted: Callable[..., Any]) -> None:
        self._jitted = jitted
        self._array: Any = array_class()

    def __call__(self, *args: Any) -> Any:
        """Return the results."""
        for a in args if other_meshes else ():
            if a.__class__ is self._array and not (a.is_fully_addressable or a.sharding.has_addressable_devices):
                return self._jitted(*self._beside(a.sharding.mesh, args))
        if compared_program:
            compared_program[0](self._jitted, args)
        try:
            return self._jitted(*args)
        except (jax.errors.JaxRuntimeError, ValueError) as e:
            if "Gloo" in str(e) and blamed_process and (reason := blamed_process[0](args)):
                raise RuntimeError(reason) from e
            raise

    def _beside(self, mesh: jax.sharding.Mesh, args: Sequence[Any]) -> list[Any]:
        everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        return [laid_over(a, everywhere) if a.__class__ is self._array and _is_alone(a) else a for a in args]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jitted, name)


def _is_alone(array: jax.Array) -> bool:
    return isinstance(array.sharding, jax.sharding.SingleDeviceSharding)
