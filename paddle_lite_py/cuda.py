"""The names of paddle.cuda: those of paddle.device.cuda, and the device in use."""

from types import SimpleNamespace
from typing import Any

from . import device as devices
from .amp import GradScaler, auto_cast
from .core.place import as_place, get_device
from .device import (
    StreamContext,
    get_rng_state,
    ipc_collect,
    is_bf16_supported,
    manual_seed,
    reset_peak_memory_stats,
    set_device,
    set_rng_state,
    set_stream,
)
from .device.cuda import *  # noqa: F403
from .device.cuda import device_count, is_available  # noqa: F401
from .framework import core
from .migrate.legacy import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)

manual_seed_all = manual_seed


def current_device() -> int:
    """Return the index of the device in use; 0 on the CPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cuda.current_device()
        0
    """
    return int(get_device().partition(":")[2] or 0)


def is_initialized() -> bool:
    """True: XLA has started its devices.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cuda.is_initialized()
        True
    """
    return True


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Bytes of memory that are free, and that there are; (0, 0) where the device does not say, as on the CPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cuda.mem_get_info("cpu")
        (0, 0)
    """
    found = as_place(device or get_device()).device.memory_stats() or {}
    limit = found.get("bytes_limit", 0)
    return limit - found.get("bytes_in_use", 0), limit


device = devices.device
stream = devices.stream_guard  # type: ignore[assignment]  # a module of paddle.device


def _autocast(enabled: bool = True, dtype: Any = "float16", cache_enabled: bool = True) -> Any:
    """auto_cast(enabled, dtype=dtype), of paddle.amp."""
    return auto_cast(enabled, dtype=dtype)


class amp:  # noqa: N801  (a module elsewhere)
    """The contents of torch.cuda.amp.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.cuda.amp.autocast(dtype="bfloat16"):
        ...     paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2])).dtype
        paddle.bfloat16
    """

    autocast = staticmethod(_autocast)
    autocast_mode = SimpleNamespace(autocast=_autocast)
    GradScaler = GradScaler
    grad_scaler = SimpleNamespace(GradScaler=GradScaler)


class nvtx:  # noqa: N801  (a module elsewhere)
    """Ranges of NVIDIA's profiler: a no-op, since `paddle.profiler.RecordEvent` marks those of XLA."""

    range_push = range_pop = staticmethod(core.nvprof_nvtx_push)


is_current_stream_capturing = devices.is_current_stream_capturing
__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "StreamContext",
    "current_device",
    "device",
    "get_rng_state",
    "ipc_collect",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "mem_get_info",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state",
    "set_stream",
]
