"""The CPU as a device whose programs run on the thread that calls them.

Elsewhere XLA hands a program to a thread of its own, so that Python goes on in the meantime. Who waits for each result,
as a predictor does, gets it sooner without: two changes of threads take as long as a small network.
"""

from __future__ import annotations

from typing import Any

import jax

from ..core.jax_compat.xla import synchronous_cpu
from ..core.memo import once


def inline_device() -> Any:
    """Return the device; None where arrays are not those of one CPU."""
    is_one_cpu = jax.default_backend() == "cpu" and jax.local_device_count() == 1 == jax.process_count()
    return _device() if is_one_cpu else None


@once
def _device() -> Any:
    return synchronous_cpu()


def spec_on(device: Any, spec: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
    """Return a spec of an array that lies on a device."""
    place = jax.sharding.SingleDeviceSharding(device)
    return jax.ShapeDtypeStruct(spec.shape, spec.dtype, weak_type=spec.weak_type, sharding=place)
