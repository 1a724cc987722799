"""Compiled programs as bytes, and what is not checked of those that are exported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jax import export
from jax.experimental import serialize_executable

# By which names programs call Python, and what XLA partitions a program by.
CALLBACKS = (
    *("xla_python_cpu_callback", "xla_ffi_python_cpu_callback", "xla_python_gpu_callback"),
    *("xla_ffi_python_gpu_callback", "CallbackTpu", "Sharding"),
)


def load(content: bytes, structures: tuple[Any, Any], device: Any = None) -> Any:
    """Return a compiled program from its bytes, with the structures of its arguments and results.

    Arguments:
        device: that it runs on; None: the default one.

    Raises:
        Exception: of any class, since jaxlib names none, for what another version has written.
    """
    place = {} if device is None else {"backend": device.client, "execution_devices": [device]}
    return serialize_executable.deserialize_and_load(content, *structures, **place)


def unchecked_calls(names: Iterable[str]) -> list[Any]:
    """Allow an exported program to call functions of these names, which must exist wherever it runs."""
    return [export.DisabledSafetyCheck.custom_call(name) for name in names]
