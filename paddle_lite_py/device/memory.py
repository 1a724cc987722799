"""Device memory: in bytes, as XLA reports it; a CPU reports none."""

from __future__ import annotations

import gc
from typing import Any

from ..core.memory import give_back
from ..core.no_effect import Immaterial, no_effect
from .properties import as_device


def _stat(device: Any, *names: str) -> int:
    stats = as_device(device).memory_stats() or {}
    return next((int(stats[n]) for n in names if n in stats), 0)


def memory_allocated(device: Any = None) -> int:
    """Return the bytes in use by arrays; 0 if the device does not report it.

    Arguments:
        device: the device; None: the current one.

    Returns:
        An integer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.memory_allocated() >= 0
        True
    """
    return _stat(device, "bytes_in_use")


def max_memory_allocated(device: Any = None) -> int:
    """Return the peak of the bytes in use by arrays.

    Arguments:
        device: the device; None: the current one.

    Returns:
        An integer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.max_memory_allocated() >= 0
        True
    """
    return _stat(device, "peak_bytes_in_use", "bytes_in_use")


def memory_reserved(device: Any = None) -> int:
    """Return the bytes that XLA has reserved on the device.

    Arguments:
        device: the device; None: the current one.

    Returns:
        An integer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.memory_reserved() >= 0
        True
    """
    return _stat(device, "pool_bytes", "bytes_reserved", "bytes_in_use")


def max_memory_reserved(device: Any = None) -> int:
    """Return the peak of the bytes that XLA has reserved on the device.

    Arguments:
        device: the device; None: the current one.

    Returns:
        An integer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.max_memory_reserved() >= 0
        True
    """
    return _stat(device, "peak_pool_bytes", "peak_bytes_reserved", "peak_bytes_in_use")


@no_effect("XLA counts its peaks from the start of the process")
def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing, with a warning: XLA counts peaks from the start of the process.

    Examples:
        >>> import warnings
        >>> import paddle_lite_py as paddle
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     paddle.device.reset_max_memory_allocated()
    """


reset_max_memory_allocated = reset_max_memory_reserved = reset_peak_memory_stats


def empty_cache() -> None:
    """Free unreachable arrays and return cached memory of the CPU; on other devices XLA keeps its pool.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.cuda.empty_cache()
    """
    gc.collect()
    give_back()


def ipc_collect() -> None:
    """Do nothing; no memory is shared between processes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.ipc_collect()
    """


@no_effect(device=Immaterial("XLA keeps its pool in order"))
def vmm_compact(device: Any = None) -> int:
    """Return 0: XLA manages its own pool.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.cuda.vmm_compact()
        0
    """
    return 0


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return XLA's memory statistics as text.

    Arguments:
        device: the device; None: the current one.
        abbreviated: only current and peak use. Default: False.

    Returns:
        A string.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.device.cuda.memory_summary(), str)
        True
    """
    found = as_device(device)
    stats = found.memory_stats() or {}
    if abbreviated:
        stats = {k: v for k, v in stats.items() if k in ("bytes_in_use", "peak_bytes_in_use")}
    return "\n".join([f"memory of {found.device_kind}:", *(f"  {k}: {v}" for k, v in sorted(stats.items()))])
