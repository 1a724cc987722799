"""The names of paddle.device.cuda; on a machine without a GPU they answer for its default device."""

from __future__ import annotations

from typing import Any

from .properties import device_count as _count

__all__ = [
    *("Event", "Stream", "current_stream", "device_count", "empty_cache", "get_device_capability"),
    *("get_device_name", "get_device_properties", "is_available", "max_memory_allocated", "max_memory_reserved"),
    *("memory_allocated", "memory_reserved", "memory_summary", "reset_max_memory_allocated"),
    *("reset_max_memory_reserved", "stream_guard", "synchronize", "vmm_compact"),
]


def device_count() -> int:
    """How many GPUs there are."""
    return _count("gpu")


def is_available() -> bool:
    """True if there is a GPU."""
    return device_count() > 0


def vmm_compact(*args: Any) -> None:
    """Nothing: XLA keeps its pool in order."""
