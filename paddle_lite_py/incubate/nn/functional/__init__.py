"""Functions that are one op: XLA fuses what they are made of."""

from .fused import (
    fused_bias_act,
    fused_bias_dropout_residual_layer_norm,
    fused_dropout_add,
    fused_layer_norm,
    fused_linear,
    fused_linear_activation,
    fused_matmul_bias,
    fused_rms_norm,
    fused_rms_norm_ext,
    swiglu,
)
from .quantized import fp8_quant_blockwise, fused_stack_transpose_quant
from .rotary import fused_rotary_position_embedding

__all__ = [
    "fp8_quant_blockwise",
    "fused_bias_act",
    "fused_bias_dropout_residual_layer_norm",
    "fused_dropout_add",
    "fused_layer_norm",
    "fused_linear",
    "fused_linear_activation",
    "fused_matmul_bias",
    "fused_rms_norm",
    "fused_rms_norm_ext",
    "fused_rotary_position_embedding",
    "fused_stack_transpose_quant",
    "swiglu",
]
