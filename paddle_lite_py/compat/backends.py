"""What torch.backends tells and sets: there are no such backends here, since XLA chooses its kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.argument_docs import document as _document

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "quantized"]


class _Backend:
    """A backend that is not there, whose settings can be set and read."""

    _name: str

    def __init__(self, name: str, **settings: Any) -> None:
        self.__dict__.update(_name=name, **settings)

    def is_available(self) -> bool:
        """Return False."""
        return False

    is_built = is_macos13_or_newer = is_available

    def version(self) -> None:
        """Return None: there is no such library."""

    @contextmanager
    def flags(self, *_settings: Any, **_named: Any) -> Iterator[None]:
        """Set nothing for a block."""
        yield

    sdp_kernel = flags

    def _set(self, *_settings: Any, **_named: Any) -> None:
        """Set nothing."""

    enable_flash_sdp = enable_math_sdp = enable_mem_efficient_sdp = enable_cudnn_sdp = _set
    preferred_linalg_library = preferred_blas_library = preferred_sdp_backend = set_flags = _set

    flash_sdp_enabled = mem_efficient_sdp_enabled = cudnn_sdp_enabled = is_available

    def math_sdp_enabled(self) -> bool:
        """Return True: attention is computed by its definition, or as XLA chooses."""
        return True

    def __repr__(self) -> str:
        return f"<torch.backends.{self._name}, which is not here>"


_MATMUL = {"allow_tf32": False, "allow_fp16_reduced_precision_reduction": False, "fp32_precision": "ieee"}
_MATMUL |= {"allow_bf16_reduced_precision_reduction": False}
cuda = _Backend("cuda", matmul=_Backend("cuda.matmul", **_MATMUL), cufft_plan_cache=_Backend("cuda.cufft_plan_cache"))
cudnn = _Backend("cudnn", enabled=False, benchmark=False, deterministic=False, allow_tf32=False, benchmark_limit=10)
mps, mkl, openmp = _Backend("mps"), _Backend("mkl"), _Backend("openmp")
cpu, mha, quantized = _Backend("cpu"), _Backend("mha"), _Backend("quantized", engine="none", supported_engines=["none"])
mkldnn = _Backend("mkldnn", enabled=False, deterministic=False, allow_tf32=False)

_document(globals())
