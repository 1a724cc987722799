"""Devices: which there are, which is current, how much memory they use, and waiting for them. Called, a device by name.

Arguments:
    type: "cpu", "gpu", "cuda", "tpu", "xpu", with an index or without; a place, or the index of a GPU.
    index: of the device, where the type has none.

Examples:
    >>> import paddle_lite_py as paddle
    >>> paddle.zeros([1], device=paddle.device("cpu")).place
    Place(cpu)
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax

from ..core.argument_docs import document as _document
from ..core.config import cpu_features
from ..core.no_effect import ONE_STREAM, no_effect
from ..core.place import Place, as_place, get_device, set_device
from ..eager.random import get_rng_state, seed
from ..eager.random import set_rng_state as _set_all
from ..eager.tensor import Tensor
from . import cuda, memory
from .memory import (
    ipc_collect,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    reset_peak_memory_stats,
)
from .named import CallableModule, Device, device_to_place, get_default_device, set_default_device
from .properties import (
    as_device,
    device_count,
    get_available_device,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_compiled_with_cuda,
)
from .stream import Event, Stream, StreamContext, current_stream, set_stream, stream_guard, synchronize

__all__ = [
    *("Device", "device_to_place", "get_default_device", "get_device_module", "set_default_device"),
    *("Event", "Stream", "StreamContext", "cuda", "current_stream", "device", "device_count", "device_guard"),
    *("get_all_custom_device_type", "get_all_device_type", "get_available_custom_device", "get_available_device"),
    *("get_cudnn_version", "get_device", "get_device_capability", "get_device_name", "get_device_properties"),
    *("get_rng_state", "ipc_collect", "is_available", "is_bf16_supported", "is_compiled_with_cinn"),
    *("is_compiled_with_cuda", "is_compiled_with_custom_device", "is_compiled_with_distribute"),
    *("is_compiled_with_ipu", "is_compiled_with_rocm", "is_compiled_with_xpu", "is_current_stream_capturing"),
    *("manual_seed", "max_memory_allocated", "max_memory_reserved", "memory", "memory_allocated", "memory_reserved"),
    *("reset_max_memory_allocated", "reset_max_memory_reserved", "reset_peak_memory_stats", "set_device"),
    *("set_rng_state", "set_stream", "stream_guard", "synchronize"),
]

manual_seed = manual_seed_all = seed


@no_effect(device=ONE_STREAM)
def set_rng_state(new_state: list[Tensor] | Tensor, device: Any = None) -> None:
    """Restore the state of the random generator.

    Arguments:
        new_state: a state that get_rng_state() returned.
        device: no effect: all devices share one random generator.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> state = paddle.device.get_rng_state(); a = paddle.rand([2])
        >>> paddle.device.set_rng_state(state); bool((paddle.rand([2]) == a).all())
        True
    """
    _set_all(new_state if isinstance(new_state, list) else [new_state])


def is_available() -> bool:
    """Return whether there is an accelerator.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.is_available() == any(name != "cpu" for name in paddle.device.get_all_device_type())
        True
    """
    return any(d.platform != "cpu" for d in jax.local_devices())


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the device supports bfloat16: True, since XLA computes in bfloat16 on every device.

    Arguments:
        including_emulation: False: only if the device has instructions for it. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.is_bf16_supported()
        True
    """
    if including_emulation:
        return True
    kind = as_device(None).platform
    if kind == "gpu":
        return get_device_capability()[0] >= 8
    return kind == "tpu" or "bf16" in cpu_features()


def get_cudnn_version() -> int | None:
    """Return None: XLA brings its own libraries and does not report their version.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.get_cudnn_version() is None
        True
    """
    return None


def _not_here() -> bool:
    """False: XLA compiles for CPU, CUDA and TPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.is_compiled_with_cinn()
        False
    """
    return False


is_compiled_with_xpu = is_compiled_with_rocm = is_compiled_with_ipu = is_compiled_with_cinn = _not_here
is_current_stream_capturing = _not_here


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Return whether JAX has devices of this kind besides CPU and GPU ("tpu").

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.is_compiled_with_custom_device("npu")
        False
    """
    return device_type in get_all_custom_device_type()


def is_compiled_with_distribute() -> bool:
    """Return True: programs may span several devices.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.is_compiled_with_distribute()
        True
    """
    return True


def get_all_device_type() -> list[str]:
    """Return the kinds of available devices, such as ["cpu", "gpu"].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "cpu" in paddle.device.get_all_device_type()
        True
    """
    return sorted({"cpu", *(d.platform for d in jax.local_devices())})


def get_all_custom_device_type() -> list[str]:
    """Return the kinds of available devices besides CPU and GPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "cpu" in paddle.device.get_all_custom_device_type()
        False
    """
    return [kind for kind in get_all_device_type() if kind not in ("cpu", "gpu")]


def get_available_custom_device() -> list[str]:
    """Return the available devices besides CPU and GPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "cpu" in paddle.device.get_available_custom_device()
        False
    """
    return [f"{d.platform}:{d.id}" for d in jax.local_devices() if d.platform not in ("cpu", "gpu")]


@contextmanager
def device_guard(device: Any = None) -> Iterator[Place]:
    """Context manager that makes a device current.

    Arguments:
        device: a device such as "cpu" or "gpu:0"; None: unchanged.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.device.device_guard("cpu"):
        ...     place = paddle.ones([1]).place
        >>> place
        Place(cpu)
    """
    before = getattr(jax.config, "jax_default_device", None)
    place = as_place(get_device() if device is None else device)
    jax.config.update("jax_default_device", place.device)
    try:
        yield place
    finally:
        jax.config.update("jax_default_device", before)


device = device_guard


def get_device_module(device: Any = None) -> types.ModuleType:
    """Return the module of a kind of device: paddle.cuda for GPUs, paddle.device for all others.

    Arguments:
        device: a device or its kind; None: the current device.

    Examples:
        >>> get_device_module("cpu").__name__.endswith("device")
        True
    """
    kind = Device(get_device() if device is None else device).type
    return importlib.import_module(f"{__package__.rpartition('.')[0]}.cuda" if kind in ("gpu", "cuda") else __package__)


_document(globals())
sys.modules[__name__].__class__ = CallableModule
