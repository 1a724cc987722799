"""Functions that are one op: XLA fuses what they are made of."""

from ....core.argument_docs import document as _document
from .decoding import masked_multihead_attention, variable_length_memory_efficient_attention
from .fused import (
    fast_ln,
    fast_rms_norm,
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
from .transformer import fused_feedforward, fused_multi_head_attention, fused_multi_transformer

__all__ = [
    "fast_ln",
    "fast_rms_norm",
    "fused_feedforward",
    "fused_multi_head_attention",
    "fused_multi_transformer",
    "masked_multihead_attention",
    "variable_length_memory_efficient_attention",
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

_document(globals())
