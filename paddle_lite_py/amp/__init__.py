"""Mixed precision: low-precision compute where it is safe, and scaling of the loss where it needs it."""

from ..core.argument_docs import document as _document
from . import debugging
from .auto_cast import (
    amp_decorate,
    amp_guard,
    auto_cast,
    autocast,
    black_list,
    decorate,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_enabled,
    is_bfloat16_supported,
    is_float16_supported,
    white_list,
)
from .grad_scaler import AmpScaler, GradScaler, OptimizerState

__all__ = [
    *("AmpScaler", "GradScaler", "OptimizerState", "amp_decorate", "amp_guard", "auto_cast", "autocast", "black_list"),
    *("debugging", "decorate", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype"),
    *("is_autocast_enabled", "is_bfloat16_supported", "is_float16_supported", "white_list"),
]

_document(globals())
