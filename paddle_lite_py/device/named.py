"""paddle.device("cpu"): a device by name, for `device=`; a `with` block makes it that of new tensors."""

from __future__ import annotations

import types
from typing import Any

import jax

from ..core.named_device import Device
from ..core.place import Place, as_place, get_device, of_device, set_device


class CallableModule(types.ModuleType):
    """The module paddle.device, which called makes a Device."""

    def __call__(self, type: Any = None, index: int | None = None) -> Device:
        """Return the device of that name."""
        return Device(type, index)


def get_default_device() -> Device:
    """Return the device of new tensors.

    Examples:
        >>> get_default_device().type in ("cpu", "cuda", "tpu")
        True
    """
    return Device(get_device().replace("gpu", "cuda"))


def set_default_device(device: Any) -> None:
    """Set the device of new tensors.

    Arguments:
        device: the device; None: the first device of JAX.

    Examples:
        >>> set_default_device("cpu")
    """
    set_device(of_device(jax.devices()[0]) if device is None else device)


def device_to_place(device: Any) -> Place:
    """Return the place of a device.

    Arguments:
        device: a device, such as "gpu:0".

    Examples:
        >>> device_to_place("cpu")
        Place(cpu)
    """
    return as_place(Device(device))
