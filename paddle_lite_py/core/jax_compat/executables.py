"""Compiled programs as bytes, and what is not checked of those that are exported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from jax import export, monitoring
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


# What JAX reports when it takes a compiled program from its cache on disk.
_FOUND = "/jax/compilation_cache/cache_hits"


@contextmanager
def programs_from_disk() -> Iterator[list[str]]:
    """Note in a list when JAX takes a program from its cache on disk; XLA writes such a program without its kernels."""
    found: list[str] = []

    def told(event: str, **_known: Any) -> None:
        if event == _FOUND:
            found.append(event)

    monitoring.register_event_listener(told)
    try:
        yield found
    finally:
        monitoring.unregister_event_listener(told)


def unchecked_calls(names: Iterable[str]) -> list[Any]:
    """Allow an exported program to call functions of these names, which must exist wherever it runs."""
    return [export.DisabledSafetyCheck.custom_call(name) for name in names]
