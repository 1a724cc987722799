"""CUDA devices: on a machine without a GPU, the functions describe its default device."""

from __future__ import annotations

from ..core.argument_docs import document as _document
from . import memory, properties, stream

Event, Stream, current_stream = stream.Event, stream.Stream, stream.current_stream
stream_guard, synchronize = stream.stream_guard, stream.synchronize
empty_cache, memory_summary, vmm_compact = memory.empty_cache, memory.memory_summary, memory.vmm_compact
memory_allocated, max_memory_allocated = memory.memory_allocated, memory.max_memory_allocated
memory_reserved, max_memory_reserved = memory.memory_reserved, memory.max_memory_reserved
reset_max_memory_allocated = reset_max_memory_reserved = memory.reset_peak_memory_stats
get_device_capability, get_device_name = properties.get_device_capability, properties.get_device_name
get_device_properties = properties.get_device_properties


def device_count() -> int:
    """Return the number of GPUs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.cuda.device_count() >= 0
        True
    """
    return properties.device_count("gpu")


def is_available() -> bool:
    """Return whether there is a GPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.cuda.is_available() == (paddle.device.cuda.device_count() > 0)
        True
    """
    return device_count() > 0


_document(globals())
