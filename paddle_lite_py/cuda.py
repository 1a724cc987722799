"""The names of paddle.cuda: those of paddle.device.cuda, and the device in use."""

from .device import get_rng_state, is_bf16_supported, manual_seed, set_device, set_rng_state
from .device.cuda import *  # noqa: F403
from .device.cuda import device_count, is_available  # noqa: F401
from .place import get_device

manual_seed_all = manual_seed


def current_device() -> int:
    """The index of the device in use; 0 on the CPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cuda.current_device()
        0
    """
    return int(get_device().partition(":")[2] or 0)


__all__ = ["current_device", "get_rng_state", "is_bf16_supported", "manual_seed", "manual_seed_all", "set_device",
           "set_rng_state"]  # fmt: skip
