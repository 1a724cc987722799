"""The properties of a device."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax

from ..core.place import as_place, get_device


def as_device(device: Any = None) -> jax.Device:
    """Return the JAX device of a name, a place, an index of an accelerator, or None (the current device).

    Raises:
        ValueError: if there is no such device.
    """
    if isinstance(device, int):
        found = jax.local_devices()
        if not 0 <= device < len(found):
            raise ValueError(f"device {device} is not there; this machine has {len(found)}")
        return found[device]
    return as_place(get_device() if device is None else device).device


def is_compiled_with_cuda() -> bool:
    """Return whether JAX found a CUDA device.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.is_compiled_with_cuda() == (paddle.device.cuda.device_count() > 0)
        True
    """
    return any(d.platform == "gpu" for d in jax.local_devices())


def device_count(device_type: str | None = None) -> int:
    """Return the number of devices of a kind.

    Arguments:
        device_type: the kind, such as "gpu"; None: accelerators.

    Returns:
        An integer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.device_count("cpu") >= 1
        True
    """
    if device_type == "cpu":
        return len(jax.local_devices(backend="cpu"))
    return sum(d.platform == device_type if device_type else d.platform != "cpu" for d in jax.local_devices())


def get_available_device() -> list[str]:
    """Return the names of all devices.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "cpu" in paddle.device.get_available_device()
        True
    """
    accelerators = [f"{d.platform}:{d.id}" for d in jax.local_devices() if d.platform != "cpu"]
    return ["cpu", *accelerators]


class Properties(NamedTuple):
    """Properties of a device."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int


def get_device_name(device: Any = None) -> str:
    """Return the name of a device, as given by its manufacturer.

    Arguments:
        device: the device; None: the current one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.device.get_device_name(), str)
        True
    """
    return as_device(device).device_kind


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return the CUDA compute capability of a device, a pair of integers; (0, 0) if it is not a GPU.

    Arguments:
        device: the device; None: the current one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> len(paddle.device.get_device_capability())
        2
    """
    major, _, minor = str(getattr(as_device(device), "compute_capability", "0.0")).partition(".")
    return int(major or 0), int(minor or 0)


def get_device_properties(device: Any = None) -> Properties:
    """Return the properties of a device: name, compute capability, memory in bytes, number of multiprocessors.

    Properties that the device does not report are 0.

    Arguments:
        device: the device; None: the current one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.get_device_properties().total_memory >= 0
        True
    """
    found = as_device(device)
    stats = found.memory_stats() or {}
    cores = int(getattr(found, "core_count", 0) or 0)
    return Properties(found.device_kind, *get_device_capability(device), int(stats.get("bytes_limit", 0)), cores)
