"""What programs ask of the compiled core of PaddlePaddle by name. There is none here: XLA is the core."""

from __future__ import annotations

from typing import Any

import jax

from ..core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, Place
from ..eager.random import default_generator as default_cpu_generator
from ..eager.tensor import Tensor

LoDTensor = DenseTensor = Tensor
__all__ = ["CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "Place", "default_cpu_generator"]


def is_compiled_with_cuda() -> bool:
    """True if JAX found a CUDA device."""
    return any(d.platform == "gpu" for d in jax.local_devices())


def is_compiled_with_xpu() -> bool:
    """False: no such device is known here."""
    return False


is_compiled_with_rocm = is_compiled_with_npu = is_compiled_with_ipu = is_compiled_with_cinn = is_compiled_with_xpu


def nvprof_nvtx_push(name: str) -> None:
    """Nothing: `paddle.profiler.RecordEvent` marks ranges in profiles of XLA."""


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Nothing, where PaddlePaddle switches a part of its core that XLA does not have."""


nvprof_nvtx_pop = nvprof_start = nvprof_stop = nvprof_enable_record_event = _nothing
_set_prim_all_enabled = set_prim_eager_enabled = _nothing
