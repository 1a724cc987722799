"""Names of PaddlePaddle's compiled core that programs use. There is none here: XLA is the core."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..core.arrays import as_array
from ..core.dtypes import as_dtype
from ..core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, Place
from ..eager.random import default_generator as default_cpu_generator
from ..eager.tensor import Tensor, wrap

LoDTensor = DenseTensor = Tensor
__all__ = ["CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "Place", "default_cpu_generator"]


def is_compiled_with_cuda() -> bool:
    """Return whether JAX found a CUDA device."""
    return any(d.platform == "gpu" for d in jax.local_devices())


def is_compiled_with_xpu() -> bool:
    """Return False: XPUs are not supported."""
    return False


is_compiled_with_rocm = is_compiled_with_npu = is_compiled_with_ipu = is_compiled_with_cinn = is_compiled_with_xpu


def nvprof_nvtx_push(name: str) -> None:
    """Do nothing; use paddle.profiler.RecordEvent to mark ranges in profiles."""


class DeviceContext:
    """The context of a device, of which programs create one before they compute there; XLA needs none."""

    def __init__(self, place: Any = None) -> None:
        self.place = place

    @classmethod
    def create(cls, place: Any) -> DeviceContext:
        """Create the context of a place."""
        return cls(place)


def _do_nothing(*args: Any, **kwargs: Any) -> None:
    """Nothing, where PaddlePaddle switches a part of its core that XLA does not have."""


nvprof_nvtx_pop = nvprof_start = nvprof_stop = nvprof_enable_record_event = _do_nothing
_set_prim_all_enabled = set_prim_eager_enabled = _do_nothing


def frombuffer(buffer: Any, dtype: Any, count: int = -1, offset: int = 0) -> Tensor:
    """Create a tensor from the bytes of a buffer, which are copied.

    Arguments:
        buffer: bytes, or an object with the buffer protocol.
        dtype: dtype of the elements.
        count: number of elements; -1: all. Default: -1.
        offset: number of bytes before the first element. Default: 0.

    Returns:
        A 1-D tensor.

    Examples:
        >>> frombuffer(bytes([1, 0, 2, 0]), "int16").tolist()
        [1, 2]
    """
    return wrap(as_array(np.frombuffer(buffer, as_dtype(dtype).np, count, offset)))
